import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { hearUnkept, isOfSystem, keepIfPossible, requireRoom, writeKeptFile } from '../../src/tape/kept-files.ts'
import { appendKeptText } from '../../src/tape/links.ts'
import { failingAt, fs, restoreDisk } from '../recordings/failing-disk.ts'

afterEach(() => {
  restoreDisk()
  hearUnkept(undefined)
})

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'harvest-kept-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('a file that is kept is written whole or not at all, at whichever call the disk is full', () => {
  for (let n = 1; ; n++) {
    const file = join(scratch(), 'kept.json')
    writeFileSync(file, 'before')
    const { error, calls } = failingAt(n, 'before', () => writeKeptFile(file, 'after'))
    expect([readFileSync(file, 'utf8'), readdirSync(join(file, '..'))]).toEqual([
      error === undefined ? 'after' : 'before',
      ['kept.json'],
    ])
    if (calls < n) return
  }
})

test('half of a line that a full disk took is taken back', () => {
  const file = join(scratch(), 'kept.jsonl')
  appendKeptText(file, 'one\n')
  const append = fs['appendFileSync']!
  fs['appendFileSync'] = (path: unknown, text: unknown) => {
    append(path, String(text).slice(0, 1))
    throw Object.assign(new Error('no space left'), { code: 'ENOSPC', syscall: 'write' })
  }
  return import('node:module').then(({ syncBuiltinESMExports }) => {
    syncBuiltinESMExports()
    expect(() => appendKeptText(file, 'two\n')).toThrow('no space left')
    fs['appendFileSync'] = append
    syncBuiltinESMExports()
    appendKeptText(file, 'three\n')
    expect(readFileSync(file, 'utf8')).toBe('one\nthree\n')
  })
})

test('what cannot be kept is heard and not thrown; a mistake of ours is thrown', () => {
  const heard: string[] = []
  const full = (): never => {
    throw Object.assign(new Error('no space left'), { code: 'EDQUOT', syscall: 'write' })
  }
  expect(() => keepIfPossible('/kept', full)).toThrow('Runs cannot be kept for later sessions')
  hearUnkept(({ code, facts }) => heard.push(`${code} ${facts.where?.['system']}`))
  expect(keepIfPossible('/kept', full)).toBe(false)
  expect(keepIfPossible('/kept', () => undefined)).toBe(true)
  expect(heard).toEqual(['HARVEST_RECORDINGS_WRITE EDQUOT on write'])
  expect(() => keepIfPossible('/kept', () => writeFileSync('/kept', 1n as never))).toThrow(TypeError)
  expect(isOfSystem(new TypeError('x'))).toBe(false)
})

test('room is tried with as many bytes as are needed, and nothing of them stays', () => {
  const folder = join(scratch(), 'run')
  requireRoom(folder, 100_000)
  expect([readdirSync(folder), readdirSync(join(folder, '..')).sort()]).toEqual([[], ['.gitignore', 'run']])
  writeFileSync(`${folder}/file`, '')
  expect(() => requireRoom(`${folder}/file/run`, 1)).toThrow(/Cannot write a file of the recordings[^]*ENOTDIR/)
})
