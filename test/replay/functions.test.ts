import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRecorder, retriever, tool, tools } from '../../src/record/index.ts'
import { installReplay, type ReplayOptions, type ReplayResult, replayTape, verdictOf } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'

beforeAll(() => installReplay())
const dir = mkdtempSync(join(tmpdir(), 'harvest-functions-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

type Agent = () => unknown
async function record(agent: Agent): Promise<Tape> {
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'a' }, async () => agent())
  return readTape(recorder.lastTape!)
}
const listed = ({ drift }: ReplayResult): readonly string[] =>
  drift.map(({ class: kind, stepNumber, part, policy }) => `${kind} ${stepNumber}: ${part}, ${policy}`)
const verdict = (run: ReplayResult): string => verdictOf(run).verdict

const eu = tools({ refund: async (id: number) => ({ id, to: 'eu' }) })
const us = tools({ refund: async (id: number) => ({ id, to: 'us' }) })
async function refundDry(id: number): Promise<unknown> {
  return { id, dry: true }
}
async function refundReal(id: number): Promise<unknown> {
  return { id, dry: false }
}
const ids = async (text: string): Promise<readonly string[]> => [text]
const keys = async (text: string): Promise<readonly string[]> => [text, text]

/** Each calls a wrapped function of one name, and then another one of it. */
const pairs: Readonly<Record<string, readonly [was: Agent, is: Agent, part: string]>> = {
  'another set of tools': [() => eu.refund(1), () => us.refund(1), 'function of tool refund'],
  'another function under a name': [
    () => tool('refund', refundDry)(1),
    () => tool('refund', refundReal)(1),
    'function of tool refund',
  ],
  'another retriever': [
    () => retriever('search', ids)('x'),
    () => retriever('search', keys)('x'),
    'function of retrieval search',
  ],
  'another body of a tool of the AI SDK': [
    () => tools({ pay: { inputSchema: {}, execute: async () => 'eu' } }).pay.execute(),
    () => tools({ pay: { inputSchema: {}, execute: async () => 'us' } }).pay.execute(),
    'function of tool pay',
  ],
}

describe('another function under the name of a wrapped one', () => {
  test.for(Object.entries(pairs))('is listed, and the verdict stays: %s', async ([, [was, is, part]]) => {
    const tape = await record(was)
    expect(listed(await replayTape(tape, was))).toEqual([])
    const run = await replayTape(tape, is)
    expect([verdict(run), listed(run)]).toEqual(['same', [`functions 1: ${part}, report`]])
    expect(verdictOf(run).notJudged).toMatchObject([{ class: 'functions', part, steps: [1] }])
  })

  test('is none where the same one is wrapped by another function, or written in another way', async () => {
    const ways: readonly Agent[] = [
      () => tools({ refund: async (id: number) => ({ id, to: 'eu' }) }).refund(1),
      () => tool('refund', async (id: number) => ({ id, to: 'eu' }))(1),
    ]
    const bodies: readonly Agent[] = [
      () =>
        tools({
          refund: async function (id: number) {
            return { id, to: 'eu' }
          },
        }).refund(1),
      () =>
        tools({
          async refund(id: number) {
            return { id, to: 'eu' }
          },
        }).refund(1),
    ]
    for (const alike of [ways, bodies])
      for (const was of alike) {
        const tape = await record(was)
        for (const is of alike) expect(listed(await replayTape(tape, is))).toEqual([])
      }
  })

  test('is named by its own name', async () => {
    const [was, is] = pairs['another function under a name']!
    const { drift } = await replayTape(await record(was), is)
    expect(drift[0]?.recorded).toMatch(/^refundDry \([\w.-]+\)$/)
    expect(drift[0]?.live).toMatch(/^refundReal \([\w.-]+\)$/)
  })

  test('is listed once for all calls of it, where the first one is', async () => {
    const agent = (set: typeof eu) => async () => [await eu.refund(1), await set.refund(2), await set.refund(3)]
    expect(listed(await replayTape(await record(agent(eu)), agent(us)))).toEqual([
      'functions 2: function of tool refund, report',
    ])
    const mixed = async (): Promise<unknown> => [await eu.refund(1), await us.refund(2)]
    const swapped = async (): Promise<unknown> => [await us.refund(1), await eu.refund(2)]
    const tape = await record(mixed)
    expect(listed(await replayTape(tape, mixed))).toEqual([])
    expect(listed(await replayTape(tape, swapped))).toHaveLength(2)
  })

  test('is known of a run that was held until it was judged, too', async () => {
    const recorder = createRecorder({ dir, sample: 0, keep: { tools: ['refund'] } })
    await recorder.run({ agent: 'a' }, async () => eu.refund(1))
    recorder.flush()
    const run = await replayTape(readTape(recorder.lastTape!), () => us.refund(1))
    expect(listed(run)).toEqual(['functions 1: function of tool refund, report'])
  })

  test('is judged as the policy of its class says, and no bit of an exact replay', async () => {
    const tape = await record(() => eu.refund(1))
    const run = (options: ReplayOptions): Promise<ReplayResult> => replayTape(tape, () => us.refund(1), options)
    expect(listed(await run({ drift: { functions: 'ignore' } }))).toEqual([])
    expect(verdict(await run({ drift: { functions: 'unproven' } }))).toBe('unproven')
    const red = await run({ drift: { functions: 'fail' } })
    expect(red.problems[0]?.message).toMatch(
      /^Another function than recorded is behind the agent's function of tool refund\n/,
    )
    expect((await run({ strict: true })).problems).toEqual([])
  })

  test('is not listed where it runs: its result is compared', async () => {
    const tape = await record(() => eu.refund(1))
    const run = await replayTape(tape, () => us.refund(1), { tools: 'run' })
    expect(listed(run)).toEqual(['results 1: refund, fail'])
    const same = async (id: number): Promise<unknown> => ({ to: 'eu', ...{ id } })
    expect(listed(await replayTape(tape, () => tool('refund', same)(1), { tools: 'run' }))).toEqual([])
  })

  test('is not looked for where an older recorder wrote no code, or the agent is another build', async () => {
    const tape = await record(() => eu.refund(1))
    const with_ = (change: (event: object) => object): Tape => ({
      ...tape,
      events: tape.events.map((event) => (event.kind === 'tool' ? change(event) : event)) as Tape['events'],
    })
    expect(tape.events.find(({ kind }) => kind === 'tool')).toMatchObject({
      code: ['refund', expect.stringMatching(/^[\w-]{8}\.[\w-]{8}$/)],
      site: expect.stringMatching(/functions\.test\.ts:/),
    })
    const older = with_(({ code: _, ...event }: { code?: unknown }) => event)
    expect(listed(await replayTape(older, () => us.refund(1)))).toEqual([])
    const built = with_((event) => ({ ...event, site: 'dist/agent.js:3:7' }))
    expect(listed(await replayTape(built, () => us.refund(1)))).toEqual([])
    const moved = with_((event) => ({ ...event, site: 'src/agent.ts:3:7' }))
    expect(listed(await replayTape(moved, () => us.refund(1)))).toHaveLength(1)
  })
})
