import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRedactor } from '../../src/privacy/index.ts'
import type { Json } from '../../src/tape/index.ts'

/** What a rule begins at: where the name of a field ends with it, a value seems to follow. */
const contexts = [
  ...[
    'Password:',
    'password: ',
    'secret=',
    'Old token:',
    'pin=',
    'passwd :',
    'password = ',
    'password => ',
    'api_key := ',
  ],
  ...[
    'password is ',
    'set password ',
    'the PIN is ',
    'Das Passwort lautet ',
    '密码是',
    '密码：',
    'the password ',
    'otp ',
  ],
  ...[
    '--password=',
    '--password ',
    '--token ',
    'curl -u ',
    'mysql -p',
    'sshpass -p ',
    'docker login -p ',
    'curl -u ada:',
  ],
  ...['htpasswd -b f ada ', 'PGPASSWORD=', 'export TOKEN=', 'ENV DB_PASSWORD ', 'set -x TOKEN ', 'chpasswd <<< ada:'],
  ...[
    'password":',
    "password='",
    'password="',
    'password[] = ',
    'password = env.P ?? ',
    'setPassword(',
    "login('ada', ",
  ],
  ...[
    '<input name="password" value=',
    '<password>',
    '- name: DB_PASSWORD\n  value: ',
    'variable "db_password" {\n  default = ',
  ],
  ...['form-data; name="password"\r\n\r\n', 'where password = ', 'identified by ', 'insert into t (password) values ('],
  ...[
    'user,password\nada,',
    'pass:',
    'machine x login y password ',
    '*:*:*:ada:',
    'Bearer ',
    'https://ada:',
    '?token=',
    'Cookie: ',
  ],
  ...[
    '-----BEGIN PRIVATE KEY-----',
    'password: |\n  ',
    'type: api_key\nkey: ',
    '"type":"api_key","key":',
    'azure:\n  search:\n    key: ',
  ],
]
const beginning = fc.constantFrom('', 'user ', 'x', 'the ', 'a: 1\n', '"', "it's ", '{"a":')
const end = fc.constantFrom('', '', '', ' ', '"', "'", '`', '\n', ':', ' =', '\\', '"""', '[', '{"value":"')
const name = fc.oneof(
  fc.constantFrom('page', 'note', 'type', 'value'),
  fc.tuple(beginning, fc.constantFrom(...contexts), end).map((parts) => parts.join('')),
)
const leaf = fc.oneof(
  fc.constantFrom<Json>(
    4711,
    -1.5,
    12_345_678,
    1e21,
    2.5e-7,
    true,
    false,
    null,
    'plain',
    'hunter22x',
    '',
    '"',
    "'",
    ', ',
  ),
  fc.integer(),
  fc.constantFrom(...contexts),
)
const value = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(name, tie('json'), { maxKeys: 4 }),
  ),
})).json
const item = fc.oneof(fc.array(value, { maxLength: 3 }), fc.dictionary(name, value, { minKeys: 1, maxKeys: 4 }))

/** What stays, no matter what is redacted: how things are nested, and of which kind they are. */
function shapeOf(json: Json): unknown {
  if (Array.isArray(json)) return json.map(shapeOf)
  if (typeof json !== 'object' || json === null) return typeof json === 'string' ? 'text' : typeof json
  return Object.values(json).map(shapeOf)
}

/** A text with JSON in it, and how that is read from it. */
interface Form {
  readonly write: (items: readonly Json[]) => string
  readonly read: (text: string) => readonly Json[]
}

const parsed = (text: string): Json => JSON.parse(text) as Json
const forms: Readonly<Record<string, Form>> = {
  'one after the other in a list': { write: (items) => JSON.stringify(items), read: (text) => parsed(text) as Json[] },
  'in lines of their own': {
    write: (items) => items.map((one) => JSON.stringify(one)).join('\n'),
    read: (text) => text.split('\n').map(parsed),
  },
  'in a stream of events': {
    write: (items) => items.map((one) => `event: delta\ndata: ${JSON.stringify(one)}\n\n`).join(''),
    read: (text) => [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => parsed(data)),
  },
  'indented in a text': {
    write: (items) => `Here:\n\n\`\`\`json\n${JSON.stringify(items, undefined, 2)}\n\`\`\`\n`,
    read: (text) => parsed(text.split('```')[1]!.slice('json'.length)) as Json[],
  },
  indented: { write: (items) => JSON.stringify(items, undefined, 1), read: (text) => parsed(text) as Json[] },
}

test.each(Object.entries(forms))(
  'values of JSON %s keep their shape, no matter what their fields are called',
  (_, form) => {
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 3 }), fc.nat(2), (items, depth) => {
        let text = form.write(items)
        for (let at = 0; at < depth; at++) text = JSON.stringify({ note: text, page: 1 })
        let shown = createRedactor().text(text)
        for (let at = 0; at < depth; at++) shown = (JSON.parse(shown) as { note: string }).note
        expect(form.read(shown).map(shapeOf)).toEqual(items.map(shapeOf))
        expect(shapeOf(createRedactor().json(items))).toEqual(shapeOf(items))
      }),
      { seed: 14, numRuns: 500 },
    )
  },
)

/** Of the contexts, those that are the name of a secret and a sign behind it. */
const named = fc.constantFrom(
  'Password:',
  'password: ',
  'api_key =',
  'DB_PASSWORD ',
  '--password=',
  'secret=',
  '密码：',
)

test.each(Object.entries(forms))(
  'in JSON %s, texts in fields that are called like a secret are found, no matter what stands beside them',
  (_, form) => {
    fc.assert(
      fc.property(item, item, named, fc.boolean(), fc.nat(2), (before, behind, key, isFirst, depth) => {
        const given = { [key]: 'tr33house', page: 1, password: 'lemon7tart' }
        const items = isFirst ? [given, before, behind] : [before, given, behind]
        let text = form.write(items)
        for (let at = 0; at < depth; at++) text = JSON.stringify({ note: text, page: 1 })
        expect(createRedactor().text(text)).not.toMatch(/tr33house|lemon7tart/)
      }),
      { seed: 14, numRuns: 500 },
    )
  },
)
