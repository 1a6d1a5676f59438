import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { here, printedPath } from '../../src/errors/here.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const before = process.cwd()
let folder: string

beforeEach(() => {
  folder = temporaryFolder('here')
  process.chdir(folder)
})
afterEach(() => process.chdir(before))

test('a path in the current folder is shown from there, any other whole, however it was typed', () => {
  const inside = join('recordings', 'inbox', 'a.tape.jsonl')
  expect([inside, `.${sep}${inside}`, resolve(inside)].map(here)).toEqual([inside, inside, inside])
  expect(['.', folder, join('a', '..')].map(here)).toEqual(['.', '.', '.'])
  const outside = join(folder, '..', 'other', 'a.tape.jsonl')
  expect([outside, join('..', 'other', 'a.tape.jsonl')].map(here)).toEqual([resolve(outside), resolve(outside)])
  expect(here('..')).toBe(resolve('..'))
})

test('a name that begins with two dots is inside', () => {
  expect(['..a', join('..a', 'b'), '...'].map(here)).toEqual(['..a', join('..a', 'b'), '...'])
})

test('what is printed of it takes one line', () => {
  expect(printedPath(`recordings${sep}a\u001b[31m\nb`)).not.toMatch(/[\u001b\n]/)
})

test('every command shows paths by this rule', () => {
  const cli = join(import.meta.dirname, '../../src/cli')
  const own = readdirSync(cli, { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      file.endsWith('.ts') && /\brelative\((?:'\.'|process\.cwd\(\))/.test(readFileSync(join(cli, file), 'utf8')),
  )
  expect(own).toEqual([])
})
