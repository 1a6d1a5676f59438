import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Json } from '../../src/tape/index.ts'
import { decodeValue, encodeValue } from '../../src/tape/index.ts'
import { createRedactor, scan } from '../../src/privacy/index.ts'
import { arbitraryBody, arbitrarySecret, arbitraryText } from './arbitrary.ts'
import { canaries } from './canaries.ts'

const jane = 'jane@example.com'
const openaiKey = canaries['openai-key']![0]!
const card = '4111111111111111'

test('the same value gets the same placeholder, numbered by first appearance', () => {
  const redactor = createRedactor()
  expect(redactor.text(`${jane}, joe@example.com, ${jane}`)).toBe(
    'redacted-1@email.invalid, redacted-2@email.invalid, redacted-1@email.invalid',
  )
  expect(redactor.text(`joe@example.com ${openaiKey}`)).toBe('redacted-2@email.invalid redacted-openai-key-1')
  expect(createRedactor().text('joe@example.com')).toBe('redacted-1@email.invalid')
})

test('what stands around a secret stays: host, scheme, name, quotes', () => {
  const redactor = createRedactor()
  expect(redactor.text('postgres://app:pa55word@db.example.com:5432/shop')).toBe(
    'postgres://app:redacted-url-password-1@db.example.com:5432/shop',
  )
  expect(redactor.text('Authorization: Bearer opaque-0a1b2c3d4e5f;')).toBe(
    'Authorization: Bearer redacted-bearer-token-1;',
  )
  expect(redactor.text('{"password": "x\\"y\\\\", "user": "ann"}')).toBe(
    '{"password": "redacted-secret-1", "user": "ann"}',
  )
  expect(redactor.text('https://hooks.slack.com/services/T01ABCDEF/B01ABCDEF/abcdefghijklmnop')).toBe(
    'https://hooks.slack.com/services/redacted-slack-token-1',
  )
  expect(redactor.text('?email=jane%40example.com&x=1')).toBe('?email=redacted-1%40email.invalid&x=1')
})

test('a card number may stand as a JSON number: so does its placeholder', () => {
  const redactor = createRedactor()
  const redacted = redactor.text(`{"card":${card},"text":"4111 1111 1111 1111"}`)
  expect(redacted).toBe('{"card":8000000000000001,"text":"8000000000000001"}')
  expect(JSON.parse(redacted)).toStrictEqual({ card: 8000000000000001, text: '8000000000000001' })
  expect(redactor.json({ card: Number(card) })).toStrictEqual({ card: 8000000000000001 })
})

test('a secret that only its name told is found later without the name', () => {
  const redactor = createRedactor()
  expect(redactor.text('{"password":"hunter2hunter2"}')).toBe('{"password":"redacted-secret-1"}')
  expect(redactor.text('I log in with hunter2hunter2.')).toBe('I log in with redacted-secret-1.')
  expect(redactor.text(JSON.stringify({ note: 'a\nhunter2hunter2' }))).toBe('{"note":"a\\nredacted-secret-1"}')
  expect(redactor.json(['hunter2hunter2'])).toStrictEqual(['redacted-secret-1'])
})

test('a secret is the same secret however JSON spells it', () => {
  const redactor = createRedactor()
  const secret = 'a"b\\c12345678'
  expect(redactor.text(JSON.stringify({ password: secret }))).toBe('{"password":"redacted-secret-1"}')
  expect(redactor.text(JSON.stringify({ note: `it was ${secret}` }))).toBe('{"note":"it was redacted-secret-1"}')
  expect(redactor.json({ note: `it was ${secret}` })).toStrictEqual({ note: 'it was redacted-secret-1' })
})

test('an ordinary word that was a password once stays a word', () => {
  const redactor = createRedactor()
  expect(redactor.text('{"password":"password","secret":"refund"}')).toBe(
    '{"password":"redacted-secret-1","secret":"redacted-secret-2"}',
  )
  expect(redactor.text('Reset the password, then refund.')).toBe('Reset the password, then refund.')
})

test('for every text, what went through once goes through again unchanged', () => {
  fc.assert(
    fc.property(fc.array(arbitraryBody, { minLength: 1, maxLength: 4 }), (texts) => {
      const redactor = createRedactor()
      const once = texts.map((text) => redactor.text(text))
      expect(once.map((text) => redactor.text(text))).toStrictEqual(once)
      const other = createRedactor()
      expect(once.map((text) => other.text(text))).toStrictEqual(once)
    }),
    { numRuns: 1000 },
  )
})

test('for every text, nothing is left that a scan would find', () => {
  fc.assert(
    fc.property(arbitraryBody, (text) => {
      expect(scan(createRedactor().text(text))).toStrictEqual([])
    }),
    { numRuns: 1000 },
  )
})

test('for every JSON text with secrets, the redacted text is JSON of the same shape', () => {
  const json = fc.dictionary(
    fc.string(),
    fc.oneof(arbitraryText, fc.integer(), fc.array(arbitraryText, { maxLength: 3 })),
  )
  fc.assert(
    fc.property(json, (value) => {
      const redacted = JSON.parse(createRedactor().text(JSON.stringify(value))) as typeof value
      expect(Object.values(redacted).map((item) => (Array.isArray(item) ? item.length : typeof item))).toStrictEqual(
        Object.values(value).map((item) => (Array.isArray(item) ? item.length : typeof item)),
      )
    }),
    { numRuns: 500 },
  )
})

test('for every text, a canary in it does not come through', () => {
  fc.assert(
    fc.property(arbitraryText, arbitrarySecret, arbitraryText, (before, secret, after) => {
      fc.pre(!before.includes(secret) && !after.includes(secret))
      const redacted = createRedactor().text(`${before} ${secret} ${after}`)
      expect(redacted).not.toContain(secret)
    }),
    { numRuns: 1000 },
  )
})

test('for every run, the requests of a replay redact to what was recorded', () => {
  // A part of a request or response: text without secrets, or one of the run's secrets, alone or under a name.
  const part = fc.oneof(
    fc.constantFrom('refund', 'order', '{"total":25}', '\n', 'redacted-2@email.invalid', 'redacted-secret-3'),
    fc.tuple(fc.nat(9), fc.constantFrom('', '', 'password=', 'see ', 'Bearer ')),
  )
  const message = fc.array(part, { maxLength: 8 })
  const secrets = fc.uniqueArray(arbitrarySecret, {
    minLength: 10,
    maxLength: 10,
    comparator: (a, b) => a.includes(b) || b.includes(a),
  })
  fc.assert(
    fc.property(secrets, fc.array(fc.tuple(message, message), { minLength: 1, maxLength: 6 }), (values, turns) => {
      const [recording, replay] = [createRedactor(), createRedactor()]
      const known = new Set<string>()
      // What an agent heard first from an answer, it knows in a replay by its placeholder.
      const heard = new Map<string, string>()
      const spell = (parts: (typeof turns)[number][0], spelled: (value: string) => string): string =>
        parts.map((one) => (typeof one === 'string' ? one : `${one[1]}${spelled(values[one[0]]!)}`)).join(' ')
      for (const [request, response] of turns) {
        const asked = recording.text(spell(request, (value) => value))
        for (const one of request) if (typeof one !== 'string') known.add(values[one[0]]!)
        expect(replay.text(spell(request, (value) => heard.get(value) ?? value))).toBe(asked)
        const answered = recording.text(spell(response, (value) => value))
        replay.observe(answered)
        for (const one of response) {
          const value = typeof one === 'string' ? undefined : values[one[0]]!
          if (value !== undefined && !known.has(value) && !heard.has(value)) heard.set(value, recording.text(value))
        }
      }
    }),
    { numRuns: 1000 },
  )
})

test('numbers go on in a replay where the recording had them', () => {
  const [recording, replay] = [createRedactor(), createRedactor()]
  recording.text('ann@example.com')
  const answer = recording.text('bob@example.com and cat@example.com')
  expect(recording.text('dan@example.com')).toBe('redacted-4@email.invalid')
  replay.text('ann@example.com')
  replay.observe(answer)
  expect(replay.text('dan@example.com')).toBe('redacted-4@email.invalid')
})

test('a number that stands in a text already is not given to another value', () => {
  expect(createRedactor().text(`${jane} redacted-1@email.invalid`)).toBe(
    'redacted-2@email.invalid redacted-1@email.invalid',
  )
})

test('a number whose placeholder did not last is given out again, as a replay would give it', () => {
  const rules = [{ kind: 'customer', pattern: /Kunde\w*/g }]
  const [recording, replay] = [createRedactor({ rules }), createRedactor({ rules })]
  const answer = recording.text('password: Kunde-abc')
  expect(answer).toBe('password: redacted-secret-1')
  replay.observe(answer)
  expect([recording.text('KundeB'), replay.text('KundeB')]).toStrictEqual([
    'redacted-customer-1',
    'redacted-customer-1',
  ])
})

test('a secret that a quote of shorter escape cuts off ends there', () => {
  const text = JSON.stringify({ note: 'it was "password":"hunter', user: 'ann', more: 'said "x"' })
  const redacted = createRedactor().text(text)
  expect(JSON.parse(redacted)).toStrictEqual({
    note: 'it was "password":"redacted-secret-1',
    user: 'ann',
    more: 'said "x"',
  })
})

test('a placeholder anyone made up cannot use up the numbers', () => {
  const redactor = createRedactor()
  redactor.observe('redacted-999999999@email.invalid')
  expect(redactor.text(`redacted-99999999999999999999@email.invalid ${jane}`)).toBe(
    'redacted-1@email.invalid redacted-2@email.invalid',
  )
})

test('values keep their shape: names, lists, bytes, maps, references, errors', () => {
  const order = { mail: jane, card }
  const value = {
    order,
    again: order,
    password: 'x',
    nested: { clientSecret: ['a', 'b'], pin: 1234, password: null },
    bytes: Buffer.from(`to ${jane}`),
    binary: Uint8Array.from([255, 254, 253]),
    map: new Map<unknown, unknown>([
      [jane, 1],
      ['api_key', 'zzz'],
    ]),
    headers: new Headers({ authorization: 'Bearer abc', 'retry-after': '3' }),
    error: Object.assign(new Error(`no order of ${jane}`), { headers: { cookie: 'a=b' } }),
    [jane]: { under: order },
    argv: ['tool', '--api-key', 'zzz', '--verbose', 'yes'],
  }
  const redacted = decodeValue(createRedactor().json(encodeValue(value)))
  expect(redacted).toMatchInlineSnapshot(`
    {
      "again": {
        "card": "8000000000000001",
        "mail": "redacted-1@email.invalid",
      },
      "argv": [
        "tool",
        "--api-key",
        "redacted-secret-4",
        "--verbose",
        "yes",
      ],
      "binary": Uint8Array [
        255,
        254,
        253,
      ],
      "bytes": {
        "data": [
          116,
          111,
          32,
          114,
          101,
          100,
          97,
          99,
          116,
          101,
          100,
          45,
          49,
          64,
          101,
          109,
          97,
          105,
          108,
          46,
          105,
          110,
          118,
          97,
          108,
          105,
          100,
        ],
        "type": "Buffer",
      },
      "error": [Error: no order of redacted-1@email.invalid],
      "headers": Headers {},
      "map": Map {
        "redacted-1@email.invalid" => 1,
        "api_key" => "redacted-secret-4",
      },
      "nested": {
        "clientSecret": [
          "redacted-secret-2",
          "redacted-secret-3",
        ],
        "password": null,
        "pin": 1234,
      },
      "order": {
        "card": "8000000000000001",
        "mail": "redacted-1@email.invalid",
      },
      "password": "redacted-secret-1",
      "redacted-1@email.invalid": {
        "under": {
          "card": "8000000000000001",
          "mail": "redacted-1@email.invalid",
        },
      },
    }
  `)
})

test('of bytes that are no text, those around a secret stay what they are', () => {
  const token = `ghp_${'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAbCdE'}`
  const around = (text: string): Buffer =>
    Buffer.concat([Buffer.from([0xff, 0x00, 0xc3]), Buffer.from(text), Buffer.from([0x80, 0xfe])])
  const redacted = decodeValue(createRedactor().json(encodeValue({ made: around(token), plain: around('nothing') })))
  expect(redacted).toEqual({ made: around('redacted-github-token-1'), plain: around('nothing') })
  const text = decodeValue(createRedactor().json(encodeValue(Buffer.from(`für ${token}`))))
  expect(text).toEqual(Buffer.from('für redacted-github-token-1'))
})

test('a value without secrets is the same object', () => {
  const value: Json = { a: [1, { b: 'order A-17' }], $type: 'bytes', base64: 'aGk=' }
  expect(createRedactor().json(value)).toBe(value)
  const cyclic: Record<string, unknown> = {
    headers: new Headers({ 'content-type': 'text/plain' }),
    map: new Map([['a', [1]]]),
  }
  cyclic['self'] = cyclic
  const encoded = encodeValue(cyclic)
  expect(createRedactor().json(encoded)).toBe(encoded)
})

test('a key __proto__ is redacted as data', () => {
  const value = JSON.parse(`{"__proto__":"${jane}"}`) as Json
  expect(JSON.stringify(createRedactor().json(value))).toBe('{"__proto__":"redacted-1@email.invalid"}')
})

test('URLs lose user, password and secret parameters, and nothing else', () => {
  const redactor = createRedactor()
  const urls = [
    'https://api.example/v1/messages',
    'https://ann:pw@api.example:8443/v1?beta=true#part',
    `https://maps.example/json?address=1%20Main%20St&key=${canaries['google-key']![0]!}&language=de`,
    'https://x.example/?token=abc&api_key=abc&page_token=abc&email=jane%40example.com&q=a+b',
    'https://x.example/a?token=0123456789abcdef0&broken=%E0%A4%A',
    'stdio:npx -y server --api-key abc123 --token=abc --root /srv DB_PASSWORD=pw123456',
  ]
  expect(urls.map((url) => redactor.url(url))).toMatchInlineSnapshot(`
    [
      "https://api.example/v1/messages",
      "https://redacted-secret-1@api.example:8443/v1?beta=true#part",
      "https://maps.example/json?address=1%20Main%20St&key=redacted-google-key-1&language=de",
      "https://x.example/?token=abc&api_key=redacted-secret-2&page_token=abc&email=redacted-1%40email.invalid&q=a+b",
      "https://x.example/a?token=redacted-secret-3&broken=%E0%A4%A",
      "stdio:npx -y server --api-key redacted-secret-4 --token=redacted-secret-2 --root /srv DB_PASSWORD=redacted-secret-5",
    ]
  `)
  const once = urls.map((url) => redactor.url(url))
  expect(once.map((url) => redactor.url(url))).toStrictEqual(once)
})

test('headers a client acts on are kept, in order and case; all others are dropped', () => {
  const redactor = createRedactor({ headers: ['X-Tenant'] })
  expect(
    redactor.headers([
      ['Content-Type', 'application/json'],
      ['Authorization', `Bearer ${openaiKey}`],
      ['x-api-key', openaiKey],
      ['Cookie', 'a=b'],
      ['set-cookie', 'a=b'],
      ['retry-after-ms', '300'],
      ['x-ratelimit-remaining-requests', '59'],
      ['anthropic-ratelimit-tokens-reset', '2026-03-04T05:06:07Z'],
      ['x-stainless-retry-count', '1'],
      ['location', 'https://x.example/?access_token=abc'],
      ['x-tenant', jane],
      ['x-forwarded-for', '10.0.0.7'],
    ]),
  ).toMatchInlineSnapshot(`
    [
      [
        "Content-Type",
        "application/json",
      ],
      [
        "retry-after-ms",
        "300",
      ],
      [
        "x-ratelimit-remaining-requests",
        "59",
      ],
      [
        "anthropic-ratelimit-tokens-reset",
        "2026-03-04T05:06:07Z",
      ],
      [
        "x-stainless-retry-count",
        "1",
      ],
      [
        "location",
        "https://x.example/?access_token=redacted-secret-1",
      ],
      [
        "x-tenant",
        "redacted-1@email.invalid",
      ],
    ]
  `)
})

test('rules of the application are found before all others', () => {
  const redactor = createRedactor({
    rules: [
      { kind: 'customer', pattern: /\bK-\d{6}\b/g, placeholder: 'K-#-CUSTOMER' },
      { kind: 'ticket', pattern: /ticket (?<secret>\d+)/gi },
    ],
    keys: ['iban_of_customer', 'pin'],
    off: ['email'],
    on: ['phone'],
  })
  const text = `K-123456 K-654321 K-123456, Ticket 17, {"pin":"1234"} ?pin=99 ${jane} +49 30 901820`
  const redacted = redactor.text(text)
  expect(redacted).toMatchInlineSnapshot(
    `"K-1-CUSTOMER K-2-CUSTOMER K-1-CUSTOMER, Ticket redacted-ticket-1, {"pin":"redacted-secret-1"} ?pin=redacted-secret-2 jane@example.com redacted-phone-1"`,
  )
  expect(redactor.text(redacted)).toBe(redacted)
  const replay = createRedactor({ rules: [{ kind: 'customer', pattern: /\bK-\d{6}\b/g, placeholder: 'K-#-CUSTOMER' }] })
  replay.observe(redacted)
  expect(replay.text('K-777777')).toBe('K-3-CUSTOMER')
})

test('what is allowed stays wherever it stands, is not counted, and shields nothing else', () => {
  const allow = ['help@shop.example', 'K-000001']
  const redactor = createRedactor({ allow, rules: [{ kind: 'customer', pattern: /\bK-\d{6}\b/g }] })
  const [open, hidden] = ['help@shop.example K-000001', 'mary@shop.example xhelp@shop.example K-000002']
  expect(redactor.text(open)).toBe(open)
  expect(redactor.url('https://x.example/?to=help%40shop.example')).toBe('https://x.example/?to=help%40shop.example')
  expect(redactor.text(`data: {"t":"help@sh"}\n\ndata: {"t":"op.example"}\n\n`)).toContain('help@sh')
  expect(redactor.scan(open)).toEqual([])
  expect(redactor.takeReplaced()).toEqual([])
  expect(redactor.text(hidden)).toBe('redacted-1@email.invalid redacted-2@email.invalid redacted-customer-1')
  // A name that promises a secret is stronger.
  expect(redactor.json({ password: 'help@shop.example' })).toEqual({ password: 'redacted-secret-1' })
  expect(redactor.takeReplaced()).toEqual([
    { kind: 'email', placeholder: 'redacted-1@email.invalid' },
    { kind: 'email', placeholder: 'redacted-2@email.invalid' },
    { kind: 'customer', placeholder: 'redacted-customer-1' },
  ])
})

test('a private key is one secret, however deep in JSON it stands', () => {
  const key = canaries['private-key']![0]!
  const redactor = createRedactor()
  for (const text of [
    key,
    JSON.stringify({ key }),
    JSON.stringify(JSON.stringify({ key })),
    key.replaceAll('\n', '\r\n'),
  ])
    expect(redactor.text(text)).toContain('redacted-private-key-1')
})

test('options that cannot be meant are errors', () => {
  const message = (options: Parameters<typeof createRedactor>[0]): string => {
    try {
      createRedactor(options)
    } catch (error) {
      return (error as Error).message
    }
    return 'no error'
  }
  expect(message({ off: ['emial'] })).toMatchInlineSnapshot(`
    "Invalid redaction options

      problem  there is no kind "emial"

    → kinds: anthropic-key, openai-key, google-key, aws-key, github-token, gitlab-token, slack-token, webhook, stripe-key, npm-token, huggingface-token, sendgrid-key, twilio-key, api-key, jwt, bearer-token, basic-auth, private-key, email, card, iban, url-password, secret, phone, ssn, ip
    (HARVEST_PRIVACY_OPTION)"
  `)
  const pattern: unknown[] = [/(a+)+$/]
  for (const list of ['headers', 'keys', 'off', 'on', 'keep', 'allow'])
    for (const given of [pattern, 'x-mode', 4])
      expect(message({ [list]: given })).toContain(`${list} is not a list of texts`)
  expect(message({ names: { never: pattern as string[] } })).toContain('names.never is not a list of texts')
  const rule = { kind: 'customer', pattern: /K/g }
  expect(message({ on: ['fax'] })).toContain('there is no kind "fax"')
  expect(message({ rules: [{ ...rule, kind: 'Customer 1' }] })).toContain('cannot be a kind')
  expect(message({ rules: [{ ...rule, kind: 'email' }] })).toContain('there is a built-in kind')
  expect(message({ rules: [{ ...rule, pattern: /K/ }] })).toContain('is not global')
  for (const placeholder of ['customer', '#', 'customer1#', '"customer"#', 'a#b#', 'customer-#1']) {
    expect(message({ rules: [{ ...rule, placeholder }] }), placeholder).toContain('cannot be the placeholder')
  }
  expect(message({ rules: [rule] })).toBe('no error')
  for (const text of ['shop.example', '', 'help@shop.example ', 'sk-ant-x'])
    expect(message({ allow: [text] })).toContain('is no whole e-mail address')
})

test('a scan tells kind and place, and changes no numbers', () => {
  const redactor = createRedactor()
  expect(redactor.scan(`to ${jane} with redacted-3@email.invalid`)).toStrictEqual([
    { kind: 'email', index: 3, length: jane.length },
  ])
  expect(redactor.text(jane)).toBe('redacted-1@email.invalid')
})

test('a placeholder keeps of an address and a card what it is asked to, and no more', () => {
  const cards = ['4111 1111 1111 1111', '378282246310005']
  const text = `anna@Shop.example, bob@shop.example., ${cards.join(' and ')}`
  const plain = createRedactor().text(text)
  expect(plain).toBe('redacted-1@email.invalid, redacted-2@email.invalid., 8000000000000001 and 8000000000000002')
  const keep = ['email-domain', 'card-length', 'card-last4']
  const [redactor, replay] = [createRedactor({ keep }), createRedactor({ keep })]
  const kept = redactor.text(text)
  expect(kept).toBe('redacted-1@shop.example, redacted-2@shop.example., 8000000000011111 and 800000000020005')
  expect(redactor.text(kept)).toBe(kept)
  expect(redactor.scan(kept)).toEqual([])
  // Whoever does not know what was kept finds nothing, and numbers go on.
  expect(createRedactor().scan(kept)).toEqual([])
  replay.observe(kept)
  expect(replay.text('carol@other.example 5555555555554444')).toBe('redacted-3@other.example 8000000000034444')
  expect(redactor.json({ card: 4111111111111111 })).toEqual({ card: 8000000000011111 })
  expect(createRedactor({ keep: ['card-last4'] }).text(cards[1]!)).toBe('8000000000010005')
  expect(redactor.url('https://x.example/?to=anna%40Shop.example')).toBe(
    'https://x.example/?to=redacted-1%40shop.example',
  )
  expect(() => createRedactor({ keep: ['iban-country'] })).toThrowError(/nothing called "iban-country" can be kept/)
})

test('a header of a family that is kept hides no secret in its name', () => {
  const key = `ghp_${'a1B2c3D4'.repeat(4)}e5F6`.toLowerCase()
  const redactor = createRedactor({}, { keys: true })
  const answered = redactor.headers([
    [`openai-${key}`, 'x'],
    ['openai-processing-ms', '12'],
  ])
  const asked = redactor.requestHeaders([
    [`x-amz-${key}`, 'x'],
    ['x-amz-target', 'Query'],
  ])
  expect(JSON.stringify([answered, asked])).not.toContain(key)
  expect(answered[1]).toEqual(['openai-processing-ms', '12'])
  expect(asked.at(-1)).toEqual(['x-amz-target', 'Query'])
})
