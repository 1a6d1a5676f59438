import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exportTape } from '../../src/exporters/index.ts'
import { parseTape, readTape, serializeTape, type Tape } from '../../src/tape/index.ts'
import { traceOf } from '../../src/trace/index.ts'
import { arbitraryTape } from '../tape/arbitrary.ts'
import { runOf, tapeOf, textOf, turns } from './runs.ts'

interface Document {
  readonly calls: readonly { readonly event: number; readonly name: string; readonly args: unknown }[]
  readonly layers: readonly (readonly number[])[]
  readonly [key: string]: unknown
}

const documentOf = (tape: Tape, withContent = true): Document =>
  JSON.parse(textOf(exportTape(tape, 'json', { withContent }).pieces)) as Document

const recorded = readTape(join(import.meta.dirname, '../history/v1.tape.jsonl'))

describe('the trace of a tape as JSON', () => {
  it('for every run, its layers are those that runs are compared by', () => {
    fc.assert(
      fc.property(turns, (taken) => {
        const tape = runOf(taken)
        const { calls, layers } = documentOf(tape)
        const told = layers.map((layer) =>
          layer.map((at) => calls[at]!).map(({ name, args, event }) => ({ name, args, n: event })),
        )
        expect(told).toEqual(traceOf(tape.events).layers)
      }),
      { numRuns: 50 },
    )
  })

  it('for every tape there is one, and every call stands in one layer', () => {
    fc.assert(
      fc.property(arbitraryTape, ({ header, events, close }) => {
        const { calls, layers } = documentOf(parseTape(serializeTape(header, events, close), 'x'))
        expect(layers.flat().sort((a, b) => a - b)).toEqual(calls.map((_, at) => at))
      }),
      { numRuns: 60 },
    )
  })

  it('has fields that stay', () => {
    const order = { name: 'lookup_order', args: { order_id: 'A-17' }, result: { total: 25 } }
    expect(documentOf(runOf([{ calls: [order], together: false }]))).toMatchInlineSnapshot(
      {
        digest: expect.any(String) as string,
      },
      `
      {
        "agent": "desk",
        "calls": [
          {
            "args": {
              "order_id": "A-17",
            },
            "askedBy": 0,
            "atMs": 3.75,
            "event": 4,
            "id": "call_1",
            "kind": "tool",
            "name": "lookup_order",
            "result": {
              "total": 25,
            },
            "tookMs": 1.25,
          },
        ],
        "commit": null,
        "digest": Any<String>,
        "harvestTrace": 1,
        "layers": [
          [
            0,
          ],
        ],
        "missing": [],
        "modelCalls": [
          {
            "answered": "gpt-5-2026-01-01",
            "asked": "gpt-5",
            "atMs": 1.25,
            "dialect": "openai-chat",
            "event": 0,
            "finish": "tool_calls",
            "tookMs": 1.25,
            "toolCalls": [
              {
                "args": {
                  "order_id": "A-17",
                },
                "id": "call_1",
                "name": "lookup_order",
              },
            ],
            "usage": {
              "cachedTokens": 7,
              "inputTokens": 100,
              "outputTokens": 20,
            },
          },
          {
            "answered": "gpt-5-2026-01-01",
            "asked": "gpt-5",
            "atMs": 6.25,
            "dialect": "openai-chat",
            "event": 6,
            "finish": "stop",
            "text": "Done.",
            "tookMs": 1.25,
            "toolCalls": [],
            "usage": {
              "cachedTokens": 7,
              "inputTokens": 106,
              "outputTokens": 20,
            },
          },
        ],
        "models": [
          "gpt-5",
        ],
        "outcome": {
          "status": "returned",
          "value": {
            "answer": "Done.",
          },
        },
        "startedAt": "2026-03-04T05:06:07.089Z",
        "tape": "desk-1",
        "tookMs": 7.5,
        "truncated": false,
        "usage": {
          "cacheWriteTokens": 0,
          "cachedTokens": 14,
          "inputTokens": 206,
          "modelCalls": 2,
          "outputTokens": 40,
          "reasoningTokens": 0,
          "untold": 0,
        },
      }
    `,
    )
  })

  it('a recorded run: what ran, what failed, and what was inside of something else', () => {
    const { calls, outcome, usage } = documentOf(recorded)
    expect({ calls, outcome, usage }).toMatchInlineSnapshot(`
      {
        "calls": [
          {
            "args": {
              "order_id": "A-17",
            },
            "atMs": 30,
            "event": 20,
            "kind": "tool",
            "name": "lookup_order",
            "result": {
              "id": "A-17",
              "note": {
                "$type": "undefined",
              },
              "value": 25,
            },
            "site": "src/tools.ts:3:9",
            "tookMs": 5,
          },
          {
            "args": {
              "amount": 2500,
            },
            "atMs": 74,
            "error": {
              "$type": "error",
              "class": "RangeError",
              "message": "more than the order value",
              "name": "RangeError",
            },
            "event": 68,
            "kind": "tool",
            "name": "refund",
            "tookMs": 1,
          },
        ],
        "outcome": {
          "status": "returned",
          "value": {
            "refunded": 25,
          },
        },
        "usage": {
          "cacheWriteTokens": 0,
          "cachedTokens": 0,
          "inputTokens": 0,
          "modelCalls": 0,
          "outputTokens": 0,
          "reasoningTokens": 0,
          "untold": 0,
        },
      }
    `)
  })

  it('what nobody knows is null', () => {
    const imported = { format: 'vcrpy', grade: 'replayable', missing: ['start', 'timings'] } as const
    const tape = tapeOf([{ kind: 'tool', n: 1, at: 1, name: 'x', args: {} }], { header: { imported }, close: 'none' })
    expect(documentOf(tape)).toMatchObject({
      startedAt: null,
      tookMs: null,
      commit: null,
      outcome: null,
      truncated: true,
      missing: ['start', 'timings'],
      calls: [{ event: 1, name: 'x', kind: 'tool', args: {}, open: true }],
    })
    expect(documentOf(tape).calls[0]).not.toHaveProperty('atMs')
  })

  it('without content nothing that was said is there', () => {
    const secret = 'said-in-confidence'
    const failed = {
      kind: 'tool' as const,
      n: 90,
      at: 90,
      name: 'y',
      args: {},
      settled: [91, 91] as const,
      error: secret,
    }
    const { events } = runOf([{ calls: [{ name: 'x', args: { a: secret }, result: secret }], together: false }], secret)
    const tape = tapeOf([...events, failed], {
      header: { input: secret },
      close: { n: 99, at: 99, outcome: { status: 'returned', value: secret } },
    })
    expect(JSON.stringify(documentOf(tape))).toContain(secret)
    expect(JSON.stringify(documentOf(tape, false))).not.toContain(secret)
    expect(documentOf(tape, false)).toMatchObject({ outcome: { status: 'returned' }, models: ['gpt-5'] })
  })
})
