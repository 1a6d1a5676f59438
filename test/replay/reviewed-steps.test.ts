import { expect, test } from 'vitest'
import { entriesFor, greenSteps } from '../../src/cases/index.ts'
import { isAtEveryStep, replayTape, type ReplayResult, unprovenError, verdictOf } from '../../src/replay/index.ts'
import { chatUrl, tapeOf } from './tapes.ts'

/** One call of a model: who asks, and with what. */
interface Call {
  readonly system: string
  readonly user: string
  readonly [setting: string]: unknown
}

const [planner, worker] = ['You plan.', 'You do as planned.']
// The planner decides, the worker acts twice, and the planner words the answer.
const recorded: readonly Call[] = [
  { system: planner, user: 'plan it', temperature: 0 },
  { system: worker, user: 'first task', temperature: 0 },
  { system: worker, user: 'second task', temperature: 0 },
  { system: planner, user: 'word it', temperature: 0 },
]

function bodyOf({ system, user, ...settings }: Call): string {
  const messages = [
    { role: 'system', content: system },
    { role: 'user', content: user },
  ]
  return JSON.stringify({ model: 'm-1', ...settings, messages })
}

const tape = tapeOf(recorded.map((call) => ({ body: bodyOf(call) })))

/** Replays it with other calls at these steps, 1-based, sent to this address. */
async function replayed(edit: (call: Call) => Call, steps: readonly number[], url = chatUrl): Promise<ReplayResult> {
  return replayTape(tape, async () => {
    for (const [at, call] of recorded.entries()) {
      const isEdited = steps.includes(at + 1)
      const answer = await fetch(isEdited ? url : chatUrl, {
        method: 'POST',
        body: bodyOf(isEdited ? edit(call) : call),
      })
      await answer.text()
    }
    return null
  })
}

const settingOf = (name: string, value: unknown) => (call: Call) => ({ ...call, [name]: value })
const edits: Readonly<Record<string, (call: Call) => Call>> = {
  'the model': settingOf('model', 'm-2'),
  'the temperature': settingOf('temperature', 1),
  'a setting that was not there': settingOf('top_p', 0.5),
  'the tools': settingOf('tools', [{ type: 'function', function: { name: 'refund', parameters: {} } }]),
  'the system prompt': (call) => ({ ...call, system: 'You answer in one line.' }),
}

test.for(Object.entries(edits))(
  'a change of %s that was accepted at the last step is unproven at the first, and at both',
  async ([, edit]) => {
    const { unproven } = verdictOf(await replayed(edit, [4]))
    expect(unproven).toMatchObject([{ steps: [4] }])
    const green = new Map(unproven.map(({ key, steps }) => [key, steps]))
    const [same, ...others] = await Promise.all([[4], [1], [1, 4]].map((steps) => replayed(edit, steps)))
    expect(verdictOf(same!, green)).toMatchObject({ verdict: 'same', accepted: [{ steps: [4] }] })
    for (const run of others) {
      const told = verdictOf(run, green)
      expect(told).toMatchObject({ verdict: 'unproven', unproven: [{ acceptedAt: [4] }], accepted: [] })
      const { message } = unprovenError(told.unproven, { caseId: 'refund', tape: 'refund' })
      expect(message).toMatch(/accepted +at step 4 only\n/)
      expect(message).toContain('npx vitest-harvest accept refund --reason "…"')
    }
  },
)

test('what was accepted at several steps is green at fewer of them', async () => {
  const edit = edits['the system prompt']!
  const { unproven } = verdictOf(await replayed(edit, [1, 4]))
  const green = new Map(unproven.map(({ key, steps }) => [key, steps]))
  for (const steps of [[1, 4], [1], [4]]) expect(verdictOf(await replayed(edit, steps), green).verdict).toBe('same')
})

test('a change is at every step where each that asks with the recorded part has it, no matter who else asks', async () => {
  const isEverywhere = async (edit: (call: Call) => Call, steps: readonly number[], url?: string) => {
    const { drift } = await replayed(edit, steps, url)
    const keys = new Set(drift.map(({ key }) => key))
    expect(keys.size).toBe(1)
    return isAtEveryStep(drift, tape)
  }
  // A prompt, and a setting beside it, are those of the planner.
  for (const name of ['the system prompt', 'the temperature', 'the model', 'a setting that was not there']) {
    expect([name, await isEverywhere(edits[name]!, [1, 4])]).toEqual([name, true])
    expect([name, await isEverywhere(edits[name]!, [4])]).toEqual([name, false])
  }
  // Neither of them has tools, and both ask one host.
  expect(await isEverywhere(edits['the tools']!, [1, 4])).toBe(false)
  expect(await isEverywhere(edits['the tools']!, [1, 2, 3, 4])).toBe(true)
  const elsewhere = 'https://models.example/v1/chat/completions'
  expect(await isEverywhere((call) => call, [1, 4], elsewhere)).toBe(false)
  expect(await isEverywhere((call) => call, [1, 2, 3, 4], elsewhere)).toBe(true)
})

const entry = { key: 'AAAAAAAAAAAAAAAA', what: 'model', was: 'sha256-a', now: 'sha256-b', words: '[-a-] {+b+}' }
const { key } = entry
const greenFor = (...given: Parameters<typeof entriesFor>) => greenSteps(entriesFor(...given)).get(key)

test('an acceptance without steps counts at every step, as those that were written before steps were', () => {
  expect(greenFor('refund', [entry], [])).toBe('all')
  expect(greenFor('refund', [], [entry])).toBe('all')
})

test('an acceptance for several cases counts for those it names, each at its own steps', () => {
  const shared = [{ ...entry, steps: { refund: [4], stock: [1, 3] } }]
  expect(['refund', 'stock', 'other'].map((name) => greenFor(name, [], shared))).toEqual([[4], [1, 3], []])
  const run = {
    key,
    class: 'model',
    part: 'model',
    steps: [4],
    words: entry.words,
    was: entry.was,
    now: entry.now,
  } as const
  expect(unprovenError([{ ...run, acceptedAt: [] }], { tape: 'other' }).message).toMatch(
    /accepted +for other recordings only\n/,
  )
})

test('what was reviewed for a case at one step is not accepted at another one because it was for all others', () => {
  expect(greenFor('refund', [{ ...entry, steps: [4] }], [entry])).toEqual([4])
  expect(greenFor('refund', [], [entry, { ...entry, steps: { refund: [4] } }])).toEqual([4])
  expect(greenFor('stock', [], [entry, { ...entry, steps: { refund: [4] } }])).toBe('all')
  // Reviewed twice: here, and with others.
  expect(greenFor('refund', [{ ...entry, steps: [4] }], [{ ...entry, steps: { refund: [1] } }])).toEqual([1, 4])
})
