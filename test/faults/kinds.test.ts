import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  applyFaults,
  describeFault,
  type Fault,
  faultKinds,
  faultSchedule,
  kindsNamed,
  possibleFaults,
  runChangesOf,
} from '../../src/faults/index.ts'
import { isFaultOf } from '../../src/faults/schedule.ts'
import {
  type CallEvent,
  type ExchangeEvent,
  type Json,
  responseBytes,
  type Step,
  stepsOf,
} from '../../src/tape/index.ts'
import { errorOf } from '../recordings/make.ts'
import { chatCall, chatStream, tapeOf, toolCall } from './tapes.ts'

const account = { balance: 1234, credit: 55, owner: 'A-100', notes: ['first', 'second'], open: true }
const tape = tapeOf([
  chatCall(1, { tool: 'lookup', args: { order_id: 'A-100', amount: 25 } }),
  toolCall(10, 'lookup', { order_id: 'A-100' }, account),
  chatStream(20, ['I ', 'refunded ', '25.']),
  { ...toolCall(40, 'search', {}, ['Refunds take five days.']), kind: 'retrieval' },
])

/** The step as it is after one fault. */
function after(kind: string, step: number, args: Fault['args'] = {}): Step {
  const [change] = applyFaults(tape, [{ step, kind, args }])
  if (change === undefined) throw new Error('no change')
  const recorded = stepsOf(tape)[step - 1] as Step
  if ('rewrite' in change) return change.rewrite(recorded)
  if ('attempts' in change) return change.attempts[0]?.(recorded) ?? recorded
  throw new Error('no rewriting')
}
const exchange = (kind: string, step: number, args?: Fault['args']) => after(kind, step, args) as ExchangeEvent
const textOf = (event: ExchangeEvent): string => responseBytes(event).toString('utf8')
const result = (kind: string, args?: Fault['args'], step = 2): Json | undefined =>
  (after(kind, step, args) as CallEvent).result

describe('over HTTP', () => {
  it.each([
    ['http-429', 429],
    ['http-500', 500],
    ['http-503', 503],
    ['http-529', 529],
  ])('%s refuses with that status, and tells no time to wait', (kind, status) => {
    const { response } = exchange(kind, 1)
    expect(response).toMatchObject({ status })
    expect(response?.headers.map(([name]) => name)).not.toContain('retry-after')
  })

  it('429 with Retry-After says when', () => {
    expect(exchange('http-429-retry-after', 1, { seconds: 7 }).response?.headers).toContainEqual(['retry-after', '7'])
  })

  it('a reset has no answer and an error', () => {
    expect(exchange('http-reset', 1)).toMatchObject({ error: { code: 'ECONNRESET' } })
    expect(exchange('http-reset', 1).response).toBeUndefined()
  })

  it('a reset midway has the first bytes, no end, and an error', () => {
    const event = exchange('http-reset-midway', 1, { bytes: 9 })
    expect(textOf(event)).toHaveLength(9)
    expect(event.response?.end).toBeUndefined()
    expect(event.error?.code).toBe('ECONNRESET')
  })

  it('truncated JSON ends properly, too early', () => {
    const event = exchange('http-truncated-json', 1, { bytes: 12 })
    expect(textOf(event)).toBe(textOf(stepsOf(tape)[0] as ExchangeEvent).slice(0, 12))
    expect(event.response?.end).toBeDefined()
    expect(event.response?.headers).toContainEqual(['content-length', '12'])
  })

  it('a truncated stream lacks its last events', () => {
    const event = exchange('http-truncated-stream', 3, { missing: 2 })
    expect(textOf(event)).toContain('refunded')
    expect(textOf(event)).not.toContain('[DONE]')
    expect(textOf(event)).not.toContain('stop')
  })

  it('a malformed event stands between sound ones', () => {
    const events = textOf(exchange('http-malformed-event', 3, { event: 1 }))
      .trim()
      .split('\n\n')
    expect(events.map((event) => isJson(event.slice('data: '.length)))).toEqual([true, false, true, true, false])
    expect(events[4]).toBe('data: [DONE]')
  })

  it('a duplicated event is there twice, and nothing else', () => {
    const recorded = textOf(stepsOf(tape)[2] as ExchangeEvent)
      .trim()
      .split('\n\n')
    const events = textOf(exchange('http-duplicate-event', 3, { event: 2 }))
      .trim()
      .split('\n\n')
    expect(events).toEqual([...recorded.slice(0, 3), ...recorded.slice(2)])
  })

  it('malformed JSON, a page of HTML, an empty answer', () => {
    expect(isJson(textOf(exchange('http-malformed-json', 1)))).toBe(false)
    expect(exchange('http-wrong-type', 1).response).toMatchObject({ status: 200 })
    expect(exchange('http-wrong-type', 1).response?.headers).toContainEqual(['content-type', 'text/html'])
    expect(textOf(exchange('http-empty', 1))).toBe('')
    expect(exchange('http-empty', 1).response?.status).toBe(200)
  })

  it('slow is the same answer later', () => {
    const { response } = stepsOf(tape)[0] as ExchangeEvent
    const slow = exchange('http-slow', 1, { ms: 500 })
    expect(textOf(slow)).toBe(textOf(stepsOf(tape)[0] as ExchangeEvent))
    expect(slow.response?.moment[1]).toBe((response?.moment[1] ?? 0) + 500)
  })

  it('no answer is neither answer nor error', () => {
    const { response, error } = exchange('http-no-answer', 1)
    expect([response, error]).toEqual([undefined, undefined])
  })
})

describe('values', () => {
  it.each([
    ['value-stale', { path: 'balance', by: 34 }, { balance: 1200 }],
    ['value-transposed', { path: 'balance', digit: 1 }, { balance: 1324 }],
    ['value-unit', { path: 'credit' }, { credit: 5500 }],
    ['value-swapped', { path: '' }, { balance: 55, credit: 1234 }],
    ['value-empty-list', { path: 'notes' }, { notes: [] }],
    ['value-null', { path: 'owner' }, { owner: null }],
    ['value-other-id', { path: 'owner' }, { owner: 'A-101' }],
    ['message-dropped', { path: 'notes', item: 0 }, { notes: ['second'] }],
    ['message-duplicated', { path: 'notes', item: 1 }, { notes: ['first', 'second', 'second'] }],
    ['message-delayed', { path: 'notes', item: 0 }, { notes: ['second', 'first'] }],
  ])('%s %o changes that and nothing else', (kind, args, changed) => {
    expect(result(kind, args)).toEqual({ ...account, ...changed })
  })

  it('a contradicted message is followed by its contrary', () => {
    expect(result('message-contradicted', { path: 'notes', item: 0 })).toEqual({
      ...account,
      notes: ['first', 'Correction, the contrary is true: not first', 'second'],
    })
  })

  it('stay as they are however often they are asked for, and come behind the faults that pass', () => {
    const value: Fault = { step: 2, kind: 'value-null', args: { path: 'owner' } }
    const changes = applyFaults(tape, [value, { step: 2, kind: 'tool-error', args: {} }])
    expect(changes).toMatchObject([
      { step: 2, attempts: [expect.anything()] },
      { step: 2, always: true },
    ])
  })
})

describe('the classes of tracefork', () => {
  it('change tools, retrievals, and what models decide', () => {
    expect(result('corrupted_tool_output', { path: '' })).toContain('corrupted')
    expect(result('misleading_retrieval', { path: '[0]' }, 4)).toEqual([expect.stringContaining('withdrawn')])
    expect(applyFaults(tape, [{ step: 3, kind: 'dropped_message', args: {} }])).toEqual([
      { step: 3, decide: { say: '' } },
    ])
    expect(applyFaults(tape, [{ step: 1, kind: 'wrong_system_prompt', args: {} }])).toMatchObject([
      { step: 1, decide: { say: expect.stringContaining('not allowed') as string } },
    ])
    const poisoned: Fault = { step: 1, kind: 'poisoned_argument', args: { path: '0:lookup.amount' } }
    expect(applyFaults(tape, [poisoned])).toEqual([
      { step: 1, decide: { calls: [{ name: 'lookup', args: { order_id: 'A-100', amount: 251 } }] } },
    ])
  })
})

describe('arrival', () => {
  const three = (at: number) => [
    toolCall(1, 'a', {}, 'a', { settled: [10, 10] }),
    toolCall(2, 'b', {}, 'b', { settled: [11, 20] }),
    toolCall(3, 'c', {}, 'c', { settled: [12, at] }),
  ]

  it('can be later than that of others that were asked for before it came', () => {
    const parallel = tapeOf(three(30))
    const possible = possibleFaults(parallel, kindsNamed(['order']))
    expect(possible.map(({ step, ranges }) => [step, ranges['by']])).toEqual([
      [1, { least: 1, most: 2 }],
      [2, { least: 1, most: 1 }],
    ])
    const [change] = applyFaults(parallel, [{ step: 1, kind: 'order-late', args: { by: 2 } }])
    const [first] = stepsOf(parallel)
    expect(first && change && 'attempts' in change ? change.attempts[0]?.(first) : undefined).toMatchObject({
      settled: [10, 31],
    })
  })

  it('has no other order where each waits for the one before', () => {
    const sequential = tapeOf([toolCall(1, 'a', {}, 1), toolCall(10, 'b', {}, 2)])
    expect(possibleFaults(sequential, kindsNamed(['order']))).toEqual([])
  })

  it('for every pair whose inversion fails, shrinks to a single delay', () => {
    const many = tapeOf(
      Array.from({ length: 12 }, (_, i) => toolCall(i + 1, `t${i}`, {}, i, { settled: [100 + i, 100 + 10 * i] })),
    )
    const fails = (schedule: readonly Fault[]): boolean => {
      const steps = stepsOf(many).map((step, i) => {
        const late = schedule.find((fault) => fault.step === i + 1)
        const [change] = late === undefined ? [] : applyFaults(many, [late])
        return change !== undefined && 'attempts' in change ? (change.attempts[0]?.(step) ?? step) : step
      })
      const arrival = (number: number): number => (steps[number - 1] as CallEvent).settled?.[1] ?? 0
      return arrival(10) < arrival(5)
    }
    for (let seed = 0; seed < 40; seed++) {
      const property = fc.property(
        faultSchedule(many, { faults: ['order'], smallest: true }),
        (schedule) => !fails(schedule),
      )
      const { counterexample } = fc.check(property, { seed, numRuns: 500 })
      expect(counterexample).toEqual([[{ step: 5, kind: 'order-late', args: { by: 5 } }]])
    }
  })
})

describe('names', () => {
  it('a family stands for its kinds, and every kind for itself', () => {
    expect(kindsNamed(['tools', 'http-429']).map(({ name }) => name)).toMatchInlineSnapshot(`
      [
        "http-429",
        "tool-error",
        "tool-reset",
        "tool-no-answer",
        "tool-slow",
      ]
    `)
    for (const kind of faultKinds) expect(kindsNamed([kind.name])).toEqual([kind])
  })

  it('every family and kind is told in docs/chaos.md', () => {
    const page = readFileSync('docs/chaos.md', 'utf8')
    const all = faultKinds.flatMap(({ name, family }) => [name, family])
    expect(all.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  })

  it('one that is not known is an error with the nearest', () => {
    expect(errorOf(() => kindsNamed(['http-492'])).message).toContain('did you mean: --faults http-429')
  })

  it('a fault that cannot happen at its step is an error', () => {
    const { code } = errorOf(() => applyFaults(tape, [{ step: 2, kind: 'http-429', args: {} }]))
    expect(code).toBe('HARVEST_FAULT_STEP')
    expect(errorOf(() => applyFaults(tape, [{ step: 9, kind: 'http-429', args: {} }])).message).toContain('1 to 4')
  })

  it('a fault at a path that its answer does not have is an error, for it would change nothing', () => {
    const wrapped = tapeOf([toolCall(10, 'lookup', {}, { total: 25 }, { settled: [40, 40] })])
    const at = (path: unknown): Fault => ({ step: 1, kind: 'value-unit', args: { path } as never })
    expect(() => applyFaults(wrapped, [at('total')])).not.toThrow()
    for (const path of ['nowhere', 'result.total', ['total'], undefined]) {
      const { code, message } = errorOf(() => applyFaults(wrapped, [at(path)]))
      expect([code, message]).toEqual(['HARVEST_FAULT_STEP', expect.stringMatching(/paths it can change +total\n/)])
    }
  })

  it('nothing happens to what a wrapped call does inside: it is part of its answer', () => {
    const inside = { ...chatCall(12, { tool: 'x', args: {} }), in: 10 }
    const wrapped = tapeOf([toolCall(10, 'lookup', {}, 1, { settled: [40, 40] }), inside])
    expect(possibleFaults(wrapped, faultKinds).filter(({ step }) => step === 2)).toEqual([])
    expect(possibleFaults(tapeOf([chatCall(12, { tool: 'x', args: {} })]), faultKinds).length).toBeGreaterThan(10)
  })

  it('a fault in words', () => {
    expect(describeFault(tape, { step: 1, kind: 'http-429-retry-after', args: { seconds: 3 } })).toMatchInlineSnapshot(
      `"step 1, POST api.openai.com/v1/chat/completions: HTTP 429 with Retry-After (http-429-retry-after, seconds: 3)"`,
    )
    expect(describeFault(tape, { step: 0, kind: 'clock-ahead', args: { minutes: 60 } })).toMatchInlineSnapshot(
      `"the whole run: the clock is ahead (clock-ahead, minutes: 60)"`,
    )
  })
})

describe('for every schedule', () => {
  const families = ['http', 'tools', 'values', 'messages', 'order', 'clock', 'version', 'tracefork']

  it('its changes keep the question and change the answer', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(faultSchedule(tape, { faults: families, densities: [0.3] }), (schedule) => {
        for (const fault of schedule) {
          for (const change of applyFaults(tape, [fault])) {
            if ('decide' in change || !('step' in change) || change.step === undefined) continue
            const recorded = stepsOf(tape)[change.step - 1] as Step
            const rewrite = 'attempts' in change ? change.attempts[0] : 'rewrite' in change ? change.rewrite : undefined
            const changed = rewrite?.(recorded) as Step
            expect(asked(changed)).toEqual(asked(recorded))
            expect(changed).not.toEqual(recorded)
            seen.add(fault.kind)
          }
        }
        expect(JSON.parse(JSON.stringify(schedule))).toEqual(schedule)
      }),
      { numRuns: 200 },
    )
    expect(seen.size).toBeGreaterThan(28)
  })
})

function asked(step: Step): unknown {
  const { kind, n, at } = step
  return step.kind === 'exchange'
    ? [kind, n, at, step.method, step.url, step.request]
    : [kind, n, at, step.name, step.args]
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

it('a wrong clock is wrong in every unit; a schedule of whole minutes is one too', () => {
  const schedules = fc.sample(faultSchedule(tape, { faults: ['clock'] }), { seed: 1, numRuns: 40 })
  const offsets = schedules.map((schedule) => runChangesOf(tape, schedule).clockOffsetMs ?? 0)
  for (const unit of [1_000, 60_000, 3_600_000]) {
    const parts = offsets.map((ms) => Math.floor((((ms % unit) + unit) % unit) / (unit / 60)))
    expect(new Set(parts).size).toBeGreaterThan(15)
  }
  const whole = { step: 0, kind: 'clock-behind', args: { minutes: 5 } }
  expect([isFaultOf(tape, [], whole), runChangesOf(tape, [whole]).clockOffsetMs]).toEqual([true, -300_000])
})
