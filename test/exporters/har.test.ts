import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exportTape } from '../../src/exporters/index.ts'
import { isReadable } from '../../src/wire/decode.ts'
import { importRecording } from '../../src/importers/index.ts'
import { withPlainType } from '../../src/importers/plain-type.ts'
import {
  encodeBytes,
  type ExchangeEvent,
  parseTape,
  readTape,
  requestBytes,
  responseBytes,
  serializeTape,
  type Tape,
  type TapeEvent,
} from '../../src/tape/index.ts'
import { arbitraryTape } from '../tape/arbitrary.ts'
import { otlpMistakes } from './otlp-shape.ts'
import { runOf, tapeOf, textOf } from './runs.ts'
import { linesOf } from './spans.ts'

const recorded = readTape(join(import.meta.dirname, '../history/v1.tape.jsonl'))

const harOf = (tape: Tape, withContent = true): string => textOf(exportTape(tape, 'har', { withContent }).pieces)

/** The tape the export of a tape becomes when it is imported. */
const back = (tape: Tape) =>
  importRecording({ file: 'x.har', bytes: Buffer.from(harOf(tape)), id: 'desk-1', agent: 'desk' })

/** What HAR can hold of an exchange; times to the millisecond, as it has them. */
function held(events: readonly TapeEvent[]): readonly object[] {
  const http = events.filter((event): event is ExchangeEvent => event.kind === 'exchange' && event.via !== 'stdio')
  const first = Math.trunc(http[0]?.at ?? 0)
  return http.map((event) => ({
    method: event.method,
    url: event.url,
    asked: requestBytes(event).toString('base64'),
    askedWith: event.request.headers,
    status: event.response?.status,
    statusText: event.response?.statusText ?? '',
    answered: event.response === undefined ? undefined : responseBytes(event).toString('base64'),
    // Bodies come back as they were read, with the type they plainly have where the tape named none.
    answeredWith:
      event.response &&
      withPlainType(
        event.response.headers.filter(([name]) => name !== 'content-encoding'),
        [responseBytes(event)],
      ),
    at: Math.trunc(event.at) - first,
    took: event.response?.end === undefined ? undefined : Math.round(event.response.end[1] - event.at),
  }))
}

const bytes = fc.oneof(
  fc.string({ minLength: 1 }).map((text) => Buffer.from(text)),
  fc.uint8Array({ minLength: 1, maxLength: 40 }).map((list) => Buffer.from(list)),
  fc.constantFrom('[1,2]', 'Hello', '{}', 'ok', 'data: [DONE]\n\n').map((text) => Buffer.from(text)),
)
const headers = fc.array(fc.tuple(fc.constantFrom('x-request-id', 'accept'), fc.stringMatching(/^[a-z0-9]{0,8}$/)), {
  maxLength: 3,
})

const exchanges: fc.Arbitrary<readonly ExchangeEvent[]> = fc
  .array(
    fc.record({
      method: fc.constantFrom('GET', 'POST', 'DELETE'),
      path: fc.constantFrom('/v1/chat', '/v1/embed?q=a%20b&q=c', '/'),
      asked: fc.option(bytes, { nil: undefined }),
      headers,
      status: fc.constantFrom(200, 404, 429),
      answered: fc.array(bytes, { maxLength: 3 }),
      encoding: fc.option(fc.constantFrom('br', 'gzip', 'deflate'), { nil: undefined }),
      pause: fc.integer({ min: 1, max: 500 }),
      took: fc.integer({ min: 0, max: 500 }),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((list) => {
    let at = 0
    return list.map(
      (
        { method, path, asked, headers: pairs, status, answered: chunks, encoding, pause, took },
        index,
      ): ExchangeEvent => {
        at += pause
        const n = index * 10
        const started = at
        at += took
        return {
          kind: 'exchange',
          n,
          at: started,
          via: 'undici',
          method,
          url: `https://api.example${path}`,
          request: { headers: pairs, ...(asked === undefined ? {} : { body: encodeBytes(asked) }) },
          response: {
            moment: [n + 1, started],
            status,
            // Other bytes than text under such a header are what it says: compressed.
            headers:
              encoding !== undefined && chunks.every(isReadable) ? [...pairs, ['content-encoding', encoding]] : pairs,
            chunks: chunks.map((chunk, i) => [n + 2 + i, at, encodeBytes(chunk)]),
            end: [n + 9, at],
          },
        }
      },
    )
  })

describe('a tape as HAR', () => {
  it('brings back which requests were under way at once, and which was answered first', () => {
    const at = (n: number, started: number, [endN, ended]: readonly [number, number]): ExchangeEvent => ({
      kind: 'exchange',
      n,
      at: started,
      via: 'undici',
      method: 'GET',
      url: `https://api.example/${n}`,
      request: { headers: [] },
      response: { moment: [endN - 1, ended], status: 200, headers: [], chunks: [], end: [endN, ended] },
    })
    const tape = tapeOf([at(0, 0, [5, 90]), at(1, 10, [3, 40]), at(6, 90.5, [8, 120])])
    const moments = ({ events }: { readonly events: readonly TapeEvent[] }): readonly string[] =>
      (events as readonly ExchangeEvent[])
        .flatMap(({ n, url, response }) => [[n, `asked ${url}`] as const, [response!.end![0], `told ${url}`] as const])
        .sort(([a], [b]) => a - b)
        .map(([, what]) => what.replace('https://api.example/', ''))
    expect(moments(back(tape))).toEqual(['asked 0', 'asked 1', 'told 1', 'told 0', 'asked 6', 'told 6'])
    expect(moments(tape)).toEqual(moments(back(tape)))
  })

  it('for every exchange, importing the export gives the same requests, answers, order and times', () => {
    fc.assert(
      fc.property(exchanges, (events) => {
        const tape = tapeOf(events)
        const again = back(tape)
        expect(held(again.events)).toEqual(held(tape.events))
        expect(again.header.startedAt).toBe(new Date(Date.parse(tape.header.startedAt) + events[0]!.at).toISOString())
      }),
      { numRuns: 100 },
    )
  })

  it('for every tape there is one, with an entry for each request over HTTP', () => {
    fc.assert(
      fc.property(arbitraryTape, ({ header, events, close }) => {
        const { log } = JSON.parse(harOf(parseTape(serializeTape(header, events, close), 'x'))) as {
          log: { entries: [] }
        }
        expect(log.entries).toHaveLength(held(events).length)
      }),
      { numRuns: 60 },
    )
  })

  it.each([
    [0, '1969-01-01T00:00:00.000Z'],
    [1e13, '2026-03-04T05:06:07.089Z'],
  ])('a time no date can tell (%d after %s) is none that stops the export', (at, startedAt) => {
    const tape = tapeOf([{ ...answered(Buffer.from('{}')), at }], { header: { startedAt } })
    const { log } = JSON.parse(harOf(tape)) as { log: { entries: { startedDateTime: string; time: unknown }[] } }
    expect(log.entries).toMatchObject([
      { startedDateTime: expect.stringMatching(/Z$/) as string, time: expect.any(Number) as number },
    ])
    expect(linesOf(tape).flatMap(otlpMistakes)).toEqual([])
  })

  it('a recorded run comes back, but for what did not come to its end', () => {
    const whole = recorded.events.filter((event) => event.kind !== 'exchange' || event.response?.end !== undefined)
    const [before, after] = [held(recorded.events), held(back(recorded).events)]
    expect(after).toHaveLength(before.length)
    const isWhole = ({ took }: { readonly took?: unknown }): boolean => took !== undefined
    expect(after.filter(isWhole).map(withoutEncoding)).toEqual(before.filter(isWhole).map(withoutEncoding))
    expect(held(whole).length).toBeLessThan(before.length)
  })

  it('an entry has every field the format wants', () => {
    const { log } = JSON.parse(harOf(runOf([]))) as { log: Record<string, unknown> & { entries: object[] } }
    expect(Object.keys(log)).toEqual(['version', 'creator', 'pages', '_recordingName', 'comment', 'entries'])
    expect(log.entries[0]).toMatchInlineSnapshot(`
      {
        "_n": 0,
        "cache": {},
        "request": {
          "bodySize": 437,
          "cookies": [],
          "headers": [
            {
              "name": "content-type",
              "value": "application/json",
            },
          ],
          "headersSize": -1,
          "httpVersion": "HTTP/1.1",
          "method": "POST",
          "postData": {
            "mimeType": "application/json",
            "text": "{"model":"gpt-5","messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"Refund A-17."}],"temperature":0,"tools":[{"type":"function","function":{"name":"lookup_order","parameters":{"type":"object","properties":{}}}},{"type":"function","function":{"name":"refund_policy","parameters":{"type":"object","properties":{}}}},{"type":"function","function":{"name":"refund","parameters":{"type":"object","properties":{}}}}]}",
          },
          "queryString": [],
          "url": "https://api.openai.com/v1/chat/completions",
        },
        "response": {
          "bodySize": 266,
          "content": {
            "mimeType": "application/json",
            "size": 266,
            "text": "{"id":"chatcmpl-0","object":"chat.completion","model":"gpt-5-2026-01-01","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Done."}}],"usage":{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":7}}}",
          },
          "cookies": [],
          "headers": [
            {
              "name": "content-type",
              "value": "application/json",
            },
          ],
          "headersSize": -1,
          "httpVersion": "HTTP/1.1",
          "redirectURL": "",
          "status": 200,
          "statusText": "OK",
        },
        "startedDateTime": "2026-03-04T05:06:07.090Z",
        "time": 1.25,
        "timings": {
          "blocked": -1,
          "connect": -1,
          "dns": -1,
          "receive": 0,
          "send": 0,
          "ssl": -1,
          "wait": 1.25,
        },
      }
    `)
  })

  it('a compressed answer stands there as its client read it', () => {
    const body = '[1,2]'
    const packed = Buffer.from('CwKAWzEsMl0D', 'base64')
    const of = (chunk: Buffer): Tape =>
      tapeOf([
        { ...answered(chunk), response: { ...answered(chunk).response!, headers: [['content-encoding', 'br']] } },
      ])
    for (const chunk of [packed, Buffer.from(body)]) {
      expect(harOf(of(chunk))).toContain(`"text":"${body}"`)
      expect(held(back(of(chunk)).events)).toMatchObject([{ answered: Buffer.from(body).toString('base64') }])
    }
  })

  it('an answer that broke off is not served as a whole one', () => {
    const { end: _, ...cut } = answered(Buffer.from('{"half":')).response!
    const tape = tapeOf([{ ...answered(Buffer.from('')), response: cut, aborted: [9, 20] }])
    expect(JSON.parse(harOf(tape))).toMatchObject({
      log: { entries: [{ response: { _error: 'the client gave up' } }] },
    })
    expect(back(tape).header.imported).toMatchObject({ grade: 'timeline-only' })
    expect(back(tape).events[0]).not.toHaveProperty('response.end')
  })

  it('a stream whose client hung up when the model had finished is whole', () => {
    const said = { choices: [{ index: 0, delta: { content: 'Done.' }, finish_reason: 'stop' }] }
    const { end: _, ...stream } = answered(Buffer.from(`data: ${JSON.stringify(said)}\n\ndata: [DONE]\n\n`)).response!
    const event: ExchangeEvent = {
      ...answered(Buffer.from('')),
      method: 'POST',
      url: 'https://api.openai.com/v1/chat/completions',
      request: { headers: [], body: '{"model":"gpt-5","stream":true,"messages":[{"role":"user","content":"Hi."}]}' },
      response: { ...stream, headers: [['content-type', 'text/event-stream']] },
      aborted: [9, 20],
    }
    const again = back(tapeOf([event]))
    expect(harOf(tapeOf([event]))).not.toContain('_error')
    expect(again.header.imported).toMatchObject({ grade: 'replayable' })
    expect(held(again.events)).toMatchObject([{ answered: responseBytes(event).toString('base64') }])
  })

  it('a request without an answer has the status 0, and why', () => {
    const error = { name: 'Error', message: 'read ECONNRESET', code: 'ECONNRESET', moment: [9, 20] as const }
    const { response: _, ...asked } = answered(Buffer.from(''))
    const tape = tapeOf([{ ...asked, error }])
    const { log } = JSON.parse(harOf(tape)) as { log: { entries: { response: object; time: number }[] } }
    expect(log.entries[0]).toMatchObject({ time: 10, response: { status: 0, _error: 'Error: read ECONNRESET' } })
    expect(back(tape).events[0]).not.toHaveProperty('response')
  })

  it('times nobody recorded stay unknown', () => {
    const imported = { format: 'vcrpy', grade: 'replayable', missing: ['start', 'timings'] } as const
    const tape = tapeOf([answered(Buffer.from('{}'))], { header: { imported, startedAt: '1970-01-01T00:00:00.000Z' } })
    expect(JSON.parse(harOf(tape))).toMatchObject({
      log: { entries: [{ _missing: ['start', 'timings'], comment: 'not recorded: start, timings' }] },
    })
    expect(back(tape).header.imported?.missing).toEqual(expect.arrayContaining(['start', 'timings']))
  })

  it('a tape whose bodies were written anew is worth no more after it came back', () => {
    const imported = { format: 'nock', grade: 're-drivable', missing: ['request-bytes', 'answer-bytes'] } as const
    const tape = tapeOf([{ ...answered(Buffer.from('{}')), request: { headers: [], body: '{}' } }], {
      header: { imported },
    })
    expect(back(tape).header.imported).toMatchObject({ grade: 're-drivable' })
    expect(back(tape).header.imported?.missing).toEqual(expect.arrayContaining([...imported.missing]))
    const unread = { format: 'undici-snapshot', grade: 'signature-only', missing: ['requests'] } as const
    expect(back(tapeOf([answered(Buffer.from('{}'))], { header: { imported: unread } })).header.imported).toMatchObject(
      { grade: 'signature-only' },
    )
  })

  it('has no header that was not sent', () => {
    const sent = ['accept', '*/*'] as const
    const request = { headers: [sent, [':trailers', 'x-sum'], [':sent-to', 'http://10.0.0.1']] as const }
    expect(harOf(tapeOf([{ ...answered(Buffer.from('{}')), request }]))).not.toMatch(/"name":\s*":/)
  })

  it('a request whose body was left out can be served to nobody', () => {
    const tape = tapeOf([{ ...answered(Buffer.from('')), request: { headers: [], body: 'asked' } }])
    const text = harOf(tape, false)
    const again = importRecording({ file: 'x.har', bytes: Buffer.from(text), id: 'x', agent: 'x' })
    expect(again.header.imported).toMatchObject({ grade: 'signature-only' })
  })

  it('what it cannot hold is named in it, and said', () => {
    const { leftOut } = exportTape(recorded, 'har', { withContent: true })
    expect(leftOut).toMatchInlineSnapshot(`
      [
        "2 tool calls",
        "1 retrieval",
        "1 named value",
        "6 clock, random and id reads",
        "1 message",
        "1 mark",
        "1 child process",
        "1 pushed line",
        "1 message to a child process",
        "the pieces of 3 streamed answers",
        "the input",
        "the outcome",
      ]
    `)
    const { log } = JSON.parse(harOf(recorded)) as { log: { comment: string } }
    for (const what of leftOut) expect(log.comment).toContain(`left out: ${what}`)
  })

  it('without content there is no body and no query', () => {
    const tape = tapeOf([{ ...answered(Buffer.from('the answer')), url: 'https://api.example/v1?q=the+question' }])
    const text = harOf(tape, false)
    expect(text).not.toMatch(/the answer|question/)
    expect(JSON.parse(text)).toMatchObject({ log: { entries: [{ response: { content: { size: 10 } } }] } })
  })
})

function answered(body: Buffer): ExchangeEvent {
  return {
    kind: 'exchange',
    n: 1,
    at: 10,
    via: 'undici',
    method: 'GET',
    url: 'https://api.example/v1',
    request: { headers: [] },
    response: {
      moment: [2, 15],
      status: 200,
      headers: [],
      chunks: body.length === 0 ? [] : [[3, 20, encodeBytes(body)]],
      end: [4, 20],
    },
  }
}

function withoutEncoding({ answeredWith, ...rest }: { answeredWith?: readonly (readonly [string, string])[] }): object {
  return { ...rest, answeredWith: answeredWith?.filter(([name]) => !name.startsWith('content-')) }
}
