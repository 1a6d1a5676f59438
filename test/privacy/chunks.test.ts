import fc from 'fast-check'
import { expect, test } from 'vitest'
import { awsEvent } from '../../fixtures/provider/aws-event-stream.ts'
import { twelfthFinders } from '../../src/privacy/earlier.ts'
import { createRedactor, scan } from '../../src/privacy/index.ts'
import { arbitraryBody, eventStream } from './arbitrary.ts'
import { canaries } from './canaries.ts'

const jane = 'jane@example.com'

/** The bytes cut at these places, wherever they fall: in a secret, in a character. */
function cutAt(text: string, cuts: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text)
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  return places.slice(1).map((end, at) => bytes.subarray(places[at], end))
}

function together(pieces: readonly Buffer[]): string {
  return Buffer.concat(pieces).toString('utf8')
}

test('for every cut of every body, the pieces together are the redacted body', () => {
  fc.assert(
    fc.property(arbitraryBody, fc.array(fc.nat(5000), { maxLength: 8 }), (text, cuts) => {
      const pieces = cutAt(text, cuts)
      const redacted = createRedactor().chunks(pieces)
      expect(together(redacted)).toBe(createRedactor().text(text))
      expect(redacted).toHaveLength(pieces.length)
      expect(createRedactor().chunks(redacted)).toStrictEqual(redacted)
    }),
    { numRuns: 1000 },
  )
})

test('for every cut, pieces without a secret are the same buffers', () => {
  const text = `Grüße 😀 to ${jane} and joe@example.com, order A-17. Ende 東京.`
  const bytes = Buffer.from(text)
  const touched = [jane, 'joe@example.com'].map((secret) => {
    const start = bytes.indexOf(secret)
    return { start, end: start + secret.length }
  })
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (cuts) => {
      const pieces = cutAt(text, cuts)
      const redacted = createRedactor().chunks(pieces)
      let from = 0
      for (const [at, piece] of pieces.entries()) {
        const to = from + piece.length
        const isTouched = touched.some(({ start, end }) => start < to && end > from)
        expect(redacted[at] === piece || isTouched).toBe(true)
        from = to
      }
    }),
    { numRuns: 500 },
  )
})

test('the placeholder stands where the secret began, the rest of it is cut', () => {
  const pieces = ['to jane@', 'example', '.com or ', 'nobody'].map((text) => Buffer.from(text))
  const redacted = createRedactor().chunks(pieces)
  expect(redacted.map(String)).toStrictEqual(['to redacted-1@email.invalid', '', ' or ', 'nobody'])
  expect(redacted[3]).toBe(pieces[3])
})

test('a body that is not UTF-8 stays as it is', () => {
  const pieces = [Buffer.from([0xff, 0xfe]), Buffer.from(jane)]
  expect(createRedactor().chunks(pieces)).toBe(pieces)
})

test('an answer that was cut inside a character is redacted all the same', () => {
  const bytes = Buffer.from(`${jane} 😀`)
  const redacted = createRedactor().chunks([bytes.subarray(0, bytes.length - 2)])
  expect(Buffer.concat(redacted).subarray(0, 24).toString()).toBe('redacted-1@email.invalid')
  expect(Buffer.concat(redacted).subarray(25)).toStrictEqual(Buffer.from([0xf0, 0x9f]))
})

test('a secret a model streamed in pieces is found, in the first piece replaced and cut from the others', () => {
  const redactor = createRedactor()
  expect(redactor.text(eventStream(`Ask ${jane} now.`, [4, 6, 6, 4, 1, 1, 9]))).toMatchInlineSnapshot(`
    "event: start
    data: {"type":"start"}

    data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"Ask "}}]}

    data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"redacted-1@email.invalid"}}]}

    data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":""}}]}

    data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":""}}]}

    data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":" "}}]}

    data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"n"}}]}

    data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"ow."}}]}

    data: [DONE]

    "
  `)
  expect(redactor.text(jane)).toBe('redacted-1@email.invalid')
})

test('for every kind of secret and every way to stream it, its pieces do not come through', () => {
  const all = Object.values(canaries).flat()
  fc.assert(
    fc.property(fc.constantFrom(...all), fc.infiniteStream(fc.integer({ min: 1, max: 12 })), (secret, lengths) => {
      const stream = eventStream(`Use "${secret}" — not more.`, lengths)
      const redacted = createRedactor().text(stream)
      const answer = assembled(redacted)
      expect(answer).not.toContain(secret)
      expect(answer).toMatch(/^Use ".*" — not more\.$/)
      expect(scan(redacted)).toStrictEqual([])
    }),
    { numRuns: 1000 },
  )
})

test.each([
  [
    'openai-responses',
    (piece: string, at: number) =>
      `event: response.output_text.delta\ndata: ${JSON.stringify({ type: 'response.output_text.delta', sequence_number: at, item_id: 'msg_1', output_index: 0, content_index: 0, delta: piece })}\n\n`,
  ],
  [
    'openai-tool-arguments',
    (piece: string) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [{ index: 1, function: { arguments: piece } }] } }] })}\n\n`,
  ],
  [
    'anthropic-text',
    (piece: string) =>
      `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: piece } })}\n\n`,
  ],
  [
    'anthropic-tool-input',
    (piece: string) =>
      `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: piece } })}\n\n`,
  ],
  [
    'gemini-events',
    (piece: string) =>
      `data: ${JSON.stringify({ candidates: [{ index: 0, content: { parts: [{ text: piece }] } }] })}\r\n\r\n`,
  ],
  [
    'ollama-lines',
    (piece: string) =>
      `${JSON.stringify({ model: 'm', message: { role: 'assistant', content: piece }, done: false })}\n`,
  ],
  [
    'gemini-list',
    (piece: string, at: number) =>
      `${at === 0 ? '[' : ',\r\n'}${JSON.stringify({ candidates: [{ content: { parts: [{ text: piece }] } }] }, undefined, 2)}`,
  ],
])('pieces are put together in the way of %s', (_, event) => {
  const pieces = ['{"to":"jane', '@exam', 'ple.com","pass', 'word":"hun', 'ter2hunter2"}']
  const redacted = createRedactor().text(pieces.map((piece, at) => event(piece, at)).join(''))
  const expected = ['{"to":"redacted-1@email.invalid', '', '","pass', 'word":"redacted-secret-1', '"}']
  expect(redacted).toBe(expected.map((piece, at) => event(piece, at)).join(''))
})

test('pieces of two answers that arrive in turn are kept apart', () => {
  const event = (index: number, piece: string): string =>
    `data: ${JSON.stringify({ choices: [{ index, delta: { content: piece } }] })}\n\n`
  const stream = event(0, 'jane@') + event(1, 'order@') + event(0, 'example.com') + event(1, ' A-17')
  const redacted = createRedactor().text(stream)
  expect(redacted).toBe(event(0, 'redacted-1@email.invalid') + event(1, 'order@') + event(0, '') + event(1, ' A-17'))
})

test('messages of a request are not pieces of one text', () => {
  const request = JSON.stringify({ messages: [{ content: 'my name is jane' }, { content: '@example.com is my host' }] })
  expect(createRedactor().text(request)).toBe(request)
})

test('frames of an Amazon event stream are written anew where a secret was, in pieces too', () => {
  const answer = ['Ask jane@', 'example', '.com 😀 ', 'now.']
  const frame = (text: string, at: number): Buffer =>
    awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text }, p: 'ab'.repeat(at) })
  const wrapped = (text: string): Buffer =>
    awsEvent('chunk', {
      bytes: Buffer.from(
        JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
      ).toString('base64'),
      p: 'abc',
    })
  for (const make of [frame, wrapped]) {
    const stream = Buffer.concat(answer.map(make))
    const expected = Buffer.concat(['Ask redacted-1@email.invalid', '', ' 😀 ', 'now.'].map(make))
    for (const pieces of [[stream], [stream.subarray(0, 50), stream.subarray(50, 333), stream.subarray(333)]]) {
      const redacted = createRedactor().chunks(pieces)
      expect(Buffer.concat(redacted)).toStrictEqual(expected)
      expect(createRedactor().chunks(redacted)).toBe(redacted)
      const replay = createRedactor()
      replay.observeChunks(redacted)
      expect(replay.text('joe@example.com')).toBe('redacted-2@email.invalid')
    }
  }
})

test('an Amazon event stream without secrets, or cut off, keeps its bytes', () => {
  const stream = Buffer.concat(['no ', 'secret\n'].map((text) => awsEvent('contentBlockDelta', { delta: { text } })))
  for (const pieces of [
    [stream],
    [stream.subarray(0, stream.length - 5)],
    [stream.subarray(0, 7), stream.subarray(7)],
  ]) {
    expect(createRedactor().chunks(pieces)).toBe(pieces)
  }
  const secret = Buffer.concat([awsEvent('a', { text: jane }), awsEvent('a', { text: 'b' }).subarray(0, 30)])
  const redacted = Buffer.concat(createRedactor().chunks([secret]))
  expect(redacted).toStrictEqual(
    Buffer.concat([awsEvent('a', { text: 'redacted-1@email.invalid' }), secret.subarray(-30)]),
  )
})

/** The answer a client makes of the stream. */
function assembled(stream: string): string {
  return stream
    .split('\n')
    .filter((line) => line.startsWith('data: {"id"'))
    .map(
      (line) => (JSON.parse(line.slice(6)) as { choices: [{ delta: { content: string } }] }).choices[0].delta.content,
    )
    .join('')
}

function streamOf(texts: readonly string[]): string {
  return eventStream(
    texts.join(''),
    texts.map(({ length }) => length),
  )
}

test.each([
  ['a token', ['use Bearer ', 'qXLm82kd7TwzP0aR ok'], 'qXLm82kd7TwzP0aR'],
  ['a password', ['the password=', 'tr33house9 ok'], 'tr33house9'],
  ['a password whose name is cut', ['the pass', 'word: ', 'tr33house9', ' ok'], 'tr33house9'],
])('%s in one event, with its name in the event before, is redacted and looked for', (_, texts, secret) => {
  const stream = streamOf(texts)
  expect(scan(stream)).not.toEqual([])
  const redacted = together(createRedactor().chunks([Buffer.from(stream)]))
  expect(redacted).not.toContain(secret)
  expect(scan(redacted)).toEqual([])
  expect(createRedactor().text(redacted)).toBe(redacted)
})

test('several secrets over events are each redacted, in whatever order their kinds are found', () => {
  const stream = streamOf([
    'the password=tr33',
    'house9 is of jane@exa',
    'mple.com and token: K7fq2Zr9',
    'Xv4Tn8Wb, ok',
  ])
  const redacted = together(createRedactor().chunks([Buffer.from(stream)]))
  for (const part of ['tr33', 'house9', 'jane@', 'mple.com', 'K7fq2Zr9', 'Xv4Tn8Wb'])
    expect(redacted).not.toContain(part)
  for (const part of ['the password=', ' is of ', ' and token: ', ', ok']) expect(redacted).toContain(part)
  expect(scan(redacted)).toEqual([])
})

test('in bytes that are no text, tokens are replaced by as many bytes, across pieces, and nothing else is touched', () => {
  const tokens = [`ghp_${'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAbCdE'}`, 'AKIA3XQ7RMZPL5WKT2VB']
  for (const token of tokens) {
    const packed = (text: string): Buffer =>
      Buffer.concat([
        Buffer.from([0x82, 0xa5]),
        Buffer.from('token'),
        Buffer.from([0xd9, text.length]),
        Buffer.from(text),
        Buffer.from([0xff]),
      ])
    const body = packed(token)
    const redactor = createRedactor()
    const clean = Buffer.concat(redactor.chunks([body]))
    expect(clean.toString('latin1')).not.toContain(token)
    expect(clean).toEqual(packed(clean.subarray(9, -1).toString('latin1')))
    expect(clean).toHaveLength(body.length)
    // What went through once goes through again, also in a replay, and in pieces.
    for (const again of [redactor, createRedactor()]) expect(Buffer.concat(again.chunks([clean]))).toEqual(clean)
    expect(redactor.scanBody(body, undefined)).toHaveLength(1)
    expect(redactor.scanBody(clean, undefined)).toEqual([])
    for (let cut = 1; cut < body.length; cut += 7) {
      const pieces = createRedactor().chunks([body.subarray(0, cut), body.subarray(cut)])
      expect(Buffer.concat(pieces)).toEqual(clean)
    }
  }
  const plain = Buffer.from([0xff, 0, ...Buffer.from('ask ada@shop.example, password=tr33house'), 0x80])
  expect(createRedactor().chunks([plain])[0]).toBe(plain)
})

test('a token of bytes that are no text is the same token in a text', () => {
  const token = `ghp_${'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAbCdE'}`
  const redactor = createRedactor()
  const [clean] = redactor.chunks([Buffer.concat([Buffer.from([0xff, 0]), Buffer.from(token)])])
  expect(clean!.toString('latin1')).toContain('redacted-github-token-1...')
  expect(redactor.text(token)).toBe('redacted-github-token-1')
})

const latin = (text: string): Buffer => Buffer.from(text, 'latin1')
const latinBodies: Readonly<Record<string, string>> = {
  'a page in Latin-1': '<p>Zugangsdaten f\xfcr Ada: password=tr33house</p>\r\n',
  'a page in windows-1252': 'das \x84Kennwort\x93 lautet: password=tr33house, 5 \x80',
  'JSON with one stray byte': '{"note":"\xff","password":"tr33house"}',
  'a name with an accent': 'contrase\xf1a=tr33house',
  'a letter at the beginning': '\xc4nderung: password=tr33house',
}

test.each(Object.entries(latinBodies))('text that is no UTF-8 is searched as Latin-1, byte for byte: %s', (_, text) => {
  const body = latin(text)
  const clean = text.replace('tr33house', 'redacted-secret-1')
  for (let cut = 1; cut < body.length; cut += 5) {
    const redactor = createRedactor()
    const pieces = redactor.chunks([body.subarray(0, cut), body.subarray(cut)])
    expect(Buffer.concat(pieces).toString('latin1')).toBe(clean)
    expect(redactor.chunks([latin(clean)])[0]).toEqual(latin(clean))
  }
  expect(createRedactor().scanBody(body, undefined)).toEqual([
    { kind: 'secret', index: text.indexOf('tr33house'), length: 'tr33house'.length },
  ])
  expect(createRedactor().scanBody(latin(clean), undefined)).toEqual([])
  const before = createRedactor({}, { finders: twelfthFinders })
  expect(before.chunks([body])[0]).toBe(body)
})

test('bytes that say the length of their texts are not taken for Latin-1', () => {
  for (const head of [
    [0x81, 0xa8],
    [0xa1, 0x68],
    [0x93, 0xa8],
    [0xff, 0x00],
  ]) {
    const body = Buffer.concat([Buffer.from(head), latin('password\xa9tr33house password=tr33house')])
    expect(createRedactor().chunks([body])[0]).toBe(body)
  }
})

test('of a form with a part that is no text, tokens alone are found in its fields', () => {
  const token = `ghp_${'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAbCdE'}`
  const part = (name: string, value: string): string =>
    `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const form = latin(`${part('password', 'tr33house')}${part('note', token)}${part('image', '\x89PNG\xff\0')}--x--\r\n`)
  const [clean] = createRedactor().chunks([form])
  expect(clean!.toString('latin1')).toContain('tr33house')
  expect(clean!.toString('latin1')).not.toContain(token)
  const utf16 = Buffer.from('password=tr33house', 'utf16le')
  expect(createRedactor().chunks([utf16])[0]).toBe(utf16)
})
