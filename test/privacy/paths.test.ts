import { expect, test } from 'vitest'
import { ninthFinders } from '../../src/privacy/earlier.ts'
import { createRedactor } from '../../src/privacy/index.ts'

/*
 * One in 64 keys in base64 begins with a slash, as a path does.
 */
let state = 20260304
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const keyOf = (length: number): string => {
  let key = '/'
  while (key.length < length) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    key += letters[(state >> 16) & 63]
  }
  return key
}

const places: Readonly<Record<string, (key: string) => string>> = {
  'a variable': (key) => `AWS_SECRET_ACCESS_KEY=${key}\n`,
  'a file of AWS': (key) => `aws_secret_access_key = ${key}\n`,
  'a table of AWS': (key) => `Access key ID,Secret access key\nAKIAQ7WXQ7WXQ7WXQ7WX,${key}\n`,
  'a connection to Azure': (key) => `AccountName=x;AccountKey=${key};EndpointSuffix=core.windows.net`,
  'a connection to a bus': (key) => `SharedAccessKeyName=Root;SharedAccessKey=${key}`,
  'a form': (key) => `client_secret=${key}`,
  JSON: (key) => `{"token":"${key}"}`,
  YAML: (key) => `password: ${key}`,
  XML: (key) => `<SecretAccessKey>${key}</SecretAccessKey>`,
}

test.each(Object.keys(places))('a key in %s is found that begins with a slash', (place) => {
  for (let count = 0; count < 200; count++) {
    const key = keyOf(40)
    expect(createRedactor().text(places[place]!(key))).not.toContain(key)
  }
})

test.each(['password: /Xk9fR2mQ7', 'Password=/Xk9fR2mQ7;'])(
  'a password is found that begins with a slash: %s',
  (text) => {
    expect(createRedactor().text(text)).not.toContain('/Xk9fR2mQ7')
  },
)

const paths = [
  '/run/secrets/db_password',
  '/etc/app/key.pem',
  '/v1/token',
  '/home/ada/.ssh/id_rsa',
  '/var/run/secrets/kubernetes.io/serviceaccount/token',
  '/srv/AdaL/Documents/MyKeys2/key-2024.pem',
  '/etc/letsencrypt/live/x.example.com/privkey1.pem',
  '/projects/p1/secrets/api-key/versions/3',
  '/app/dist/index.js?token=1',
  '/C:/opt/ada/key.txt',
  '//registry.example.com/team/image',
  '/api/users/3f2504e0-4f89-41d3-9a0c-0305e82c3301/token',
]

test.each(paths)('a path is no secret, under any name: %s', (path) => {
  for (const text of [`password: ${path}`, `PASSWORD=${path}`, `{"token":"${path}"}`, `--token ${path}`])
    expect(createRedactor().text(text)).toBe(text)
})

test('a tape of the ninth version is read as it was recorded', () => {
  const text = places['a variable']!(keyOf(40))
  expect(createRedactor({}, { finders: ninthFinders }).text(text)).toBe(text)
})
