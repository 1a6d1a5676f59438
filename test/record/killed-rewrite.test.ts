import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { HarvestError } from '../../src/errors/index.ts'
import { createRecorder, tool } from '../../src/record/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { warmHarvest as harvest } from '../cli/harvest.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const value = 'Kq7fZr9Xv4Tn8WbQm2LsJ5hD'
let killed: string
beforeAll(() => {
  killed = join(temporaryFolder('killed'), 'recordings')
  const child = join(import.meta.dirname, 'killed-rewrite.child.ts')
  const { signal, stderr } = spawnSync(process.execPath, [child, join(killed, 'inbox')], { encoding: 'utf8' })
  expect({ signal, stderr: signal === 'SIGKILL' ? '' : stderr }).toEqual({ signal: 'SIGKILL', stderr: '' })
})

/** The folder as the killed process left it, with the half-written file in it. */
function left(): { readonly cwd: string; readonly inbox: string; readonly names: () => readonly string[] } {
  const cwd = temporaryFolder('left')
  const inbox = join(cwd, 'recordings/inbox')
  cpSync(killed, join(cwd, 'recordings'), { recursive: true, preserveTimestamps: true })
  const names = (): readonly string[] =>
    readdirSync(inbox)
      .filter((name) => name.includes('.tape.jsonl'))
      .map((name) => name.replace(/\.\d+\.[0-9a-f]{20}\.tmp$/, '.tmp'))
      .sort()
  expect(names()).toEqual(['.killed.tape.jsonl.tmp', 'killed.tape.jsonl'])
  return { cwd, inbox, names }
}

const half = (inbox: string): string => join(inbox, readdirSync(inbox).find((name) => name.endsWith('.tmp'))!)

describe('what a process left that was killed while it wrote its tape once more', () => {
  test('is removed with the tape', async () => {
    const { cwd, names } = left()
    const { code } = await harvest(['tapes', 'rm', 'killed', '--yes'], { cwd })
    expect([code, names()]).toEqual([0, []])
  })

  test('is named by check, also beside a tape, with the command that removes it', async () => {
    const { cwd, names } = left()
    for (const named of [[], ['recordings/inbox/killed.tape.jsonl']]) {
      const { code, stdout } = await harvest(['check', ...named], { cwd })
      expect(code).toBe(3)
      expect(stdout).toMatch(/^recordings\/inbox\/\.killed\.tape\.jsonl\..*\.tmp {2}A killed process left this file/m)
      expect(stdout).toContain('→ npx vitest-harvest tapes prune --dir recordings\n')
    }
    expect(names()).toHaveLength(2)
  })

  test('is removed by prune, which names it first when it is asked', async () => {
    const { cwd, names } = left()
    const dry = await harvest(['tapes', 'prune', '--dry-run'], { cwd })
    expect([dry.stdout, names().length]).toEqual([
      expect.stringMatching(/^would remove .*\.tmp {2}left by a killed/),
      2,
    ])
    const { code, stdout } = await harvest(['tapes', 'prune'], { cwd })
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^removed recordings\/inbox\/\.killed\..*left by a killed/),
    ])
    expect(names()).toEqual(['killed.tape.jsonl'])
  })

  test('is named to who looks for a text: it was not searched', async () => {
    const { cwd } = left()
    const says = expect.stringContaining('not searched: 1 file that killed processes left')
    const key = `2026:${Buffer.alloc(32, 7).toString('base64')}`
    for (const asked of ['--text', '--subject']) {
      const { code, stderr } = await harvest(['ls', asked, 'Ada'], { cwd, env: { HARVEST_SUBJECT_KEY: key } })
      expect([code, stderr], asked).toEqual([3, says])
    }
  })

  test('is removed by the next recorder in the folder, which leaves what a running process writes', async () => {
    const { inbox, names } = left()
    const running = half(inbox).replace(/\.killed(\.tape\.jsonl)\.\d+\./, `.next$1.${process.ppid}.`)
    writeFileSync(running, 'half')
    fs.utimesSync(running, 1, 1)
    await createRecorder({ dir: inbox }).run({ agent: 'next', id: 'after' }, async () => 1)
    expect(names()).toEqual(['.next.tape.jsonl.tmp', 'after.tape.jsonl', 'killed.tape.jsonl'])
  })

  test('is known when the next process has the id of the one that was killed, as in a container', async () => {
    const { inbox, names } = left()
    const old = half(inbox)
    const same = old.replace(/\.\d+\.([0-9a-f]{20})\.tmp$/, `.${process.pid}.$1.tmp`)
    renameSync(old, same)
    fs.utimesSync(same, 1, 1)
    await createRecorder({ dir: inbox }).run({ agent: 'next', id: 'after' }, async () => 1)
    expect(names()).toEqual(['after.tape.jsonl', 'killed.tape.jsonl'])
  })
})

test('what a process of another machine or container writes on the same volume is not taken for left, but for an hour without a write', async () => {
  const { inbox, names } = left()
  const ofAnother = half(inbox).replace(/[0-9a-f]{8}\.tmp$/, '00000000.tmp')
  renameSync(half(inbox), ofAnother)
  const record = (id: string) => createRecorder({ dir: inbox }).run({ agent: 'next', id }, async () => 1)
  const minutesAgo = (minutes: number): void => {
    const time = Date.now() / 1000 - 60 * minutes
    fs.utimesSync(ofAnother, time, time)
  }
  minutesAgo(55)
  await record('after')
  expect(names()).toEqual(['.killed.tape.jsonl.tmp', 'after.tape.jsonl', 'killed.tape.jsonl'])
  minutesAgo(65)
  await record('later')
  expect(names()).toEqual(['after.tape.jsonl', 'killed.tape.jsonl', 'later.tape.jsonl'])
})

/** Records a run in which a value gets its name late. @param meanwhile - just before it ends */
async function recordLate(
  secret: string,
  meanwhile: (file: string) => void = () => undefined,
): Promise<{ readonly cwd: string; readonly file: string; readonly warned: readonly HarvestError[] }> {
  const cwd = temporaryFolder('late')
  const file = join(cwd, 'recordings/inbox/late.tape.jsonl')
  const warned: HarvestError[] = []
  const recorder = createRecorder({ dir: join(cwd, 'recordings/inbox'), onWarning: (error) => warned.push(error) })
  await recorder.run({ agent: 'desk', id: 'late' }, async () => {
    await tool('create', async () => ({ id: secret }))()
    await tool('look', async () => ({ password: secret }))()
    meanwhile(file)
  })
  return { cwd, file, warned }
}

const text = (tape: Tape): string => JSON.stringify(tape)

test('check says of a tape that could not be written once more that a secret may stand on it, and how to remove it', async () => {
  const original = fs.renameSync
  const { cwd, file, warned } = await recordLate(value, () => {
    fs.renameSync = () => {
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
    }
    syncBuiltinESMExports()
  }).finally(() => {
    fs.renameSync = original
    syncBuiltinESMExports()
  })
  expect(readFileSync(file, 'utf8')).toContain(value)
  expect(warned.map(({ code }) => code)).toEqual(['HARVEST_RECORDING_FAILED'])
  const { code, stdout } = await harvest(['check', 'recordings/inbox/late.tape.jsonl'], { cwd })
  expect(code).toBe(3)
  expect(stdout).toContain('A secret may stand in clear on the tape: it could not be written once more')
  expect(stdout).toContain('→ to remove it: npx vitest-harvest tapes rm recordings/inbox/late.tape.jsonl')
  const removed = await harvest(['tapes', 'rm', 'recordings/inbox/late.tape.jsonl', '--yes'], { cwd })
  expect([removed.code, existsSync(file)]).toEqual([0, false])
})

test('a value with half a pair of surrogates that gets its name late is on no tape', async () => {
  const { file, warned } = await recordLate('tr33\ud83dhouse')
  const tape = readTape(file)
  expect(warned).toEqual([])
  expect(tape.close?.incomplete).toBeUndefined()
  expect(text(tape)).not.toContain('tr33')
})

test.each([
  [
    'removed',
    (file: string) => rmSync(join(file, '..'), { recursive: true }),
    'The tape was removed during the recording',
  ],
  ['moved', (file: string) => renameSync(file, `${file}.old`), 'the tape has another name by now'],
])(
  'a tape that is %s during a run with such a value is told as that, and not as a case without its tape',
  async (_, act, says) => {
    const { warned } = await recordLate(value, act)
    expect(warned.map(({ message }) => message)).toEqual([expect.stringContaining(says)])
    expect(warned[0]!.message).not.toContain('case')
  },
)
