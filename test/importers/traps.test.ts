import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { cassette, exchangesOf, firstAnswer, imported, samples } from './samples.ts'

/** Two interactions whose item texts are given. */
function list(...bodies: readonly string[]): string {
  const items = bodies.map(
    (body) => `- request: {method: GET, uri: 'https://api.example/', headers: {}, body: null}
  response:
    status: {code: 200, message: OK}
    headers: {}
    body:
      string: ${body}
`,
  )
  return `interactions:\n${items.join('')}version: 1\n`
}

const answers = (text: string): readonly unknown[] =>
  exchangesOf(imported(text)).map(({ response }) => response?.chunks[0]?.[2])

describe('YAML as recorders write it', () => {
  it.each([
    ['n', 'n'],
    ["'on'", 'on'],
    ['"."', '.'],
    ['2026-03-04', '2026-03-04'],
    ['0o17', '15'],
    ['|-\n        two\n        lines', 'two\nlines'],
    ['!!str 12', '12'],
    ['!!python/unicode "text"', 'text'],
    ['!!python/str plain', 'plain'],
    ['!!binary aGk=', 'hi'],
    ['!binary |-\n        aGk=', 'hi'],
    ['!ruby/string:Blob hi', 'hi'],
  ])('the body %s is %s', (yaml, text) => {
    expect(firstAnswer(imported(cassette(yaml)))).toBe(text)
  })

  it("header names of Python's multidict are plain text", () => {
    const headers = `
      ? !!python/object/apply:multidict._multidict.istr
      - Accept
      : - application/json
      !!python/unicode 'X-Request-Id': !!python/tuple [a, b]`
    const text = cassette("''").replace('headers: {}, body: null}', `body: null}`)
    const block = text.replace(
      /- request: .*\n/,
      `- request:\n    method: GET\n    uri: https://api.example/\n    headers:${headers}\n`,
    )
    expect(exchangesOf(imported(block))[0]!.request.headers).toEqual([
      ['accept', 'application/json'],
      ['x-request-id', 'a'],
      ['x-request-id', 'b'],
    ])
  })

  it.each(['!!python/object/apply:os.system [ls]', '!ruby/object:Gem {a: 1}', '!!set {a}', '!secret x'])(
    'the tag of %s is refused, with the line',
    (yaml) => {
      expect(() => imported(cassette(yaml))).toThrow(/sample:7\n[\s\S]*HARVEST_IMPORT_TAG/)
    },
  )

  it('a body that Python read from memory is its content', () => {
    const file = (kind: string, ...state: readonly string[]): string =>
      `!!python/object/new:_io.${kind}\n        state: !!python/tuple\n${state.map((one) => `        - ${one}\n`).join('')}`
    expect(answers(list(file('BytesIO', '!!binary aGk=', '0', 'null'), file('StringIO', 'ho', '"\\n"', '0')))).toEqual([
      'hi',
      'ho',
    ])
    expect(() => imported(cassette(file('BytesIO', '0')))).toThrow('HARVEST_IMPORT_BODY')
    expect(() => imported(cassette('!!python/object/new:os.system {state: [ls]}'))).toThrow('HARVEST_IMPORT_TAG')
  })

  it('what is tagged as bytes and is none is refused', () => {
    expect(() => imported(cassette('!!binary "a?"'))).toThrow('HARVEST_IMPORT_BODY')
  })

  it('headers that two requests share by an alias are those of both', () => {
    const text = list('one', 'two')
      .replace('headers: {}, body', 'headers: &h {accept: [a]}, body')
      .replace('headers: {}, body', 'headers: *h, body')
    expect(exchangesOf(imported(text)).map(({ request }) => request.headers)).toEqual([
      [['accept', 'a']],
      [['accept', 'a']],
    ])
  })

  it('a key called __proto__ is a key', () => {
    const text = cassette('').replace('string: ', '\n        __proto__: {string: polluted}')
    expect(imported(text).events).toHaveLength(1)
    expect(({} as Record<string, unknown>)['string']).toBeUndefined()
  })

  it('a file of several documents holds several runs', () => {
    expect(() =>
      imported(`${cassette('a')}---
${cassette('b')}`),
    ).toThrow('it holds 2 runs, and one was asked for')
  })

  it('lines are counted through items that were read one by one', () => {
    const text = list('one', 'two', 'three').replace(/code: 200(?![\s\S]*code: 200)/, 'code: ok')
    const line = text.split('\n').findIndex((one) => one.includes('code: ok')) + 1
    expect(() => imported(text)).toThrow(`sample:${line}`)
    expect(() => imported(text.replace('version: 1', 'version: 9'))).toThrow(`sample:${text.split('\n').length - 1}`)
  })

  it('dashes inside of a body begin no item', () => {
    const body = '|\n        - one\n        - two\n\n        interactions:\n        - three'
    expect(answers(list(body, 'next'))).toEqual(['- one\n- two\n\ninteractions:\n- three\n', 'next'])
  })

  it.each([
    ['flow lists', '{"interactions": [], version: 1}'],
    ['a list without items', 'interactions: []\nversion: 1\n'],
  ])('%s without calls are refused as empty or broken', (_, text) => {
    expect(() => imported(text)).toThrow(/HARVEST_IMPORT_(EMPTY|SYNTAX)/)
  })
})

describe('bodies', () => {
  it('one that was stored decoded is not decoded again, and its header goes', () => {
    const text = cassette("'plain'").replace(
      'headers: {}\n',
      "headers: {Content-Encoding: [gzip], Content-Length: ['9']}\n",
    )
    const tape = imported(text)
    expect(firstAnswer(tape)).toBe('plain')
    expect(exchangesOf(tape)[0]!.response!.headers).toEqual([])
    expect(tape.facts.missing).not.toContain('encodings')
  })

  // Brotli and deflate have no magic number: a decoder takes these for streams that say nothing.
  it.each(['[1,2]', 'Hello', 'true', '{}', '"x"'])('%s that was stored decoded is not taken for a stream', (body) => {
    for (const encoding of ['br', 'deflate', 'gzip, br']) {
      const entry = {
        request: { method: 'GET', url: 'https://api.example/', headers: [] },
        response: { status: 200, headers: [{ name: 'content-encoding', value: encoding }], content: { text: body } },
      }
      expect(firstAnswer(imported(JSON.stringify({ log: { entries: [entry] } })))).toBe(body)
    }
  })

  const packed = (body: Buffer, times: number): Buffer => (times === 0 ? body : packed(gzipSync(body), times - 1))
  const secret = Buffer.from(`{"password":"lemon tart"}`)
  it.each([
    ['damaged', 'gzip', Buffer.concat([gzipSync(secret).subarray(0, 9), Buffer.from([0xff, 0xff]), secret])],
    ['coding', 'lzma', Buffer.concat([Buffer.from([0, 1]), secret])],
    ['coding', 'gzip, gzip, gzip, gzip, gzip', packed(secret, 5)],
    ['damaged', 'br', Buffer.concat([Buffer.from([0xff, 0]), secret])],
  ])('one that cannot be searched is not kept, and its header stays true: %s, %s', (reason, coding, body) => {
    const headers = [{ name: 'content-encoding', value: coding }]
    const content = { encoding: 'base64', text: body.toString('base64') }
    const request = { method: 'GET', url: 'https://api.example/', headers: [] }
    const entry = { request, response: { status: 200, headers, content } }
    const tape = imported(JSON.stringify({ log: { entries: [entry] } }))
    expect(exchangesOf(tape)[0]!.response).toMatchObject({
      headers: [['content-encoding', coding]],
      chunks: [],
      unsearched: { size: body.length, coding, reason },
    })
  })

  it('bytes that do not begin as their coding does were stored decoded', () => {
    const text = cassette(`!!binary ${Buffer.from([0x89, 0x50, 0x4e, 0x47, 0]).toString('base64')}`)
    const tape = imported(text.replace('headers: {}\n', 'headers: {Content-Encoding: [gzip]}\n'))
    expect(exchangesOf(tape)[0]!.response).not.toHaveProperty('unsearched')
    expect(exchangesOf(tape)[0]!.response!.chunks).toHaveLength(1)
  })

  it('one that was compressed and lost its header is decoded', () => {
    const packed = gzipSync('{"a":1}').toString('base64')
    const tape = imported(cassette(`!!binary ${packed}`))
    expect(firstAnswer(tape)).toBe('{"a":1}')
    expect(tape.facts.missing).toContain('encodings')
  })

  it('secrets are gone before anything is written', () => {
    const key = `sk-${'a1B2c3D4e5F6g7H8i9J0'.repeat(2)}`
    const text = cassette(`'{"api_key":"${key}"}'`, `{Authorization: [Bearer ${key}], Cookie: [__cf_bm=${key}]}`)
    const tape = imported(text.replace('https://api.example/', `https://api.example/?key=${key}`))
    expect(JSON.stringify(tape)).not.toContain(key)
  })
})

describe('addresses', () => {
  const asked = (uri: string): string =>
    exchangesOf(imported(cassette("''").replace('https://api.example/', uri)))[0]!.url

  it('placeholders of a recorder stand as names', () => {
    expect(asked('https://bedrock.<AWS_REGION>.amazonaws.com/model/x')).toBe(
      'https://bedrock.aws-region.amazonaws.com/model/x',
    )
    expect(asked('<API_BASE>/chat')).toBe('https://api-base.invalid/chat')
    const text = samples['ruby-vcr'].replace('https://api.openai.com', '<API_BASE>')
    expect(imported(text).facts.missing).toContain('hosts')
  })

  it('a fragment, which was never sent, is left out', () => {
    expect(asked('https://api.example/v1/chat?a=1#stream')).toBe('https://api.example/v1/chat?a=1')
  })

  it.each(['ftp://a/', '/relative', 'https://', 'https://<lower>/'])('%s is refused', (uri) => {
    expect(() => asked(uri)).toThrow('is not an absolute HTTP URL')
  })
})
