import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createRedactor, type RedactorOptions } from '../../src/privacy/index.ts'

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
  for (const text of ['{"pin":4711}', 'my password is lemon tart', Buffer.from('password=tr33house').toString('hex')])
    expect(createRedactor().text(text)).toBe(text)
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

test('a pattern that repeats within bounds is taken', () => {
  expect(() => createRedactor({ rules: [{ kind: 'order', pattern: /\w{1,64}-\d{1,9}/g }] })).not.toThrow()
})
