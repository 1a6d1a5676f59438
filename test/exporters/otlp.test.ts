import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exportTape } from '../../src/exporters/index.ts'
import { type CallEvent, parseTape, readTape, serializeTape, type TapeEvent } from '../../src/tape/index.ts'
import { arbitraryTape } from '../tape/arbitrary.ts'
import { requestParams } from '../../src/exporters/otlp/params.ts'
import { readModelRequest } from '../../src/providers/index.ts'
import { otlpMistakes } from './otlp-shape.ts'
import { runOf, tapeOf } from './runs.ts'
import { linesOf, spansIn } from './spans.ts'

const recorded = readTape(join(import.meta.dirname, '../history/v1.tape.jsonl'))
const truncated = readTape(join(import.meta.dirname, '../history/v1-truncated.tape.jsonl'))
const order = { name: 'lookup_order', args: { order_id: 'A-17' }, result: { total: 25 } }
const policy = { name: 'refund_policy', args: { country: 'DE' }, result: 'thirty days' }
const call = (n: number, more: Partial<CallEvent> = {}): TapeEvent => ({
  kind: 'tool',
  n,
  at: n,
  name: 'lookup_order',
  args: {},
  ...more,
})

describe('a tape as OTLP', () => {
  it('for every tape, each line is a request of the protocol', () => {
    fc.assert(
      fc.property(arbitraryTape, ({ header, events, close }) => {
        const tape = parseTape(serializeTape(header, events, close), 'x')
        expect(linesOf(tape).flatMap(otlpMistakes)).toEqual([])
      }),
      { numRuns: 60 },
    )
  })

  it('for every tape, spans have ids of their own, known parents, and end after they began', () => {
    fc.assert(
      fc.property(arbitraryTape, ({ header, events, close }) => {
        const spans = spansIn(parseTape(serializeTape(header, events, close), 'x'))
        const ids = new Set(spans.map(({ spanId }) => spanId))
        expect(ids.size).toBe(spans.length)
        const [root, ...rest] = spans
        expect(root).not.toHaveProperty('parentSpanId')
        expect(rest.filter(({ parentSpanId = '' }) => !ids.has(parentSpanId))).toEqual([])
        expect(spans.filter((span) => BigInt(span.endTimeUnixNano) < BigInt(span.startTimeUnixNano))).toEqual([])
        expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
      }),
      { numRuns: 60 },
    )
  })

  it('a run is a tree of an agent, its model calls, and its tools', () => {
    const spans = spansIn(runOf([{ calls: [order, policy], together: true }]))
    const [root] = spans
    expect(spans.map(({ name, kind, parentSpanId }) => [name, kind, parentSpanId === root!.spanId])).toEqual([
      ['invoke_agent desk', 1, false],
      ['chat gpt-5', 3, true],
      ['execute_tool lookup_order', 1, true],
      ['execute_tool refund_policy', 1, true],
      ['chat gpt-5', 3, true],
    ])
  })

  it('a model call has the names of the GenAI conventions', () => {
    const [, model] = spansIn(runOf([{ calls: [order], together: false }]))
    expect(model!.attributes).toMatchInlineSnapshot(`
      {
        "gen_ai.input.messages": "[{"role":"system","parts":[{"type":"text","content":"Be kind."}]},{"role":"user","parts":[{"type":"text","content":"Refund A-17."}]}]",
        "gen_ai.operation.name": "chat",
        "gen_ai.output.messages": "[{"role":"assistant","parts":[{"type":"tool_call","id":"call_1","name":"lookup_order","arguments":{"order_id":"A-17"}}],"finish_reason":"tool_calls"}]",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-5",
        "gen_ai.request.temperature": 0,
        "gen_ai.response.finish_reasons": [
          "tool_calls",
        ],
        "gen_ai.response.model": "gpt-5-2026-01-01",
        "gen_ai.tool.definitions": "[{"type":"function","name":"lookup_order"},{"type":"function","name":"refund_policy"},{"type":"function","name":"refund"}]",
        "gen_ai.usage.cache_read.input_tokens": 7,
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "http.response.status_code": 200,
        "server.address": "api.openai.com",
        "server.port": 443,
        "vitest_harvest.event": 0,
      }
    `)
  })

  it('parameters that OCI keeps one level down are told', () => {
    const chatRequest = { apiFormat: 'GENERIC', messages: [], isStream: true, maxTokens: 9, topK: 3, stop: ['.'] }
    const body = JSON.stringify({ servingMode: { servingType: 'ON_DEMAND', modelId: 'm' }, chatRequest })
    const request = readModelRequest({ method: 'POST', url: 'https://o.test/20231130/actions/chat', body })
    expect(requestParams(request!)).toMatchObject({
      'gen_ai.request.max_tokens': 9,
      'gen_ai.request.top_k': 3,
      'gen_ai.request.stop_sequences': ['.'],
      'gen_ai.request.stream': true,
    })
  })

  it('a tool call has its arguments, its result and the id its model gave it', () => {
    const tool = spansIn(runOf([{ calls: [order], together: false }]))[2]
    expect(tool!.attributes).toMatchInlineSnapshot(`
      {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.call.arguments": "{"order_id":"A-17"}",
        "gen_ai.tool.call.id": "call_1",
        "gen_ai.tool.call.result": "{"total":25}",
        "gen_ai.tool.name": "lookup_order",
        "gen_ai.tool.type": "function",
        "vitest_harvest.event": 4,
      }
    `)
  })

  it('the whole of a recorded run', () => {
    const told = spansIn(recorded).map(({ name, status, attributes, events = [] }) =>
      [name, attributes['error.type'], status?.message, ...events.map((event) => event.name)]
        .filter(Boolean)
        .join(' | '),
    )
    expect(told).toMatchInlineSnapshot(`
      [
        "invoke_agent refund | vitest_harvest.spawn | vitest_harvest.push | vitest_harvest.message | vitest_harvest.mark",
        "POST",
        "execute_tool lookup_order",
        "retrieval policies",
        "value flag",
        "POST",
        "tools/list",
        "execute_tool refund | RangeError | more than the order value",
        "POST | ECONNRESET | Error: read ECONNRESET",
        "POST | cancelled | the client gave up",
        "POST",
      ]
    `)
  })

  it('what happened in a tool stands below it', () => {
    const spans = spansIn(
      tapeOf([call(1, { settled: [9, 9] }), call(2, { in: 1, settled: [3, 3] }), call(4, { in: 7 })]),
    )
    const [root, outer, inner, lost] = spans
    expect(inner!.parentSpanId).toBe(outer!.spanId)
    expect(lost!.parentSpanId).toBe(root!.spanId)
  })

  it('moments of one burst keep their order, a nanosecond apart', () => {
    const burst = [call(1, { at: 5, settled: [3, 5] }), call(2, { at: 5, settled: [4, 5] })]
    const [, first, second] = spansIn(tapeOf(burst))
    expect([first, second].map((span) => [span!.startTimeUnixNano, span!.endTimeUnixNano])).toEqual([
      ['1772600767094000000', '1772600767094000002'],
      ['1772600767094000001', '1772600767094000003'],
    ])
  })

  it('a step that was never answered lasts to the end of what is known, and says that it is open', () => {
    const [root, open] = spansIn(tapeOf([call(1), call(2, { settled: [3, 40] })], { close: 'none' }))
    expect(open!.attributes['vitest_harvest.open']).toBe(true)
    expect(open!.endTimeUnixNano).toBe('1772600767129000000')
    expect(root!.attributes['vitest_harvest.truncated']).toBe(true)
  })

  it('a truncated tape is exported as far as it goes, with a note', () => {
    expect(exportTape(truncated, 'otlp', { withContent: true }).notes).toEqual([
      'the tape is truncated: the run is exported as far as it was recorded',
    ])
    expect(linesOf(truncated).flatMap(otlpMistakes)).toEqual([])
  })

  it('an imported tape says which of its times nobody recorded', () => {
    const missing = ['clock', 'start', 'timings']
    const imported = { format: 'vcrpy', grade: 'replayable', missing } as const
    const tape = tapeOf([call(1)], { header: { imported, startedAt: '1970-01-01T00:00:00.000Z' } })
    const [line] = linesOf(tape)
    expect(line).toContain('{"key":"vitest_harvest.times","value":{"stringValue":"order"}}')
    expect(exportTape(tape, 'otlp', { withContent: true }).notes).toEqual([
      'imported from vcrpy, replayable',
      'times were not recorded: those of the export tell the order and nothing else',
    ])
  })

  it('without content nothing that was said is there', () => {
    const secret = 'said-in-confidence'
    const tape = tapeOf(
      [
        ...runOf([{ calls: [{ ...order, args: { note: secret }, result: secret }], together: false }], secret).events,
        call(90, { error: { $type: 'error', name: 'Error', message: secret }, settled: [91, 91] }),
        { kind: 'mark', n: 92, at: 92, name: 'note', data: secret },
        { kind: 'message', n: 93, at: 93, from: 'a', to: 'b', body: secret },
        { kind: 'push', n: 94, at: 94, url: 'stdio:x', text: secret },
      ],
      { header: { input: secret }, close: { n: 99, at: 99, outcome: { status: 'threw', error: secret } } },
    )
    expect(linesOf(tape, true).join('')).toContain(secret)
    expect(linesOf(tape, false).join('')).not.toContain(secret)
    expect(spansIn(tape, false)[1]!.attributes).toMatchObject({ 'gen_ai.request.model': 'gpt-5' })
  })

  it('a mark that an application calls model is a mark', () => {
    const tape = tapeOf([{ kind: 'mark', n: 1, at: 1, name: 'model', data: { asked: 'gpt-5' } }])
    expect(spansIn(tape).map(({ name, events = [] }) => [name, events.length])).toEqual([['invoke_agent desk', 1]])
  })

  it('the same tape has the same spans each time', () => {
    const made = (): readonly string[] => linesOf(runOf([{ calls: [order], together: false }]))
    expect(made()).toEqual(made())
  })

  it('a long run is cut into requests an exporter would send', () => {
    const events = Array.from({ length: 1200 }, (_, n) => call(n, { settled: [n + 5000, n] }))
    expect(linesOf(tapeOf(events)).map((line) => line.split('"spanId"').length - 1)).toEqual([512, 512, 177])
  })

  it('says what the format cannot hold', () => {
    expect(exportTape(recorded, 'otlp', { withContent: true }).leftOut).toMatchInlineSnapshot(`
      [
        "the bodies of 5 plain requests",
        "6 clock, random and id reads",
      ]
    `)
  })
})
