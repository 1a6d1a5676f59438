import { expect, it } from 'vitest'
import { createRedactor } from '../../src/privacy/index.ts'

const written = [
  '"password":"tr33house9"',
  '"session_id":"K7fq2Zr9Xv4Tn8Wb"',
  '\\"API_KEY\\": \\"tr33house9\\"',
  'DB_PASS=tr33house9',
  "['x-api-key', 'tr33house9']",
  'session id: K7fq2Zr9Xv4Tn8Wb',
  '**Password:** tr33house9',
]

it.each(written)('a name is read wherever in a long text it stands: %s', (text) => {
  // Texts are walked in stretches of 65,536 characters.
  for (let at = -text.length - 2; at <= 130; at += 1) {
    const long = `${'x'.repeat(65_535 + at)}\n${text}`
    expect(createRedactor().text(long), `${at}`).not.toMatch(/tr33house9|K7fq2Zr9Xv4Tn8Wb/)
  }
})

it('names of your own are read with any signs between their parts', () => {
  const redactor = createRedactor({ keys: ['door code'], names: { random: ['boarding'], always: ['größe'] } })
  for (const name of ['doorCode', 'DOOR_CODE', 'door-code', 'door.code'])
    expect(redactor.text(`{"${name}":"lemon tart"}`)).toBe(`{"${name}":"redacted-secret-1"}`)
  expect(redactor.text('{"boarding":"K7fq2Zr9Xv4Tn8Wb"}')).toBe('{"boarding":"redacted-secret-2"}')
})

it('more names than a person would list cost no more memory than their last letters', () => {
  const keys = Array.from({ length: 4_096 }, (_, n) => `customer number of the year ${n} in full`)
  const redactor = createRedactor({ keys })
  expect(redactor.text('{"customer_number_of_the_year_4000_in_full":"x1y2"}')).toContain('redacted-secret-1')
})

it('names of your own are read with a digit before their last letter', () => {
  const redactor = createRedactor({ keys: ['seal 4k'] })
  expect(redactor.text('{"seal4k":"lemon tart","seal_4_k":"plum tart","seal5k":"fig tart"}')).toBe(
    '{"seal4k":"redacted-secret-1","seal_4_k":"redacted-secret-2","seal5k":"fig tart"}',
  )
})

it('finds settings by the last words of their names, as lines, in JSON and as options', () => {
  const value = `${'Zx81mNq9'}${'2LwPo37R'}tKq7Y`
  const names = [
    'jasypt.encryptor.key',
    'azure.search.key',
    'app.jwt.key',
    'app.jwt.signing-key',
    'spring.security.oauth2.client.registration.x.client-secret',
  ]
  for (const name of names)
    for (const text of [`${name}=${value}\n`, `${name}: ${value}\n`, `{"${name}":"${value}"}`, `-D${name}=${value} x`])
      expect(createRedactor().text(text)).not.toContain(value)
  for (const text of ['search.key=next-page-of-the-list', '{"searchKey":"a1"}', `cache.key=${value}`])
    expect(createRedactor().text(text)).toBe(text)
})
