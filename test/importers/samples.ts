import { gzipSync } from 'node:zlib'
import type { ImportFormat } from '../../src/importers/index.ts'
import { runSamples } from './run-samples.ts'
import { type TapeDraft, importRecording } from '../../src/importers/index.ts'
import { type ExchangeEvent, responseBytes } from '../../src/tape/index.ts'
import { traceSamples } from './trace-samples.ts'

/** What every sample asks, and what it is answered. */
export const asked = '{"model":"gpt-5","messages":[{"role":"user","content":"Look up A-17."}]}'
export const answered =
  '{"id":"chatcmpl-1","object":"chat.completion","model":"gpt-5-2026-01-01","choices":[{"index":0,"finish_reason":"tool_calls",' +
  '"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"lookup_order",' +
  '"arguments":"{\\"order_id\\":\\"A-17\\"}"}}]}}]}'
export const url = 'https://api.openai.com/v1/chat/completions'

const packed = gzipSync(answered)
const jsonHeader = { 'content-type': ['application/json'] }

/** A small recording of each format, all of the same call. */
export const samples: Readonly<Record<ImportFormat, string>> = {
  vcrpy: `interactions:
- request:
    body: '${asked}'
    headers:
      Content-Type:
      - application/json
    method: POST
    uri: ${url}
  response:
    body:
      string: !!binary |
        ${packed.toString('base64')}
    headers:
      Content-Encoding:
      - gzip
      Date:
      - Wed, 04 Mar 2026 05:06:07 GMT
    status:
      code: 200
      message: OK
version: 1
`,
  'ruby-vcr': `---
http_interactions:
- request:
    method: post
    uri: ${url}
    body:
      encoding: UTF-8
      string: '${asked}'
    headers:
      Content-Type:
      - application/json
  response:
    status:
      code: 200
      message: OK
    headers:
      Content-Type:
      - application/json
    body:
      encoding: ASCII-8BIT
      string: !binary |-
        ${Buffer.from(answered).toString('base64')}
  recorded_at: Wed, 04 Mar 2026 05:06:08 GMT
recorded_with: VCR 6.4.0
`,
  'go-vcr': `---
version: 2
interactions:
- id: 0
  request:
    body: '${asked}'
    headers:
      Content-Type:
      - application/json
    url: ${url}
    method: POST
  response:
    body: '${answered}'
    headers:
      Content-Type:
      - application/json
    status: 200 OK
    code: 200
    duration: 1m1.5s
`,
  har: JSON.stringify({
    log: {
      version: '1.2',
      creator: { name: 'Polly.JS', version: '6.0.6' },
      _recordingName: 'refund desk',
      entries: [
        {
          _id: 'a',
          request: {
            method: 'POST',
            url,
            headers: [{ name: 'Content-Type', value: 'application/json' }],
            postData: { mimeType: 'application/json', text: asked },
          },
          response: {
            status: 200,
            statusText: 'OK',
            headers: [{ name: 'content-encoding', value: 'gzip' }],
            content: {
              mimeType: 'application/json',
              encoding: 'base64',
              text: JSON.stringify([packed.subarray(0, 40), packed.subarray(40)].map((one) => one.toString('base64'))),
            },
          },
          startedDateTime: '2026-03-04T05:06:07.089Z',
          time: 820,
        },
      ],
    },
  }),
  nock: JSON.stringify([
    {
      scope: 'https://api.openai.com:443',
      method: 'POST',
      path: '/v1/chat/completions',
      body: JSON.parse(asked) as unknown,
      status: 200,
      response: JSON.parse(answered) as unknown,
      rawHeaders: ['Content-Type', 'application/json'],
      responseIsBinary: false,
    },
  ]),
  httprr: httprr([[asked, answered]]),
  'dd-test-agent': JSON.stringify({
    request: { method: 'POST', url, headers: { 'Content-Type': 'application/json' }, body: asked },
    response: { status: { code: 200, message: 'OK' }, headers: { 'Content-Type': 'application/json' }, body: answered },
  }),
  'undici-snapshot': JSON.stringify([
    {
      hash: 'x',
      snapshot: {
        request: { method: 'POST', url, headers: jsonHeader, body: asked },
        responses: [{ statusCode: 200, headers: jsonHeader, body: Buffer.from(answered).toString('base64') }],
        callCount: 0,
        timestamp: '2026-03-04T05:06:07.089Z',
      },
    },
  ]),
  aimock: JSON.stringify({
    fixtures: [
      {
        match: { userMessage: 'Look up A-17.' },
        response: { toolCalls: [{ name: 'lookup_order', arguments: '{"order_id":"A-17"}' }] },
      },
    ],
  }),
  ...traceSamples,
  ...runSamples,
}

/** A trace of httprr of POST requests and their answers. */
export function httprr(calls: readonly (readonly [asked: string, answered: string])[]): string {
  const records = calls.map(([request, response]) => {
    const sent = `POST ${url} HTTP/1.1\r\nHost: api.openai.com\r\nContent-Type: application/json\r\n\r\n${request}`
    const got = `HTTP/2.0 200 OK\r\nContent-Type: application/json\r\n\r\n${response}`
    return `${Buffer.byteLength(sent)} ${Buffer.byteLength(got)}\n${sent}${got}`
  })
  return `httprr trace v1\n${records.join('')}`
}

/** A cassette of vcrpy with one interaction, of the YAML of its body and its headers. */
export function cassette(body: string, headers = '{}'): string {
  return `interactions:
- request: {method: GET, uri: 'https://api.example/', headers: ${headers}, body: null}
  response:
    status: {code: 200, message: OK}
    headers: {}
    body:
      string: ${body}
version: 1
`
}

export function imported(content: string | Buffer, options: { format?: ImportFormat; file?: string } = {}): TapeDraft {
  return importRecording({ file: 'sample', bytes: Buffer.from(content), id: 'sample', agent: 'desk', ...options })
}

export function exchangesOf(tape: TapeDraft): readonly ExchangeEvent[] {
  return tape.events.filter((event) => event.kind === 'exchange')
}

/** The answer of the first exchange, as text. */
export function firstAnswer(tape: TapeDraft): string {
  return responseBytes(exchangesOf(tape)[0]!).toString('utf8')
}
