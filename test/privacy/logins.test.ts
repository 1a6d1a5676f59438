import { expect, test } from 'vitest'
import { ninthFinders } from '../../src/privacy/earlier.ts'
import { createRedactor } from '../../src/privacy/index.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** Base64 of a user and a password, without a digit, as one in some dozens is. */
const users = ['ada', 'bob', 'ci', 'robot', 'deploy', 'user', 'admin', 'jo', 'root']
const passwords = ['lemon', 'lemontart', 'treehouse', 'abc', 'sesame', 'DGTW', 'quiet!', 'harbor', 'HX:pq', '#pA']
const logins = users
  .flatMap((user) => passwords.map((password) => base64(`${user}:${password}`)))
  .filter((login) => !/\d/.test(login))

const places: Readonly<Record<string, (login: string) => string>> = {
  'the settings of Docker': (login) => `{"auths":{"reg.example":{"auth":"${login}"}}}`,
  'the settings of npm': (login) => `//reg.example/:_auth=${login}\n`,
  'the settings of npm, for all': (login) => `_auth = ${login}\n`,
  'a text in a text': (login) => JSON.stringify({ body: JSON.stringify({ auths: { r: { auth: login } } }) }),
}

test.each(Object.keys(places))('a user and a password in base64 are found in %s, with a digit or without', (place) => {
  expect(logins.length).toBeGreaterThan(1)
  for (const login of [...logins, base64('ada:s3cret'), base64('ada:lemontart').replace(/=+$/, '')])
    expect([login, createRedactor().text(places[place]!(login)).includes(login)]).toEqual([login, false])
})

test('as a field of a value, too', () => {
  for (const auth of logins)
    expect(createRedactor().json({ auths: { r: { auth } } })).not.toEqual({ auths: { r: { auth } } })
})

test.each([
  'required',
  'optional',
  'disabled',
  'anonymous',
  'passport',

  'basicAuth',
  'serverside',
])('another word under that name stays: %s', (said) => {
  for (const place of Object.values(places)) expect(createRedactor().text(place(said))).toBe(place(said))
})

test('a tape of the ninth version is read as it was recorded', () => {
  const text = places['the settings of Docker']!(logins[0]!)
  expect(createRedactor({}, { finders: ninthFinders }).text(text)).toBe(text)
})
