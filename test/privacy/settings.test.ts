import { expect, test } from 'vitest'
import { ninthFinders } from '../../src/privacy/earlier.ts'
import { createRedactor } from '../../src/privacy/index.ts'

const compose = (line: string): string => `services:\n  db:\n    environment:\n      ${line}\n    ports: [5432]\n`

test.each(['POSTGRES_PASSWORD: lemontart', 'MYSQL_ROOT_PASSWORD: lemonTart', 'SMTP_PASSWD: sesame # for now'])(
  'a variable of the environment is set to one word: %s',
  (line) => {
    for (const text of [compose(line), line, JSON.stringify({ file: compose(line) })])
      expect(createRedactor().text(text)).not.toMatch(/lemon|sesame/i)
  },
)

test.each([
  'DB_PASSWORD: string',
  'DB_PASSWORD: SecretStr',
  'DB_PASSWORD: required',
  'DB_PASSWORD: the password of the database',
  'DB_PASSWORD: ${DB_PASSWORD}',
  'See DB_PASSWORD: without it nothing starts',
  'DB_PASSWORD: string | undefined',
  'DB_PASSWORD: getPassword()',
])('what says something about a variable stays: %s', (line) => {
  expect(createRedactor().text(compose(line))).toBe(compose(line))
})

test.each(['DD-APPLICATION-KEY: %s', '{"applicationKey":"%s"}', 'application_key = %s', 'ingestion_key: %s'])(
  'a key beside an API key is found: %s',
  (form) => {
    const key = '0f9e8d7c6b5a43210f9e8d7c6b5a43210f9e8d7c'
    expect(createRedactor().text(form.replace('%s', key))).not.toContain(key)
    expect(createRedactor().text(form.replace('%s', 'billing'))).toBe(form.replace('%s', 'billing'))
    expect(createRedactor({}, { finders: ninthFinders }).text(form.replace('%s', key))).toContain(key)
  },
)

test('the id of such a key stays', () => {
  const text = '{"applicationKeyId":"0014a1b2c3d4e5f0000000001"}'
  expect(createRedactor().text(text)).toBe(text)
})

test('a tape of the ninth version is read as it was recorded', () => {
  const text = compose('POSTGRES_PASSWORD: lemontart')
  expect(createRedactor({}, { finders: ninthFinders }).text(text)).toBe(text)
})

test.each(['*Password:* tr33house', '*Password*: tr33house', '**Password:** tr33house', '* *Password*: tr33house'])(
  'a name with emphasis is read: %s',
  (text) => {
    expect(createRedactor().text(text)).not.toContain('tr33house')
  },
)

test.each(['password: *pw', 'char *password: *value9', 'password: *.pem'])(
  'a star before a value is no emphasis: %s',
  (text) => {
    expect(createRedactor().text(text)).toBe(text)
  },
)
