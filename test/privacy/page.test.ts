import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createRedactor, kindsOn, type RedactorOptions, scan } from '../../src/privacy/index.ts'

const page = readFileSync('docs/privacy.md', 'utf8')

/** Rows of the tables of a section whose cells are code. */
function rowsOf(head: string): readonly (readonly string[])[] {
  const from = page.indexOf(head)
  const table = page.slice(from, page.indexOf('\n\n', page.indexOf('|---', from)))
  return table
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .slice(2, -2)
        .split(' | ')
        .map((cell) => cell.replace(/^`|`$/g, '')),
    )
}

test.each([...rowsOf('| In the text | On the tape |'), ...rowsOf('## How a secret may be spelled')])(
  'the page says truly that %s becomes %s',
  (text, redacted) => {
    expect(createRedactor().text(text!)).toBe(redacted)
    expect(createRedactor().text(redacted!)).toBe(redacted)
  },
)

test.each(rowsOf('| Stays as it is | Because |'))('the page says truly that %s stays: %s', (text) => {
  expect(createRedactor().text(text!)).toBe(text)
})

test('the page says truly what is not found', () => {
  const far = JSON.stringify({ args: ['-u', 'ada:tr33house', '-H', 'a'.repeat(8_192)], command: 'curl' })
  const encoded = Buffer.from('password=tr33house').toString('hex')
  const spoken = ['my password is lemon tart', 'my password is hunter2', "hash('tr33house', 10)"]
  const table = '{"columns":["user","password"],"rows":[["ada","tr33house"]]}'
  const before = ['value=tr33house&name=password', '- value: tr33house\n  name: password']
  for (const text of ['{"pin":4711}', ...spoken, ...before, table, 'htpasswd -b .htpasswd ada lemon', far, encoded])
    expect(createRedactor().text(text)).toBe(text)
})

test('the page says truly what stands behind a word and no sign, and below a name', () => {
  const found = (text: string): boolean => createRedactor().text(text) !== text
  const behind = (words: string, value: string): boolean => found(`password ${words} ${value}`)
  expect(['is', 'was set', 'was set to'].map((words) => behind(words, 'Tr33house'))).toEqual([true, true, true])
  expect(behind('was once set to', 'Tr33house')).toBe(false)
  expect(['is', 'was set', 'was set to'].map((words) => behind(words, 'tr33house'))).toEqual([true, false, false])
  for (const value of ['lemon', '4711471', 'https://a1b2c3.example/x9', '2026-03-01T10:00', 'user17'])
    expect(behind('is', value), value).toBe(false)
  expect(found(`user,password\nada,none\n${'bob,none\n'.repeat(500)}cy,tr33house\n`)).toBe(true)
})

test('base64 is read three deep', () => {
  const deep = (text: string, depth: number): string => {
    return depth === 0 ? text : deep(Buffer.from(text).toString('base64'), depth - 1)
  }
  const secret = '{"note":"of the worker","password":"tr33house"}'
  for (const depth of [1, 2, 3]) expect(createRedactor().text(deep(secret, depth))).not.toBe(deep(secret, depth))
  expect(createRedactor().text(deep(secret, 4))).toBe(deep(secret, 4))
})

const [random, other] = ['K7fq2Zr9Xv4Tn8Wb', 'Jh5gRt7kPm2vQs9d']

test('names and families of an application are found as the page says', () => {
  const redactor = createRedactor({
    names: { random: ['boarding'], always: ['doorCode'], never: ['apiKey'] },
    families: [{ head: 'acme_', of: 'word', min: 32 }],
  })
  expect(redactor.text(`boarding=${random} boarding=now door_code: "green" {"apiKey":"${other}"}`)).toBe(
    `boarding=redacted-secret-1 boarding=now door_code: "redacted-secret-2" {"apiKey":"${other}"}`,
  )
  expect(redactor.json({ doorCode: 'green', boarding: random, apiKey: other, list: [['boarding', random]] })).toEqual({
    doorCode: 'redacted-secret-2',
    boarding: 'redacted-secret-1',
    apiKey: other,
    list: [['boarding', 'redacted-secret-1']],
  })
  const own = `acme_${'A1b2'.repeat(8)}`
  expect(redactor.text(`use ${own}, not ${own.slice(0, -1)}`)).toBe(`use redacted-api-key-1, not ${own.slice(0, -1)}`)
})

test('numbers of people and addresses of machines are found when they are asked for', () => {
  const redactor = createRedactor({ on: ['ssn', 'ip'] })
  expect(redactor.text('123-45-6789 000-12-3456 666-12-3456 912-12-3456 123-00-6789')).toBe(
    'redacted-ssn-1 000-12-3456 666-12-3456 912-12-3456 123-00-6789',
  )
  expect(redactor.text('from 8.8.4.4, not 10.0.0.7, 127.0.0.1, 192.0.2.1, v1.2.3.4 or 1.2.3.4-rc')).toBe(
    'from redacted-ip-1, not 10.0.0.7, 127.0.0.1, 192.0.2.1, v1.2.3.4 or 1.2.3.4-rc',
  )
  expect(createRedactor().text('123-45-6789 8.8.4.4')).toBe('123-45-6789 8.8.4.4')
})

test.each<readonly [string, RedactorOptions, string]>([
  ['a pattern that takes its time', { rules: [{ kind: 'order', pattern: /\w+-\d+/g }] }, 'takes more than 50 ms'],
  ['a pattern that never ends', { rules: [{ kind: 'order', pattern: /(a+)+$/g }] }, 'takes more than 50 ms'],
  ['a head of one character', { families: [{ head: 'a', of: 'word', min: 32 }] }, 'cannot be the head of a family'],
  ['a family of few characters', { families: [{ head: 'acme_', of: 'word', min: 2 }] }, 'a whole number from 8'],
  [
    'characters nobody knows',
    { families: [{ head: 'acme_', of: 'runes' as never, min: 32 }] },
    'no characters "runes"',
  ],
])('%s is refused', (_, options, message) => {
  expect(() => createRedactor(options)).toThrow(message)
})

test('a pattern that only a text made for it slows down is taken', () => {
  const rules = [{ kind: 'ticket', pattern: /#(?:b+)+;/g }]
  expect(createRedactor({ rules }).text('#bb; stays with #bbb')).toBe('redacted-ticket-1 stays with #bbb')
})

test('a pattern that repeats within bounds is taken', () => {
  expect(() => createRedactor({ rules: [{ kind: 'order', pattern: /\w{1,64}-\d{1,9}/g }] })).not.toThrow()
})

test('each kind of the table is one that is looked for, in the places that the table names', () => {
  const kinds = [...page.slice(0, page.indexOf('They are found')).matchAll(/^\| (`[^|]+) \|/gm)]
  const named = kinds.flatMap(([, cell = '']) => [...cell.matchAll(/`([\w-]+)`/g)].map(([, kind]) => kind))
  expect(named.length).toBeGreaterThan(10)
  const optional = ['phone', 'ssn', 'ip']
  expect(named.filter((kind) => !optional.includes(kind!) && !kindsOn.includes(kind as never))).toEqual([])
  const long = `${random}${other}${random}`
  const found: Readonly<Record<string, string>> = {
    [`https://hooks.slack.com/services/T0AB1CD2E/B0AB1CD2E/${long}`]: 'slack-token',
    [`https://discord.com/api/webhooks/123456789012345678/${long}`]: 'webhook',
    [`https://shop.webhook.office.com/webhookb2/0123456789abcdef0123456789abcdef@0123456789abcdef0123456789abcdef/IncomingWebhook/${long}`]:
      'webhook',
    'https://hooks.zapier.com/hooks/catch/1234567/ab3cd4e/': 'webhook',
    [`https://api.telegram.org/bot1234567890:${long.slice(0, 35)}/sendMessage`]: 'api-key',
    [`Authorization: Bearer ${random}`]: 'bearer-token',
    [`Authorization: Basic ${Buffer.from('ada:tr33house').toString('base64')}`]: 'basic-auth',
    'postgres://app:tr33house@db': 'url-password',
    'machine shop.example login ada password tr33house': 'secret',
  }
  for (const [text, kind] of Object.entries(found))
    expect(
      scan(text).map((one) => one.kind),
      text,
    ).toContain(kind)
})

test('a name promises what the page says of it', () => {
  const kept = (text: string): boolean => createRedactor().text(text) === text
  // Regardless of the value, unless that is a stand-in.
  for (const name of ['password', 'secret', 'api_key']) {
    expect(
      ['tr33house', 'lemon tart', '0123'].map((value) => kept(JSON.stringify({ [name]: value }))),
      name,
    ).toEqual([false, false, false])
    expect(
      ['${SECRET}', '<your key>', '{{ key }}', 'none'].map((value) => kept(JSON.stringify({ [name]: value }))),
    ).toEqual([true, true, true, true])
  }
  // Sixteen characters, letters and digits.
  for (const name of ['token', 'auth', 'credential', 'SENDGRID_KEY'])
    expect(
      [random, random.slice(0, 15), 'abcdefghijklmnop', '1234567890123456', 'lemon tart'].map((value) =>
        kept(JSON.stringify({ [name]: value })),
      ),
      name,
    ).toEqual([false, true, true, true, true])
  expect(kept('{"session_id":"550e8400-e29b-41d4-a716-446655440000"}')).toBe(true)
})

test('what is not found is as the page says', () => {
  const secret = 'tr33house-of-ada'
  const lines = Buffer.from(JSON.stringify({ password: secret, note: 'a text that is longer than a line of base64' }))
  const stays = [
    'the word for today is lemontart',
    // A key of a vendor that nobody knows, a digest, an id.
    'use K7fq2Zr9Xv4Tn8WbJh5gRt7kPm2vQs9d for it',
    'd41d8cd98f00b204e9800998ecf8427e da39a3ee5e6b4b0d3255bfef95601890afd80709',
    '{"pin":4711}',
    '{"name":"password","value":"lemontart"}',
    '{"name":"password","value":"lemon tart"}',
    ...['token', 'key', 'session', 'basic'].flatMap((type) =>
      ['d41d8cd98f00b204e9800998ecf8427e', 'k7fq2zr9xv4tn8wbjh5grt7kpm2vqs9d4c6e8f1a'].map((key) =>
        JSON.stringify({ type, key }),
      ),
    ),
    'db:\n  user: ada\n  password: lemontart\n',
    'kind: Secret\ndata:\n  value: bGVtb250YXJ0\n',
    '_Password_: tr33house',
    'ghp\\_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7012345678',
    'DB\\_PASSWORD\\=tr33house',
    'Users: name,password\nada,tr33house\nbob,x9lemon\n',
    JSON.stringify({ body: 'Content-Disposition: form-data; name="password"\r\n\r\nlemontart\r\n--xB--\r\n' }),
    JSON.stringify({
      content: 'ghp _aB 3dE 6gH 9jK 2mN 5pQ 8sT 1vW 4yZ 701 234 567 8'
        .split(' ')
        .map((token) => ({ token, logprob: -0.1 })),
    }),
    '{"SendGrid":{"Key":"K7fq2Zr9Xv4Tn8WbJh5gRt7kPm2vQs9d"}}',
    'user,password\nada,to be told\nbob,Doe,tr33house\n',
    Buffer.from(`password=${secret}`).toString('hex'),
    // base32 of password=tr33house
    'OBQXG43XN5ZGIPLUOIZTG2DPOVZWK===',
    lines.toString('base64').replace(/.{20}/g, '$&\n'),
    Buffer.from([0, 255, 1, ...Buffer.from(`password=${secret}`)]).toString('base64'),
  ]
  for (const text of stays) expect(createRedactor().text(text)).toBe(text)
  // Only a name tells them apart.
  expect(createRedactor().text('{"api_key":"d41d8cd98f00b204e9800998ecf8427e"}')).toBe(
    '{"api_key":"redacted-secret-1"}',
  )
  for (const found of ['{"azure":{"search":{"key":"#"}}}', 'SENDGRID_KEY=#'])
    expect(createRedactor().text(found.replace('#', 'K7fq2Zr9Xv4Tn8WbJh5gRt7kPm2vQs9d'))).toContain('redacted-secret-1')
  // A number under a name stays a number for whoever reads it.
  expect(JSON.parse(createRedactor().text('{"pin":4711,"password":"tr33house"}'))).toEqual({
    pin: 4711,
    password: 'redacted-secret-1',
  })
})
