import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type ImportFormat, importFormats, importRecordings } from '../../src/importers/index.ts'
import { bytesFormats, formats } from '../../src/importers/formats.ts'
import { documentOf } from '../../src/importers/read.ts'
import { parseTape, serializeTape } from '../../src/tape/index.ts'
import { answered, asked, cassette, exchangesOf, firstAnswer, httprr, imported, samples, url } from './samples.ts'
import { traceOf } from '../../src/trace/index.ts'

const exact = ['vcrpy', 'ruby-vcr', 'go-vcr', 'har', 'httprr', 'dd-test-agent', 'undici-snapshot'] as const

describe('a recording of each format', () => {
  it.each(importFormats)('%s is known by its content', (format) => {
    expect(imported(samples[format]).facts.format).toBe(format)
  })

  it.each(importFormats)('%s is taken for no other', (format) => {
    const bytes = Buffer.from(samples[format])
    const raw = bytesFormats.filter(({ recognisesBytes }) => recognisesBytes(bytes))
    const found = raw.length > 0 ? raw : formats.filter(({ recognises }) => recognises(documentOf(bytes, 'sample')))
    expect(found.map(({ name }) => name)).toEqual([format])
  })

  it('each is read by one reader', () => {
    expect([...formats, ...bytesFormats].map(({ name }) => name).sort()).toEqual([...importFormats].sort())
  })

  it.each(exact)('%s keeps the bytes of the call', (format) => {
    const tape = imported(samples[format])
    const [call] = exchangesOf(tape)
    expect(call).toMatchObject({ method: 'POST', url, request: { body: asked }, response: { status: 200 } })
    expect(firstAnswer(tape)).toBe(answered)
    expect(tape.facts).toMatchObject({ grade: 'replayable', exchanges: 1, modelCalls: 1, tools: ['lookup_order'] })
  })

  it('nock has a JSON body as its value: the answer says the same in other bytes', () => {
    const tape = imported(samples.nock)
    expect(JSON.parse(firstAnswer(tape))).toEqual(JSON.parse(answered))
    expect(tape.header.imported).toMatchObject({ grade: 're-drivable' })
    expect(tape.facts.missing).toEqual(expect.arrayContaining(['answer-bytes', 'request-bytes']))
  })

  it('aimock tells which tools were called, and nothing of requests and answers', () => {
    const tape = imported(samples.aimock)
    expect(tape.facts).toMatchObject({ grade: 'signature-only', exchanges: 0, tools: ['lookup_order'] })
    expect(tape.events).toEqual([
      { kind: 'message', n: 0, at: 0, from: 'user', to: 'model', body: 'Look up A-17.' },
      { kind: 'tool', n: 1, at: 1, name: 'lookup_order', args: { order_id: 'A-17' } },
    ])
  })

  it('an answer of aimock is read in the order of its blocks, or its text before its calls', () => {
    const call = { name: 'lookup_order', arguments: '{"order_id":"A-17"}' }
    const fixtures = [
      {
        match: {},
        response: {
          blocks: [
            { type: 'toolCall', ...call },
            { type: 'text', text: 'Looking.' },
          ],
        },
      },
      { match: {}, response: { toolCalls: [call], content: 'Looking again.', blocks: [] } },
    ]
    expect(imported(JSON.stringify({ fixtures })).events).toMatchObject([
      { kind: 'tool', name: 'lookup_order', args: { order_id: 'A-17' } },
      { kind: 'message', from: 'model', body: 'Looking.' },
      { kind: 'message', from: 'model', body: 'Looking again.' },
      { kind: 'tool', name: 'lookup_order' },
    ])
  })

  it('aimock names the model of what it recorded, and which call was asked for', () => {
    const match = { userMessage: 'Look up A-17.', model: 'gpt-5', turnIndex: 0, hasToolResult: false }
    const calls = [{ id: 'call_1', name: 'lookup_order', arguments: '{"order_id":"A-17"}' }]
    const response = { toolCalls: calls, usage: { prompt_tokens: 11, completion_tokens: 5 } }
    const tape = imported(JSON.stringify({ fixtures: [{ match, response, recordedTimings: { totalDurationMs: 20 } }] }))
    expect(tape.facts).toMatchObject({ grade: 'signature-only', modelCalls: 1, tools: ['lookup_order'] })
    expect(tape.events).toEqual([
      { kind: 'message', n: 0, at: 0, from: 'user', to: 'model', body: 'Look up A-17.' },
      {
        kind: 'mark',
        n: 1,
        at: 0,
        name: 'model',
        data: { asked: 'gpt-5', usage: { inputTokens: 11, outputTokens: 5 }, took: 20 },
      },
      { kind: 'tool', n: 2, at: 0, asked: 1, name: 'lookup_order', args: { order_id: 'A-17' } },
    ])
  })

  it.each(importFormats)('%s makes a whole tape that is read again as it was', (format) => {
    const { header, events, close } = imported(samples[format])
    const tape = parseTape(serializeTape(header, events, close), 'sample')
    expect(tape.events).toEqual(events)
    expect(tape.header).toEqual(header)
  })

  it('a file compressed as a whole is read as what is in it', () => {
    expect(firstAnswer(imported(gzipSync(samples.httprr)))).toBe(answered)
  })

  it('--format overrides what the content says', () => {
    const fixtures = JSON.stringify([{ match: {}, response: { content: 'Hello' } }])
    expect(() => imported(fixtures)).toThrow('HARVEST_IMPORT_UNKNOWN')
    expect(imported(fixtures, { format: 'aimock' }).events).toMatchObject([{ kind: 'message', body: 'Hello' }])
    expect(() => imported(samples.vcrpy, { format: 'go-vcr' })).toThrow('interactions[0].request.url')
    expect(() => imported(samples.vcrpy, { format: 'httprr' })).toThrow('HARVEST_IMPORT_SHAPE')
  })
})

describe('vcrpy', () => {
  it('parsed_body is written as JSON, with whole numbers that JavaScript cannot hold', () => {
    const tape = imported(`interactions:
- request:
    method: POST
    uri: https://api.example/
    headers: {}
    parsed_body: {n: 1, id: 12345678901234567890}
  response:
    status: {code: 200, message: OK}
    headers: {}
    parsed_body: {yes: true, at: 2026-03-04, delta: "."}
version: 1
`)
    expect(exchangesOf(tape)[0]!.request.body).toBe('{"n":1,"id":12345678901234567890}')
    expect(firstAnswer(tape)).toBe('{"yes":true,"at":"2026-03-04","delta":"."}')
    expect(tape.facts.grade).toBe('re-drivable')
  })

  it('its JSON serializer and the names of old httpx are understood', () => {
    const interaction = { request: { method: 'GET', uri: 'https://api.example/', headers: {}, body: null } }
    const old = { ...interaction, response: { status_code: 200, headers: {}, content: 'old' } }
    const json = {
      ...interaction,
      response: { status: { code: 200, message: null }, headers: {}, body: { base64_string: 'bmV3' } },
    }
    const tape = imported(JSON.stringify({ version: 1, interactions: [old, json] }))
    expect(exchangesOf(tape).map(({ response }) => response?.chunks[0]?.[2])).toEqual(['old', 'new'])
  })

  it('another version is refused', () => {
    expect(() => imported(cassette("''").replace('version: 1', 'version: 3'))).toThrow('HARVEST_IMPORT_VERSION')
  })
})

describe('HAR', () => {
  const entry = (more: object, startedDateTime = '2026-03-04T05:06:07.000Z'): object => ({
    startedDateTime,
    time: 10,
    request: { method: 'GET', url: 'https://api.example/', headers: [{ name: ':path', value: '/' }] },
    response: { status: 200, headers: [], content: { size: 5, text: 'hello' }, ...more },
  })
  const har = (...entries: readonly object[]): string => JSON.stringify({ log: { version: '1.2', entries } })

  it('entries a day apart are of several runs, but for those of Polly.JS, which renews single ones', () => {
    const days = [
      entry({}, '2026-03-04T05:06:07.000Z'),
      entry({}, '2026-03-04T23:06:07.000Z'),
      entry({}, '2026-03-06T05:06:07.000Z'),
    ]
    const bytes = (text: string) => ({ file: 'sample', bytes: Buffer.from(text), id: 'x', agent: 'a' })
    const runs = [...importRecordings(bytes(har(...days))).tapes]
    expect(runs.map(({ events, header }) => [header.startedAt.slice(0, 10), events.length])).toEqual([
      ['2026-03-04', 2],
      ['2026-03-06', 1],
    ])
    const untimed = { ...entry({}), startedDateTime: undefined }
    expect(
      [...importRecordings(bytes(har(untimed, ...days, untimed))).tapes].map(({ events }) => events.length),
    ).toEqual([3, 2])
    const polly = JSON.stringify({ log: { version: '1.2', creator: { name: 'Polly.JS' }, entries: days } })
    expect(importRecordings(bytes(polly)).count).toBe(1)
  })

  it('entries are put in the order of their times', () => {
    const tape = imported(
      har(
        entry({ content: { text: 'second' } }, '2026-03-04T05:06:08.000Z'),
        entry({ content: { text: 'first' } }, '2026-03-04T05:06:07.000Z'),
      ),
    )
    expect(exchangesOf(tape).map(({ at, response }) => [at, response?.chunks[0]?.slice(1)])).toEqual([
      [0, [10, 'first']],
      [1000, [1010, 'second']],
    ])
    expect(tape.header.startedAt).toBe('2026-03-04T05:06:07.000Z')
    expect(tape.facts.missing).not.toContain('timings')
  })

  it('entries that were under way at once stay so, and come to their ends in the order of their times', () => {
    const at = (ms: number, time: number, text: string): object => ({
      ...entry({ content: { text } }, new Date(Date.UTC(2026, 2, 4) + ms).toISOString()),
      time,
    })
    const tape = imported(har(at(0, 500, 'slow'), at(20, 100, 'quick'), at(120, 380, 'as slow')))
    const chunks = exchangesOf(tape).map(({ n, at: issued, response }) => [n, issued, ...response!.chunks])
    expect(chunks).toEqual([
      [0, 0, [7, 500, 'slow']],
      [1, 20, [3, 120, 'quick']],
      [5, 120.001, [10, 500.001, 'as slow']],
    ])
  })

  it('tools that models asked for in answers under way at once are concurrent, in others they are not', () => {
    const chat = (name: string, ms: number, time: number): object => {
      const call = { id: name, type: 'function', function: { name, arguments: '{}' } }
      const text = JSON.stringify({ choices: [{ message: { tool_calls: [call] }, finish_reason: 'tool_calls' }] })
      const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: name }] })
      return {
        startedDateTime: new Date(Date.UTC(2026, 2, 4) + ms).toISOString(),
        time,
        request: { method: 'POST', url: 'https://api.example/chat/completions', headers: [], postData: { text: body } },
        response: { status: 200, headers: [], content: { text } },
      }
    }
    const layers = (...entries: readonly object[]): unknown =>
      traceOf(imported(har(...entries)).events).layers.map((layer) => layer.map(({ name }) => name))
    expect(layers(chat('weather', 0, 300), chat('traffic', 10, 200))).toEqual([['weather', 'traffic']])
    expect(layers(chat('weather', 0, 300), chat('traffic', 301, 200))).toEqual([['weather'], ['traffic']])
  })

  it('chunks that Polly.JS kept of a body that is not compressed stay apart', () => {
    const text = JSON.stringify([Buffer.from('he').toString('base64'), Buffer.from('llo').toString('base64')])
    const tape = imported(har(entry({ content: { encoding: 'base64', text } })))
    expect(exchangesOf(tape)[0]!.response!.chunks.map(([, , bytes]) => bytes)).toEqual(['he', 'llo'])
    expect(tape.facts.missing).not.toContain('chunks')
  })

  it('in YAML it is the same, with JSON bodies as values', () => {
    const tape = imported(`log:
  version: "1.2"
  entries:
    - request:
        method: POST
        url: https://api.example/
        headers: []
        postData:
          mimeType: application/json
          textJSON: {a: 1}
      response:
        status: 200
        headers: []
        content: {mimeType: text/plain, text: hello}
`)
    expect(exchangesOf(tape)[0]!.request.body).toBe('{"a":1}')
    expect(firstAnswer(tape)).toBe('hello')
  })
})

describe('nock', () => {
  const one = (more: object): string =>
    JSON.stringify([{ scope: 'https://api.example:443', method: 'GET', path: '/', body: '', status: 200, ...more }])

  it('hex is bytes where it says so, and text where it does not', () => {
    expect(firstAnswer(imported(one({ response: '6869', responseIsBinary: true })))).toBe('hi')
    expect(firstAnswer(imported(one({ response: '6869', responseIsBinary: false })))).toBe('6869')
  })

  it('the chunks of a compressed body are put together', () => {
    const bytes = gzipSync('a long enough answer')
    const response = [bytes.subarray(0, 12).toString('hex'), bytes.subarray(12).toString('hex')]
    const tape = imported(one({ response, rawHeaders: ['Content-Encoding', 'gzip'] }))
    expect(firstAnswer(tape)).toBe('a long enough answer')
    expect(exchangesOf(tape)[0]!.response!.headers).toEqual([])
  })

  it('a list that is the answer stays one', () => {
    expect(firstAnswer(imported(one({ response: ['6869'] })))).toBe('["6869"]')
  })
})

describe('a stream of several YAML documents', () => {
  const runs = (text: string): number =>
    importRecordings({ file: 'sample', bytes: Buffer.from(text), id: 'x', agent: 'a' }).count

  it('holds a run for each', () => {
    expect(runs(`---\n${cassette('one')}---\n${cassette('two')}`)).toBe(2)
    expect(runs(`# by hand\n---\n${cassette('one')}...\n---\n${cassette('two')}---\n`)).toBe(2)
    expect(runs(`---\n${cassette('one')}`)).toBe(1)
  })

  it('also in a file of Windows, with directives, of several recorders, and with an empty one between', () => {
    const two = `---\n${cassette('one')}---\n${cassette('two')}`
    expect(runs(two.replaceAll('\n', '\r\n'))).toBe(2)
    expect(runs(`\uFEFF%YAML 1.1\n${two.replace('---\n', '---\n').replace(/\n---/, '\n...\n%YAML 1.1\n---')}`)).toBe(2)
    expect(runs(`${samples['go-vcr']}---\n${cassette('two')}`)).toBe(2)
    expect(runs(`---\n${cassette('one')}---\nnull\n---\n${cassette('two')}`)).toBe(2)
  })

  it('says in which line one begins that is no recording', () => {
    const first = `---\n${cassette('one')}---\n`
    const line = first.split('\n').length
    expect(() => runs(`${first}hello: world\n`)).toThrow(`sample:${line}`)
    expect(() => runs(`${first}hello: world\n`)).toThrow('no known format')
  })

  it('says in which line one of them is wrong', () => {
    const first = cassette('one')
    const line = `---\n${first}---\n`.split('\n').length
    // The parser notices where the text ends.
    expect(() => runs(`---\n${first}---\na: [1\n`)).toThrow(`sample:${line + 1}`)
  })
})

describe('httprr', () => {
  it('takes the framing of chunks off', () => {
    const trace = httprr([['', 'x']]).replace(/\d+ \d+\n/, '')
    const [sent, got] = trace.slice('httprr trace v1\n'.length).split('HTTP/2.0')
    const chunked = `HTTP/2.0${got!.replace('Content-Type: application/json', 'Transfer-Encoding: chunked').replace(/x$/, '3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n')}`
    const tape = imported(`httprr trace v1\n${sent!.length} ${chunked.length}\n${sent}${chunked}`)
    expect(firstAnswer(tape)).toBe('abcde')
  })

  it.each([
    ['line feeds alone, as git writes them', (text: string) => text.replaceAll('\r\n', '\n')],
    ['a blank line at its end', (text: string) => `${text}\n`],
    ['lengths in lines of Windows', (text: string) => text.replace(/(\d+ \d+)\n/g, '$1\r\n')],
    ['a byte order mark', (text: string) => `\uFEFF${text}`],
  ])('reads a trace with %s', (_, turned) => {
    const trace = turned(
      httprr([
        [asked, answered],
        ['{"n": 2}', '{"two":\n\n2}'],
      ]),
    )
    expect(exchangesOf(imported(trace))).toHaveLength(2)
    expect(firstAnswer(imported(trace))).toBe(answered)
  })

  it('reads chunks and lines of bodies whose line ends git turned into line feeds', () => {
    const body = 'data: {"n":1}\r\n\r\ndata: 2\r\n\r\n'
    const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    const sent = `POST ${url} HTTP/1.1\r\nHost: a.example\r\n\r\n{"n":1}`
    const got = (more: string, text: string) => `HTTP/2.0 200 OK\r\n${more}Date: x\r\n\r\n${text}`
    for (const answer of [got('', `${body}{}`), got('', body)]) {
      const call = `${sent.length} ${answer.length}\n${sent}${answer}`
      const trace = `httprr trace v1\n${call}${call}`.replaceAll('\r\n', '\n')
      expect(exchangesOf(imported(trace)).map(({ response }) => response?.chunks[0]?.[2])).toEqual(
        Array.from({ length: 2 }, () => answer.slice(answer.indexOf('data')).replaceAll('\r\n', '\n')),
      )
    }
    const chunked = got('Transfer-Encoding: chunked\r\n', chunks.replace(body, 'x'.repeat(body.length)))
    const call = `${sent.length} ${chunked.length}\n${sent}${chunked}`
    const trace = `httprr trace v1\n${call}${call}`.replaceAll('\r\n', '\n')
    expect(exchangesOf(imported(trace)).map(({ response }) => response?.chunks[0]?.[2])).toEqual(
      Array.from({ length: 2 }, () => 'x'.repeat(body.length)),
    )
  })

  it('a trace that ends early says at which byte', () => {
    const cut = samples.httprr.slice(0, -10)
    expect(() => imported(cut)).toThrow(/sample, byte 16[\s\S]*the trace ends before the call does/)
  })
})

describe('undici', () => {
  it('a request whose body it could not read makes the recording unfit for replay', () => {
    const tape = imported(samples['undici-snapshot'].replace(JSON.stringify(asked), '"[object AsyncGenerator]"'))
    expect(tape.facts.grade).toBe('signature-only')
    expect(tape.facts.missing).toContain('requests')
    expect(exchangesOf(tape)[0]!.request).not.toHaveProperty('body')
  })

  it('each answer to the same request is a call', () => {
    const [{ hash, snapshot }] = JSON.parse(samples['undici-snapshot']) as [
      { hash: string; snapshot: { responses: [object] } },
    ]
    const twice = { hash, snapshot: { ...snapshot, responses: [snapshot.responses[0], snapshot.responses[0]] } }
    expect(imported(JSON.stringify([twice])).facts.exchanges).toBe(2)
    expect(imported(JSON.stringify({ [hash]: twice.snapshot })).facts.format).toBe(
      'undici-snapshot' satisfies ImportFormat,
    )
  })
})

describe('a form of several parts', () => {
  it('has the boundary a recorder gives it, so that a replay knows it again', () => {
    const form = (boundary: string): string => `--${boundary}\r\nhi\r\n--${boundary}--\r\n`
    const text = samples['dd-test-agent']
      .replace('application/json', 'multipart/form-data; boundary=48ec76c6')
      .replace(
        JSON.stringify(asked),
        JSON.stringify(`\ud800base64:${Buffer.from(form('48ec76c6')).toString('base64')}`),
      )
    expect(exchangesOf(imported(text))[0]!.request).toEqual({
      headers: [['content-type', 'multipart/form-data; boundary=----harvest-boundary']],
      body: form('----harvest-boundary'),
    })
  })
})

describe('Datadog', () => {
  it('a body that is no text begins with base64:', () => {
    const tape = imported(samples['dd-test-agent'].replace(JSON.stringify(answered), '"base64:aGk="'))
    expect(firstAnswer(tape)).toBe('hi')
  })
})
