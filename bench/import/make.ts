import { closeSync, openSync, writeSync } from 'node:fs'

/** A family of formats: how a file of many calls begins, how each call stands in it, and how it ends. */
interface Family {
  readonly ending: string
  readonly head: string
  call(asked: string, answered: string, n: number): string
  readonly between: string
  readonly tail: string
}

const url = 'https://api.openai.com/v1/chat/completions'
const type = 'application/json'
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`
/** As most recorders of YAML write a long text: broken at spaces. */
const folded = (text: string): string => quoted(text).replace(/(.{70,90}) (?=\S)/g, '$1\n        ')
const json = (value: unknown): string => JSON.stringify(value)

/** Recordings as each recorder writes them, for files of any size. */
export const families: Readonly<Record<string, Family>> = {
  vcrpy: {
    ending: 'yaml',
    head: 'interactions:\n',
    call: (asked, answered) =>
      `- request:\n    body: ${folded(asked)}\n    headers:\n      content-type:\n      - ${type}\n    method: POST\n    uri: ${url}\n` +
      `  response:\n    body:\n      string: ${folded(answered)}\n    headers:\n      content-type:\n      - ${type}\n    status:\n      code: 200\n      message: OK\n`,
    between: '',
    tail: 'version: 1\n',
  },
  'ruby-vcr': {
    ending: 'yml',
    head: '---\nhttp_interactions:\n',
    call: (asked, answered) =>
      `- request:\n    method: post\n    uri: ${url}\n    body:\n      encoding: UTF-8\n      string: ${quoted(asked)}\n    headers:\n      Content-Type:\n      - ${type}\n` +
      `  response:\n    status:\n      code: 200\n      message: OK\n    headers:\n      Content-Type:\n      - ${type}\n    body:\n      encoding: UTF-8\n      string: ${quoted(answered)}\n` +
      '  recorded_at: Wed, 04 Mar 2026 05:06:08 GMT\n',
    between: '',
    tail: 'recorded_with: VCR 6.4.0\n',
  },
  'go-vcr': {
    ending: 'yaml',
    head: '---\nversion: 2\ninteractions:\n',
    call: (asked, answered, n) =>
      `- id: ${n}\n  request:\n    body: ${quoted(asked)}\n    headers:\n      Content-Type:\n      - ${type}\n    url: ${url}\n    method: POST\n` +
      `  response:\n    body: ${quoted(answered)}\n    headers:\n      Content-Type:\n      - ${type}\n    status: 200 OK\n    code: 200\n    duration: 820.25ms\n`,
    between: '',
    tail: '',
  },
  har: {
    ending: 'har',
    head: '{"log":{"version":"1.2","creator":{"name":"bench","version":"1"},"entries":[\n',
    call: (asked, answered) =>
      json({
        startedDateTime: '2026-03-04T05:06:07.089Z',
        time: 820,
        request: {
          method: 'POST',
          url,
          headers: [{ name: 'content-type', value: type }],
          postData: { mimeType: type, text: asked },
        },
        response: {
          status: 200,
          statusText: 'OK',
          headers: [{ name: 'content-type', value: type }],
          content: { mimeType: type, size: answered.length, text: answered },
        },
      }),
    between: ',\n',
    tail: ']}}\n',
  },
  nock: {
    ending: 'json',
    head: '[\n',
    call: (asked, answered) =>
      json({
        scope: 'https://api.openai.com:443',
        method: 'POST',
        path: '/v1/chat/completions',
        body: JSON.parse(asked) as unknown,
        status: 200,
        response: JSON.parse(answered) as unknown,
        rawHeaders: ['Content-Type', type],
        responseIsBinary: false,
      }),
    between: ',\n',
    tail: ']\n',
  },
  'undici-snapshot': {
    ending: 'json',
    head: '[\n',
    call: (asked, answered, n) =>
      json({
        hash: `h${n}`,
        snapshot: {
          request: { method: 'POST', url, headers: { 'content-type': type }, body: asked },
          responses: [
            {
              statusCode: 200,
              headers: { 'content-type': type },
              body: Buffer.from(answered).toString('base64'),
            },
          ],
          callCount: 1,
          timestamp: '2026-03-04T05:06:07.089Z',
        },
      }),
    between: ',\n',
    tail: ']\n',
  },
  httprr: {
    ending: 'httprr',
    head: 'httprr trace v1\n',
    call(asked, answered) {
      const sent = `POST ${url} HTTP/1.1\r\nHost: api.openai.com\r\nContent-Type: ${type}\r\n\r\n${asked}`
      const got = `HTTP/2.0 200 OK\r\nContent-Type: ${type}\r\n\r\n${answered}`
      return `${Buffer.byteLength(sent)} ${Buffer.byteLength(got)}\n${sent}${got}`
    },
    between: '',
    tail: '',
  },
}

/** Writes a recording of calls to a model until the file has so many bytes. Each call tells some ten turns again. */
export function writeRecording(path: string, { head, call, between, tail }: Family, bytes: number): void {
  const file = openSync(path, 'wx')
  let size = writeSync(file, head)
  for (let n = 0; size < bytes; n++) {
    const glue = n === 0 ? '' : between
    size += writeSync(file, glue + call(...conversationOf(n), n))
  }
  writeSync(file, tail)
  closeSync(file)
}

function conversationOf(n: number): readonly [asked: string, answered: string] {
  const turns = Array.from({ length: 10 }, (_, turn) => ({
    role: turn % 2 === 0 ? 'user' : 'assistant',
    content:
      `Turn ${turn} of talk ${n}: order ${1000 + n * 7 + turn} was shipped to Berlin — “broken”, the customer's word — and shall be refunded. `.repeat(
        4,
      ),
  }))
  const asked = json({ model: 'gpt-5', messages: [{ role: 'system', content: 'Be fair.' }, ...turns] })
  const call = { name: 'lookup_order', arguments: json({ order_id: `A-${n}` }) }
  const message = {
    role: 'assistant',
    content: `I look order ${n} up. `.repeat(40),
    tool_calls: [{ id: `call_${n}`, type: 'function', function: call }],
  }
  const answered = json({
    id: `chatcmpl-${n}`,
    object: 'chat.completion',
    model: 'gpt-5-2026-01-01',
    choices: [{ index: 0, finish_reason: 'tool_calls', message }],
    usage: { prompt_tokens: 900, completion_tokens: 100, total_tokens: 1000 },
  })
  return [asked, answered]
}
