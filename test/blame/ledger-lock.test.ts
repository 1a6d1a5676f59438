import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { lockLedger } from '../../src/blame/ledger-lock.ts'
import { temporaryFor } from '../../src/tape/new-file.ts'

function ledger(): string {
  const folder = mkdtempSync(join(tmpdir(), 'harvest-lock-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'blame.jsonl')
}

/** The lock of another process. */
function lockOf(file: string, pid: number): string {
  const own = temporaryFor(join(file, '../blame.lock'))
  return join(file, '..', basename(own).replace(`.${process.pid}.`, `.${pid}.`))
}

test('a ledger is locked by one session at a time, and nothing stays of it', () => {
  const file = ledger()
  for (const _ of [1, 2]) {
    using _lock = lockLedger(file)
    expect(() => lockLedger(file)).toThrow(
      expect.objectContaining({
        code: 'HARVEST_BLAME_RUNNING',
        facts: expect.objectContaining({
          where: { process: `${process.pid}`, since: expect.stringMatching(/^20\d\d-/) as string, file },
        }) as object,
      }) as Error,
    )
    expect(readdirSync(join(file, '..'))).toHaveLength(1)
  }
  expect(readdirSync(join(file, '..'))).toEqual([])
})

test('that of a process that is gone locks nothing, and is removed; that of one that runs is left', () => {
  const file = ledger()
  const gone = spawnSync(process.execPath, ['-e', '']).pid
  writeFileSync(lockOf(file, gone), '')
  lockLedger(file)[Symbol.dispose]()
  expect(readdirSync(join(file, '..'))).toEqual([])
  const runs = lockOf(file, process.ppid)
  writeFileSync(runs, '')
  expect(() => lockLedger(file)).toThrow(`→ if it is not running: rm ${runs}`)
  expect(readdirSync(join(file, '..'))).toEqual([basename(runs)])
})
