import { AsyncResource } from 'node:async_hooks'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { bytesOfTurn } from '../../src/record/endings.ts'
import { createRecorder, type Recorder, tool } from '../../src/record/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const value = 'Kq7fZr9Xv4Tn8WbQm2LsJ5hD'
const padding = 'lorem ipsum dolor sit amet, '.repeat(700)
const lines = 60

/** Steps of which the last one names a value that stands in all before it; the tape has more than a megabyte. */
async function namesLate(): Promise<void> {
  for (let nth = 0; nth < lines; nth++) await tool('find', async (n: number) => ({ id: value, n, padding }))(nth)
  await tool('look', async () => ({ session: value }))()
}

interface Recording {
  readonly recorder: Recorder
  /** The tape closed last. */
  readonly tape: () => Tape
}

function recording(options: Parameters<typeof createRecorder>[0] = {}): Recording {
  const recorder = createRecorder({ dir: join(temporaryFolder('endings'), 'inbox'), ...options })
  return { recorder, tape: () => readTape(recorder.lastTape!) }
}

function expectClean(tape: Tape): void {
  expect(tape.close).toBeDefined()
  expect(tape.close?.incomplete).toBeUndefined()
  expect(tape.events).toHaveLength(lines + 1)
  expect(JSON.stringify(tape)).not.toContain(value)
}

/** Counts turns of the event loop, and what is written to half-written files in each, until the test is over. */
function countTurns(): { readonly written: readonly number[] } {
  const written = [0]
  const original = { open: fs.openSync, write: fs.writeSync }
  const again = new Set<number>()
  let isOn = true
  const next = (): void => {
    if (!isOn) return
    written.push(0)
    setImmediate(next)
  }
  setImmediate(next)
  fs.openSync = (path, ...rest) => {
    const file = original.open(path, ...rest)
    if (String(path).endsWith('.tmp')) again.add(file)
    return file
  }
  fs.writeSync = ((file: number, bytes: Buffer, ...rest: never[]) => {
    if (again.has(file)) written[written.length - 1]! += bytes.length
    return original.write(file, bytes, ...rest)
  }) as never
  syncBuiltinESMExports()
  onTestFinished(() => {
    isOn = false
    Object.assign(fs, { openSync: original.open, writeSync: original.write })
    syncBuiltinESMExports()
  })
  return { written }
}

test('a tape is written once more a part in each turn of the event loop, and whoever waits for the run has it whole', async () => {
  const { recorder, tape } = recording()
  let from = 0
  const { written } = countTurns()
  await recorder.run({ agent: 'desk' }, async () => {
    await namesLate()
    from = written.length
  })
  const turns = written.slice(from)
  const all = fs.statSync(recorder.lastTape!).size
  const longest = Math.max(
    ...fs
      .readFileSync(recorder.lastTape!, 'utf8')
      .split('\n')
      .map(({ length }) => length),
  )
  expectClean(tape())
  // It is looked through, and written: twice as many bytes.
  expect(turns.length).toBeGreaterThanOrEqual(Math.floor((2 * all) / (bytesOfTurn + longest)))
  expect(Math.max(...turns)).toBeLessThan(bytesOfTurn + 2 * longest)
  expect(Math.max(...turns)).toBeGreaterThan(0)
})

test.each<[string, (recorder: Recorder) => unknown]>([
  [
    'fails',
    (recorder) =>
      expect(
        recorder.run({ agent: 'desk' }, async () => {
          await namesLate()
          throw new Error('no')
        }),
      ).rejects.toThrow('no'),
  ],
  [
    'yields',
    async (recorder) => {
      const pieces = recorder.run({ agent: 'desk' }, async function* () {
        yield 1
        await namesLate()
      })
      for await (const _ of pieces);
    },
  ],
  [
    'answers with a body that is read',
    async (recorder) => {
      const pull = async (controller: ReadableStreamDefaultController): Promise<void> => {
        await namesLate()
        controller.close()
      }
      const answer = async (): Promise<Response> => new Response(new ReadableStream({ pull }, { highWaterMark: 0 }))
      await (await recorder.run({ agent: 'desk' }, answer)).text()
    },
  ],
  [
    'answers with a promise of its own class',
    (recorder) =>
      recorder.run({ agent: 'desk' }, () => new (class Own<T> extends Promise<T> {})((r) => r(namesLate()))),
  ],
])('when an agent %s, its tape is whole and without a value that got its name late', async (_, run) => {
  const { recorder, tape } = recording()
  await run(recorder)
  expectClean(tape())
  expect(recorder.stats).toMatchObject({ runs: 1, kept: 1, open: 0 })
})

test.each([
  ['is written as it goes', {}],
  ['is judged when it is over', { sample: 0, keep: { tools: ['look'] } }],
])(
  'a run that %s and is not ended yet is open, and flush ends it with what its agent did meanwhile',
  async (_, options) => {
    const warned: unknown[] = []
    const { recorder, tape } = recording({ ...options, onWarning: (error) => warned.push(error) })
    let [late, isOver] = [async (): Promise<unknown> => undefined, false]
    const running = recorder.run({ agent: 'desk' }, async () => {
      await namesLate()
      late = AsyncResource.bind(tool('late', async () => 1))
      isOver = true
    })
    while (!isOver) await new Promise(setImmediate)
    await late()
    expect([recorder.stats.open, recorder.lastTape]).toEqual([1, undefined])
    recorder.flush()
    expect(recorder.stats).toMatchObject({ runs: 1, kept: 1, open: 0 })
    expectClean(tape())
    await running
    expect(warned).toEqual([])
  },
)

test('when its process exits meanwhile, a tape is ended all the same', () => {
  const inbox = join(temporaryFolder('exits'), 'inbox')
  const child = join(import.meta.dirname, 'exits-while-ending.child.ts')
  const { status, stderr, stdout } = spawnSync(process.execPath, [child, inbox], { encoding: 'utf8' })
  expect([status, stderr, stdout]).toEqual([0, '', 'open: 1\n'])
  expect(fs.readdirSync(inbox)).toEqual(['exits.tape.jsonl'])
  const tape = readTape(join(inbox, 'exits.tape.jsonl'))
  expect(tape.close?.incomplete).toBeUndefined()
  expect(tape.close).toBeDefined()
  expect(JSON.stringify(tape)).not.toContain(value)
})
