import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startProviderHere } from '../../fixtures/provider/index.ts'
import {
  applyFaults,
  chaos,
  endingOf,
  type Fault,
  faultKinds,
  type FaultSchedule,
  possibleFaults,
  runChangesOf,
} from '../../src/faults/index.ts'
import { forkTape } from '../../src/fork/index.ts'
import { createRecorder } from '../../src/record/index.ts'
import { readTape, stepsOf, type Tape } from '../../src/tape/index.ts'
import { anthropicAgent, openaiAgent, type ShopInput } from './shop.ts'

const agents = {
  openai: (input: unknown) => openaiAgent(input as ShopInput),
  anthropic: (input: unknown) => anthropicAgent(input as ShopInput),
}
type Name = keyof typeof agents

const dir = mkdtempSync(join(tmpdir(), 'harvest-faults-'))
const tapes = {} as Record<Name, Tape>

// Recorded from a server that is gone before anything goes wrong: what is asked again is answered by the tape.
beforeAll(async () => {
  // An SDK prints what it could not read.
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const provider = await startProviderHere()
  const recorder = createRecorder({ dir })
  const input: ShopInput = { base: provider.base }
  for (const name of ['openai', 'anthropic'] as const) {
    await recorder.run({ agent: name, id: name, input }, () => agents[name](input))
    tapes[name] = readTape(recorder.lastTape ?? '')
  }
  await provider.close()
})
afterAll(() => {
  vi.restoreAllMocks()
  rmSync(dir, { recursive: true, force: true })
})

/** How a run with these faults ended, and how many steps it made. */
async function under(name: Name, schedule: FaultSchedule) {
  const tape = tapes[name]
  const changes = applyFaults(tape, schedule)
  const run = await forkTape(tape, agents[name], { keep: 0, changes, tail: { from: 'tape' } }, { hangMs: 1_000 })
  const ending = endingOf(run, schedule)
  return { class: ending.class, said: ending.said, steps: stepsOf(run).length }
}

const at1 = (kind: string, args: Fault['args'] = {}): Fault => ({ step: 1, kind, args })
const survived = { class: 'survived', steps: 5 }

/** What becomes of either agent under each kind of fault alone, at the first step it can happen to. */
const becomes = {
  'clock-ahead': 'survived',
  'clock-behind': 'survived',
  corrupted_tool_output: 'off-tape',
  dropped_message: 'outcome',
  'http-429': 'survived',
  'http-429-retry-after': 'survived',
  'http-500': 'survived',
  'http-503': 'survived',
  'http-529': 'survived',
  'http-empty': 'crash',
  'http-no-answer': 'survived',
  'http-reset': 'survived',
  'http-reset-midway': 'gave-up',
  'http-slow': 'survived',
  'http-wrong-type': 'crash',
  poisoned_argument: 'off-tape',
  'tool-error': 'gave-up',
  'tool-no-answer': 'hang',
  'tool-reset': 'gave-up',
  'tool-slow': 'survived',
  'value-null': 'off-tape',
  'value-stale': 'off-tape',
  'value-transposed': 'off-tape',
  'value-unit': 'off-tape',
  'version-swap': 'survived',
  wrong_system_prompt: 'outcome',
}
const besides = {
  openai: {
    'http-malformed-json': 'crash',
    'http-truncated-json': 'crash',
  },
  anthropic: {
    'http-duplicate-event': 'crash',
    'http-malformed-event': 'crash',
    'http-truncated-stream': 'crash',
  },
}

describe('an agent on a real SDK', () => {
  it.each<[Fault, Name[], object]>([
    [at1('http-429'), ['openai', 'anthropic'], survived],
    [at1('http-429-retry-after', { seconds: 9 }), ['openai', 'anthropic'], survived],
    [at1('http-500'), ['openai', 'anthropic'], survived],
    [at1('http-503'), ['openai', 'anthropic'], survived],
    [at1('http-529'), ['openai', 'anthropic'], survived],
    [at1('http-reset'), ['openai', 'anthropic'], survived],
    // Ten minutes of virtual time.
    [at1('http-no-answer'), ['openai', 'anthropic'], survived],
    [at1('http-slow', { ms: 100_000 }), ['openai', 'anthropic'], { class: 'survived', steps: 4 }],
    [at1('http-reset-midway', { bytes: 5 }), ['openai', 'anthropic'], { class: 'gave-up', said: /terminated/ }],
    [at1('http-truncated-json', { bytes: 20 }), ['openai'], { class: 'crash', said: /SyntaxError/ }],
    [at1('http-malformed-json'), ['openai'], { class: 'crash', said: /SyntaxError/ }],
    [at1('http-wrong-type'), ['openai'], { class: 'crash', said: /TypeError/ }],
    [at1('http-empty'), ['openai'], { class: 'crash', said: /TypeError/ }],
    [at1('http-empty'), ['anthropic'], { class: 'crash', said: /without sending any chunks/ }],
    [at1('http-truncated-stream', { missing: 1 }), ['anthropic'], { class: 'crash', said: /stream ended without/ }],
    [at1('http-malformed-event', { event: 2 }), ['anthropic'], { class: 'crash', said: /Unterminated string in JSON/ }],
    [at1('http-duplicate-event', { event: 2 }), ['anthropic'], { class: 'crash', said: /in JSON/ }],
  ])('%o', async (fault, names, expected) => {
    for (const name of names) {
      const ended = await under(name, [fault])
      const { said = /./, ...rest } = expected as { readonly said?: RegExp }
      expect(ended).toMatchObject(rest)
      expect(ended.said).toMatch(said)
    }
  })

  it.each([
    ['openai', 'RateLimitError'],
    ['anthropic', 'RateLimitError'],
  ] as const)('of %s tries a step three times, and then says openly why it cannot go on', async (name, error) => {
    const refused = [at1('http-429'), at1('http-429-retry-after', { seconds: 1 })]
    expect(await under(name, refused)).toMatchObject({ class: 'survived', steps: 6 })
    const ended = await under(name, [...refused, at1('http-429')])
    expect(ended).toMatchObject({ class: 'gave-up', steps: 3 })
    expect(ended.said).toMatch(new RegExp(`${error}|429`))
  })

  it('waits on virtual time: hours of retries pass at once', async () => {
    const schedule = [
      at1('http-429-retry-after', { seconds: 30 }),
      at1('http-no-answer'),
      { ...at1('http-429-retry-after', { seconds: 30 }), step: 4 },
      { ...at1('http-no-answer'), step: 4 },
    ]
    const run = await forkTape(
      tapes.openai,
      agents.openai,
      { keep: 0, changes: applyFaults(tapes.openai, schedule), tail: { from: 'tape' } },
      { hangMs: 1_000 },
    )
    expect(run.outcome.status).toBe('returned')
    // Twice ten minutes without an answer, twice half a minute as it was told.
    expect(run.branch.tape.close?.at).toBeGreaterThan(21 * 60_000)
  })

  it.each(['openai', 'anthropic'] as const)(
    'of %s meets every kind of fault that can happen to its run',
    async (name) => {
      const possible = possibleFaults(tapes[name], faultKinds)
      expect(possible.length).toBeGreaterThan(25)
      const fork = (schedule: FaultSchedule) => {
        const { clockOffsetMs = 0 } = runChangesOf(tapes[name], schedule)
        const changes = applyFaults(tapes[name], schedule)
        const plan = { keep: 0, changes, clockOffsetMs, tail: { from: 'tape' } } as const
        return forkTape(tapes[name], agents[name], plan, { hangMs: 1_000 })
      }
      const sound = (await fork([])).branch.text
      const met: Record<string, string> = {}
      for (const { step, kind, ranges } of possible) {
        if (met[kind.name] !== undefined) continue
        const args = Object.fromEntries(
          Object.entries(ranges).map(([key, range]) => [key, 'oneOf' in range ? range.oneOf[0] : range.least]),
        )
        const schedule = [{ step, kind: kind.name, args }]
        const run = await fork(schedule)
        expect(run.branch.text, JSON.stringify(schedule)).not.toBe(sound)
        met[kind.name] = endingOf(run, schedule).class
      }
      expect(met).toEqual({ ...becomes, ...besides[name] })
    },
  )

  it('lives through everything that passes, or gives up openly', async () => {
    const faults = ['http-429', 'http-429-retry-after', 'http-500', 'http-503', 'http-529', 'http-reset', 'http-slow']
    const report = await chaos(tapes.openai, { agent: agents.openai, faults, runs: 30, seed: 1 })
    expect(report).toMatchObject({ survived: true, schedules: expect.any(Number) as number })
    expect(Object.keys(report.endings).sort()).toEqual(['gave-up', 'survived'])
    expect(Object.keys(report.tried).sort()).toEqual([...faults].sort())
  })

  it('is shrunk to the one fault it cannot take', async () => {
    const faults = ['http-429', 'http-500', 'http-503', 'http-slow', 'tool-slow', 'http-empty']
    const report = await chaos(tapes.openai, { agent: agents.openai, faults, runs: 60, seed: 3 })
    expect(report.survived).toBe(false)
    expect(report.failure?.schedule.map(({ kind }) => kind)).toEqual(['http-empty'])
    expect(report.failure).toMatchObject({ class: 'crash', said: expect.stringContaining('shop.ts:') as string })
  })
})
