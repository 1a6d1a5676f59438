import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createRecorder, mark, type RecorderOptions, tool } from '../../src/record/index.ts'
import { replayTape, verdictOf } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { type Model, startModel } from './model.ts'

// An agent that is an async generator has done nothing when it is handed on: its run is its iteration.
let model: Model
beforeAll(async () => {
  model = await startModel()
})
afterAll(() => model.close())

function recording(options: Partial<RecorderOptions> = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-yields-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const recorder = createRecorder({ dir, ...options })
  const run = <T>(fn: () => T): T => recorder.run({ agent: 'chat', id: 'chat' }, fn)
  const tape = (): Tape => readTape(join(dir, readdirSync(dir)[0] ?? ''))
  return { run, tape, isClosed: () => tape().close !== undefined }
}

const lookup = tool('lookup', async (id: string) => ({ id }))

/** Takes one step per piece. */
async function* chat(order = 'A-1'): AsyncGenerator<string, string> {
  yield await model.ask()
  yield JSON.stringify(await lookup(order))
  yield await model.ask()
  return 'done'
}

const kinds = ({ events }: Tape): readonly string[] => events.map(({ kind }) => kind).filter((kind) => kind !== 'draws')

async function verdictOn(tape: Tape, agent: () => unknown) {
  const result = await replayTape(tape, agent)
  return { ...result, verdict: verdictOf(result).verdict }
}

test('the run goes on while the generator is read, and the tape holds what it yielded', async () => {
  const { run, tape, isClosed } = recording()
  const pieces = run(() => chat())
  expect(isClosed()).toBe(false)
  const read: string[] = []
  for await (const piece of pieces) read.push(piece)
  expect(kinds(tape())).toEqual(['exchange', 'tool', 'exchange'])
  expect(tape().close?.outcome).toEqual({ status: 'returned', value: { yielded: read, returned: 'done' } })
})

test('a replay reads it, and tells another step or another piece', async () => {
  const { run, tape } = recording()
  for await (const _ of await run(async () => chat()));
  expect(await verdictOn(tape(), () => chat())).toMatchObject({ verdict: 'same', problems: [], unused: [] })
  expect(await verdictOn(tape(), () => chat('B-2'))).toMatchObject({ verdict: 'different' })
  const shouting = async function* () {
    for await (const piece of chat()) yield piece.toUpperCase()
    return 'done'
  }
  expect(await verdictOn(tape(), shouting)).toMatchObject({ verdict: 'different' })
})

test('what its reader left is read as far in a replay', async () => {
  const { run, tape } = recording()
  let pieces = 0
  for await (const _ of run(() => chat())) if (++pieces === 2) break
  expect(kinds(tape())).toEqual(['exchange', 'tool'])
  expect(tape().close?.outcome).toMatchObject({ value: { stopped: true } })
  expect(await verdictOn(tape(), () => chat())).toMatchObject({ verdict: 'same', problems: [] })
  const short = async function* () {
    yield await model.ask()
    await lookup('A-1')
  }
  expect(await verdictOn(tape(), short)).toMatchObject({ verdict: 'different' })
})

test('what it throws is the outcome of the run', async () => {
  const { run, tape } = recording()
  const failing = async function* () {
    yield await model.ask()
    throw new RangeError('no more')
  }
  const read = async () => {
    for await (const _ of run(failing));
  }
  await expect(read()).rejects.toThrow('no more')
  expect(tape().close?.outcome).toMatchObject({ status: 'threw' })
  expect(await verdictOn(tape(), failing)).toMatchObject({ verdict: 'same' })
})

test('what it yields beyond the cap of bodies is read and not kept, and the tape says so', async () => {
  const { run, tape } = recording({ bodies: { maxMegabytes: 0.001 } })
  const long = async function* () {
    for (let n = 0; n < 4; n++) yield { text: 'x'.repeat(400) }
  }
  let pieces = 0
  for await (const _ of run(long)) pieces++
  expect(pieces).toBe(4)
  expect(tape().close).toMatchObject({
    outcome: { value: { yielded: [] } },
    unrecorded: ['what the agent yielded, more than 0.001 MB'],
  })
})

test('where an action stands among the pieces is not compared, which is said, and the place of a mark is', async () => {
  const refund = tool('refund', async (id: string) => ({ id }))
  const asking = (isEarly: boolean, hasMark: boolean) =>
    async function* () {
      if (isEarly) await refund('A-1')
      yield 'may I?'
      if (hasMark) mark('approved')
      if (!isEarly) await refund('A-1')
      yield 'done'
    }
  const { run, tape } = recording()
  for await (const _ of run(() => asking(false, false)()));
  const unsaid = { kind: 'order of steps', path: 'what the agent yields' }
  for (const isEarly of [false, true])
    expect(await verdictOn(tape(), asking(isEarly, false))).toMatchObject({ verdict: 'same', notCompared: [unsaid] })
  const marked = recording()
  for await (const _ of marked.run(() => asking(false, true)()));
  expect(await verdictOn(marked.tape(), asking(true, true))).toMatchObject({ verdict: 'different' })
  expect(await verdictOn(marked.tape(), asking(false, true))).toMatchObject({ verdict: 'same' })
})

test('of an async generator that asks a model alone, nothing is said to be not compared', async () => {
  const talking = async function* () {
    yield await model.ask()
  }
  const { run, tape } = recording()
  for await (const _ of run(() => talking()));
  expect(await verdictOn(tape(), () => talking())).toMatchObject({ verdict: 'same', notCompared: [] })
})
