import fc from 'fast-check'
import { expect, test } from 'vitest'
import { eleventhFinders, fifthFinders, twelfthFinders } from '../../src/privacy/earlier.ts'
import { createRedactor } from '../../src/privacy/index.ts'

// Made up, and put together here so that no scanner takes them for real ones.
const token = `ghp_${'a1B2c3D4'.repeat(4)}e5F6`
const password = `${'q7Wz'.repeat(4)}`
const said: readonly (readonly [text: string, secret: string])[] = [
  [`use ${token} for it`, token],
  [`{"user":"ada","password":"${password}"}`, password],
  ['write to jane.doe@example.com today', 'jane.doe@example.com'],
]

const events = (all: readonly unknown[]): string =>
  all.map((one) => `event: m\ndata: ${JSON.stringify(one)}\n\n`).join('')

/** Streams whose pieces stand in fields of any name, or in none. */
const streams: Readonly<Record<string, (pieces: readonly string[]) => string>> = {
  'messages of the Assistants API': (pieces) =>
    events(
      pieces.map((value) => ({ object: 'thread.message.delta', delta: { content: [{ index: 0, text: { value } }] } })),
    ),
  'lines of the AI SDK': (pieces) => pieces.map((piece) => `0:${JSON.stringify(piece)}\n`).join(''),
  'server-sent text': (pieces) => pieces.map((piece) => `data: ${piece}\n\n`).join(''),
  'server-sent texts in quotes': (pieces) => pieces.map((piece) => `data: ${JSON.stringify(piece)}\n\n`).join(''),
  'answers of Dify': (pieces) => events(pieces.map((answer) => ({ event: 'message', answer }))),
  'arguments of Gemini': (pieces) =>
    events(pieces.map((stringValue) => ({ functionCall: { partialArgs: [{ jsonPath: '$.q', stringValue }] } }))),
  'JSON lines of a provider that is not known': (pieces) => pieces.map((t) => `${JSON.stringify({ t })}\n`).join(''),
  'tokens with their probabilities': (pieces) =>
    events(pieces.map((token) => ({ choices: [{ delta: { content: token }, logprobs: [{ token, logprob: -1 }] }] }))),
}

/** Other ways in which a stream may begin, and in which its lines may end. */
const forms: Readonly<Record<string, (pieces: readonly string[]) => string>> = {
  'events behind a blank line': (pieces) => `\n${events(pieces.map((delta) => ({ delta })))}`,
  'events whose lines end as in HTTP': (pieces) =>
    `\r\n${events(pieces.map((delta) => ({ delta }))).replaceAll('\n', '\r\n')}`,
  'events behind a mark of byte order': (pieces) => `\ufeff${events(pieces.map((delta) => ({ delta })))}`,
  'text behind a mark of byte order': (pieces) => `\ufeff${pieces.map((piece) => `data: ${piece}\n\n`).join('')}`,
  'events whose lines end with a carriage return': (pieces) =>
    events(
      pieces
        .map((delta, at) => [
          { delta, index: 0 },
          { delta: `other words ${at}`, index: 1 },
        ])
        .flat(),
    ).replaceAll('\n', '\r'),
  'JSON lines behind a blank line': (pieces) => `\n${pieces.map((t) => `${JSON.stringify({ t })}\n`).join('')}`,
  'JSON lines with blank lines between': (pieces) => pieces.map((t) => `${JSON.stringify({ t })}\r\n\r\n`).join(''),
  'a sequence of JSON texts': (pieces) => pieces.map((t) => `\u001e${JSON.stringify({ t })}\n`).join(''),
  ...Object.fromEntries(
    ['id', 'toolCallId', 'tool_call_id', 'call_id'].map((name) => [
      `two tool calls in turn, by ${name}`,
      (pieces: readonly string[]) =>
        events(
          pieces.flatMap((delta, at) => [
            { [name]: 'call:a', delta },
            { [name]: 'call:b', delta: `other words ${at}, ` },
          ]),
        ),
    ]),
  ),
}

test.each(Object.entries(forms))('what comes in pieces is found as a whole: %s', (_, stream) => {
  for (const [text, secret] of said) {
    const body = stream(cut(text, [9]))
    expect(isLeft(secret, createRedactor().text(body)), secret).toBe(false)
    expect(isLeft(secret, createRedactor({}, { finders: eleventhFinders }).text(body)), secret).toBe(true)
  }
})

/** Objects of JSON beside one another, as a parser of concatenated JSON reads them. */
const joined: Readonly<Record<string, (pieces: readonly string[]) => string>> = {
  'right behind one another': (pieces) => pieces.map((t) => JSON.stringify({ t })).join(''),
  'with blanks between': (pieces) => pieces.map((t) => JSON.stringify({ t })).join(' \t'),
  'behind a mark of byte order and a blank line': (pieces) =>
    `\ufeff\n${pieces.map((t) => JSON.stringify({ t })).join('')}`,
  'with such braces in their texts': (pieces) => pieces.map((t) => JSON.stringify({ note: '"}{"', t })).join(''),
  'some of them in lines of their own, by index': (pieces) =>
    pieces
      .map((t, index) =>
        [
          { index: 0, t },
          { index: 1, t: `other words ${index}` },
        ]
          .map((one) => JSON.stringify(one))
          .join(''),
      )
      .join('\n'),
  'the last one cut off': (pieces) => `${pieces.map((t) => JSON.stringify({ t })).join('')}{"t":"an`,
  ...Object.fromEntries(
    ['index', 'output_index', 'id', 'call_id'].map((name) => [
      `two in turn, by ${name}`,
      (pieces: readonly string[]) =>
        pieces
          .flatMap((delta, at) => [
            { [name]: 'a', delta },
            { [name]: 'b', delta: `other words ${at}, ` },
          ])
          .map((one) => JSON.stringify(one))
          .join(''),
    ]),
  ),
}

test.each(Object.entries(joined))('pieces in objects without lines of their own are read together: %s', (_, stream) => {
  for (const [text, secret] of said) {
    const body = stream(cut(text, [9]))
    const redacted = createRedactor().text(body)
    expect(isLeft(secret, redacted), redacted).toBe(false)
    expect(createRedactor().text(redacted)).toBe(redacted)
    expect(isLeft(secret, createRedactor({}, { finders: twelfthFinders }).text(body)), secret).toBe(true)
  }
})

test('a document of JSON is no stream for the braces in its texts', () => {
  const parts = cut(`use ${token} for it`, [9]).map((t) => ({ t, note: '}{', other: '"} {"' }))
  for (const document of [{ parts }, { parts, first: '}{' }]) {
    const body = JSON.stringify(document)
    expect(createRedactor().text(body)).toBe(body)
    expect(createRedactor().text(`${body}\n`)).toBe(`${body}\n`)
  }
})

test('pieces of one text that have an id each are read together', () => {
  const body = events(cut(`use ${token} for it`, [9]).map((delta, at) => ({ id: `event-${at}`, delta })))
  expect(isLeft(token, createRedactor().text(body))).toBe(false)
})

function cut(text: string, sizes: readonly number[]): string[] {
  const pieces: string[] = []
  for (let at = 0, nth = 0; at < text.length; nth++) {
    const size = sizes[nth % sizes.length]!
    pieces.push(text.slice(at, at + size))
    at += size
  }
  return pieces
}

/** Whether seven characters of a secret are left anywhere: a piece of it. */
const isLeft = (secret: string, text: string): boolean =>
  Array.from({ length: secret.length - 6 }, (_, at) => secret.slice(at, at + 7)).some((part) => text.includes(part))

// Pieces of ten characters and more: of shorter ones the last may hold a blank alone, which server-sent text loses.
const sizes = fc.array(fc.integer({ min: 7, max: 16 }), { minLength: 1, maxLength: 5 })

test.each(Object.entries(streams))('a secret is found in pieces in %s, however it is cut', (_, stream) => {
  fc.assert(
    fc.property(sizes, fc.constantFrom(...said), (cuts, [text, secret]) => {
      const pieces = cut(text, cuts)
      fc.pre(pieces.length > 1)
      const written = createRedactor({}).text(stream(pieces))
      expect(isLeft(secret, written)).toBe(false)
      // What was cleaned is clean, for the recorder and for the check before a commit.
      expect(createRedactor({}).scan(written)).toEqual([])
    }),
    { numRuns: 60 },
  )
})

test.each(Object.entries(streams))('what is under way in %s is written only as far as it stays so', (_, stream) => {
  fc.assert(
    fc.property(
      sizes,
      fc.constantFrom(...said),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (cuts, [text, secret], share) => {
        const whole = stream(cut(`${text} ${'and more of it, '.repeat(30)}`, cuts))
        const soFar = whole.slice(0, Math.floor(whole.length * share))
        const settled = soFar.slice(0, createRedactor({}).settled(soFar))
        expect(isLeft(secret, createRedactor({}).text(settled))).toBe(false)
      },
    ),
    { numRuns: 60 },
  )
})

test('columns of records are no pieces of one text', () => {
  const records = [
    { mail: 'ada', site: 'a-1', at: '4111' },
    { mail: 'bob@shop', site: '.example.com', at: '1111' },
    { mail: '.example', site: 'c-3', at: '11111111' },
  ]
  const lines = (all: readonly unknown[]): string => all.map((one) => `${JSON.stringify(one)}\n`).join('')
  const addresses = lines([{ mail: 'ada@shop.example' }, { mail: 'bob@shop.example' }, { mail: 'cleo@shop.example' }])
  expect(createRedactor({}).text(lines(records))).toContain('"at":"11111111"')
  expect(
    createRedactor({})
      .text(addresses)
      .match(/redacted-[123]@email\.invalid/g),
  ).toHaveLength(3)
})

test('a tape with the flag `redactor-5` is searched as then', () => {
  const stream = streams['answers of Dify']!(cut(said[0]![0], [12]))
  expect(createRedactor({}, { finders: fifthFinders }).text(stream)).toBe(stream)
  expect(createRedactor({}).text(stream)).not.toBe(stream)
})

test('lines of a log that end with a token behind the same words keep all their other words, however many they are', () => {
  const keys = Array.from({ length: 40 }, (_, nth) => `aB3${nth.toString(36).padStart(2, 'x')}Qz7Lk9Wp`)
  for (const before of ['Bearer ', 'otp=Bearer ']) {
    const lines = keys.map((key, nth) => JSON.stringify({ nth, header: before + key }))
    const redacted = createRedactor().text(lines.join('\n')).split('\n')
    expect(redacted).toEqual(
      keys.map((_, nth) => JSON.stringify({ nth, header: `${before}redacted-bearer-token-${nth + 1}` })),
    )
  }
})

test('a token that goes on in the next line is replaced as a whole', () => {
  for (const [first, second] of [
    ['Bearer aB3xxQz7Lk9', 'Wp5Yt2Rr8 then'],
    ['Bearer aB3xxQz7Lk9', 'Wp5Yt2Rr8'],
  ] as const) {
    const redacted = createRedactor().text(`${JSON.stringify({ t: first })}\n${JSON.stringify({ t: second })}`)
    expect(redacted).not.toContain('Wp5Yt2Rr8')
    expect(redacted).not.toContain('aB3xxQz7Lk9')
  }
})

test('of a log with several secrets nothing else changes, whatever words stand before them', () => {
  const before = fc.constantFrom('', 'Gwen wrote to ', 'Mail from ', 'x=', '(', 'Password reset for ', 'retry by ')
  const secret = fc
    .tuple(
      fc.constantFrom('mail', 'Bearer ', 'token=', 'ghp_'),
      fc.stringMatching(/^[a-zA-Z0-9]{16}$/).map((random) => `q7Wz${random}K4nTb8Yd2Rxs`),
    )
    .map(([kind, random]) => {
      if (kind === 'mail') return ['', `${random.slice(0, 8)}@b.example`] as const
      return kind === 'ghp_' ? (['', `ghp_${random}a1B2`] as const) : ([kind, random] as const)
    })
  const line = fc.tuple(before, secret, fc.constantFrom('', ' today'))
  const plain = fc.constantFrom('started', 'all good here', 'Gwen')
  const field = fc.constantFrom('msg', 'text', 'content', 'note')
  const wrap = fc.constantFrom(
    (one: string) => `${one}\n`,
    (one: string) => `data: ${one}\n\n`,
  )
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 2, maxLength: 9 }),
      fc.array(plain, { maxLength: 3 }),
      field,
      wrap,
      (lines, words, name, as) => {
        const write = (put: (secret: string) => string): string =>
          [...lines.map(([lead, [said, value], rest]) => lead + said + put(value) + rest), ...words]
            .map((text, t) => as(JSON.stringify({ t, [name]: text })))
            .join('')
        const hidden = /redacted-(?:[a-z]+-)*\d+(?:@email\.invalid)?/g
        expect(
          createRedactor()
            .text(write((value) => value))
            .replaceAll(hidden, '?'),
        ).toBe(write(() => '?'))
      },
    ),
    { numRuns: 300 },
  )
})
