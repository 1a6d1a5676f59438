import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { openTemporaryFolder, temporaryFolderName } from '../../src/tape/temporary-folder.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

afterEach(() => vi.unstubAllEnvs())

test('a folder that a killed process left is removed; those of processes that run, of other machines and of others stay', () => {
  const root = temporaryFolder('temporary')
  vi.stubEnv('TMPDIR', root)
  const { pid } = spawnSync(process.execPath, ['-e', ''])
  const own = openTemporaryFolder('jobs')
  expect([basename(own).startsWith('harvest-jobs.'), statSync(own).mode & 0o777]).toEqual([true, 0o700])
  const of = (id: number): string => temporaryFolderName('fix').replace(`.${process.pid}.`, `.${id}.`)
  const gone = of(pid)
  const stay = [of(process.ppid), of(process.pid), gone.replace(/[\da-f]{8}\.tmp$/, '00000000.tmp'), `x${gone}`]
  for (const name of [gone, ...stay]) {
    mkdirSync(join(root, name))
    writeFileSync(join(root, name, 'a.tape.jsonl'), '')
    utimesSync(join(root, name), 2, 2)
  }
  const next = openTemporaryFolder('fix')
  expect(readdirSync(root).toSorted()).toEqual([basename(own), basename(next), ...stay].toSorted())
  rmSync(own, { recursive: true })
})
