import { appendFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { costOfRun, readFacts, readPrices, type TapeFacts, tokensOf } from '../../src/recordings/index.ts'
import type { PriceTable } from '../../src/providers/index.ts'
import { errorOf, call, messageOf, put, putTape, scratch, type TapeParts } from './make.ts'
import { modelCall } from './model-call.ts'

const prices = { 'invented-*': { input: 1, output: 10 } }

function facts(parts: TapeParts, bytes = 0): Promise<TapeFacts> {
  return readFacts(putTape(scratch(), 'inbox/run-1', parts), bytes)
}

describe('what a list says about a tape', () => {
  const parts: TapeParts = {
    events: [
      modelCall(1, { tools: ['refund'], tokens: [1_000, 50] }),
      call(10, 'lookup_order', { order_id: 'A-17' }),
      modelCall(20, { model: 'other-large', tokens: [500, 5] }),
      modelCall(30, { tokens: [1_000, 50] }),
    ],
    close: {
      kept: [{ because: 'flag', detail: 'angry' }],
      retention: { class: 'flagged', until: '2026-06-01T00:00:00.000Z', hold: 'claim 7' },
      usage: { modelCalls: 3, inputTokens: 2_500, outputTokens: 105, costUsd: 0.25 },
    },
  }

  test('names who ran, with what, how it ended, what it used and how long it is kept, and holds no text of the run', async () => {
    expect(await facts(parts)).toMatchInlineSnapshot(`
      {
        "agent": "refund",
        "commit": "4f2a9c1",
        "counted": {
          "costUsd": 0.25,
          "inputTokens": 2500,
          "modelCalls": 3,
          "outputTokens": 105,
        },
        "decisions": [
          "refund",
        ],
        "durationMs": 12.5,
        "ending": "returned",
        "events": 4,
        "hold": "claim 7",
        "id": "run-1",
        "kept": [
          {
            "because": "flag",
            "detail": "angry",
          },
        ],
        "models": [
          "invented-1",
          "other-large",
        ],
        "outcome": "returned",
        "retention": "flagged",
        "startedAt": "2026-03-04T05:06:07.089Z",
        "state": "closed",
        "steps": 4,
        "tools": [
          "lookup_order",
          "refund",
        ],
        "until": "2026-06-01T00:00:00.000Z",
        "usage": [
          {
            "asked": "invented-1",
            "calls": 2,
            "tokens": {
              "cacheWriteTokens": 0,
              "cachedTokens": 0,
              "inputTokens": 2000,
              "outputTokens": 100,
            },
          },
          {
            "asked": "other-large",
            "calls": 1,
            "tokens": {
              "cacheWriteTokens": 0,
              "cachedTokens": 0,
              "inputTokens": 500,
              "outputTokens": 5,
            },
          },
        ],
      }
    `)
  })

  test('is the same of a tape that is read line by line because it is long', async () => {
    expect(await facts(parts, Number.MAX_SAFE_INTEGER)).toEqual(await facts(parts))
  })

  test('of a truncated tape is what stands in it', async () => {
    const { state, steps, models, outcome, durationMs } = await facts({ ...parts, close: null })
    expect({ state, steps, models, outcome, durationMs }).toEqual({
      state: 'truncated',
      steps: 4,
      models: ['invented-1', 'other-large'],
    })
  })

  test('of a damaged tape is what is wrong with it', async () => {
    const file = putTape(scratch(), 'inbox/run-1', parts)
    appendFileSync(file, 'x\n')
    expect(await readFacts(file, 0)).toMatchObject({ state: 'unreadable', problem: { code: 'HARVEST_TAPE_LINE' } })
    expect(await readFacts(dirname(file), 0)).toMatchObject({ problem: { code: 'HARVEST_TAPE_UNREADABLE' } })
    expect(await readFacts(`${file}x`, 0)).toMatchObject({ problem: { code: 'HARVEST_TAPE_MISSING' } })
  })
})

describe('the cost of a run', () => {
  const costOf = async (parts: TapeParts, table: PriceTable | null = prices) =>
    costOfRun(await facts(parts), table ?? undefined)

  test('is by the table of the project, every model by its own price', async () => {
    const events = [modelCall(1, { tokens: [1_000, 50] }), modelCall(20, { model: 'other', tokens: [2_000_000, 0] })]
    expect(await costOf({ events }, { ...prices, other: { input: 3, output: 1 } })).toBeCloseTo(6.0015, 10)
  })

  test('is as the recorder counted where the project has no table, or its table does not know the model', async () => {
    const counted = { modelCalls: 1, inputTokens: 100, outputTokens: 10, costUsd: 0.25 }
    expect(await costOf({ events: [modelCall(1)], close: { usage: counted } }, null)).toBe(0.25)
    expect(await costOf({ events: [modelCall(1)], close: { usage: counted } }, {})).toBe(0.25)
    expect(await costOf({ events: [modelCall(1)], close: { usage: counted } })).toBeCloseTo(0.0002, 10)
  })

  test('is not known when one model has no price or one answer told no tokens; a run without models costs nothing', async () => {
    expect(await costOf({ events: [modelCall(1), modelCall(20, { model: 'other' })] })).toBeUndefined()
    expect(await costOf({ events: [modelCall(1), modelCall(20, { tokens: null })] })).toBeUndefined()
    expect(await costOf({ events: [modelCall(1, { tokens: null }), modelCall(20)] })).toBeUndefined()
    expect(await costOf({ events: [call(1, 'x', {})] })).toBe(0)
  })

  test('leaves out a call that was refused', async () => {
    const events = [modelCall(1, { status: 429 }), modelCall(20, { tokens: [1_000, 0] })]
    expect(await costOf({ events })).toBeCloseTo(0.001, 10)
    expect(tokensOf(await facts({ events }))).toEqual({ inputTokens: 1_000, outputTokens: 0 })
  })
})

describe('the price table of a project', () => {
  const read = (text: string) => readPrices(dirname(put(scratch(), 'prices.json', text)))

  test('is read as it stands, and may be missing', () => {
    expect(read('{"gpt-5*":{"input":1.25,"output":10,"cachedInput":0}}')).toEqual({
      'gpt-5*': { input: 1.25, output: 10, cachedInput: 0 },
    })
    expect(readPrices(scratch())).toBeUndefined()
  })

  test.for([
    ['{', 'JSON'],
    ['[]', 'it is not an object'],
    ['{"a":1}', 'a has no { "input"'],
    ['{"a":{"input":1}}', 'a.output is not a number of dollars'],
    ['{"a":{"input":-1,"output":1}}', 'a.input is not a number of dollars'],
    ['{"a":{"input":1,"output":1,"cachedInput":"0"}}', 'a.cachedInput is not a number of dollars'],
    ['{"a":{"input":1,"outputs":1}}', 'a.outputs is not known; did you mean output?'],
  ])('%s is refused', ([text, problem]) => {
    const error = errorOf(() => read(text!))
    expect(error.code).toBe('HARVEST_RECORDINGS_PRICES')
    expect(error.facts.where?.['problem']).toContain(problem)
  })

  test('that is refused says what a right one looks like', () => {
    expect(messageOf(() => read('{"a":1}'))).toMatchInlineSnapshot(`
      "Invalid price table

        file     <root>/recordings/prices.json
        problem  a has no { "input": …, "output": … }

      Costs are never estimated from an invalid table.
      → write US dollars per million tokens: { "gpt-5*": { "input": 1.25, "output": 10, "cachedInput": 0.125 } }
      (HARVEST_RECORDINGS_PRICES)"
    `)
  })
})
