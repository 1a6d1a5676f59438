import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRedactor, scan } from '../../src/privacy/index.ts'

const random = fc.stringMatching(/^[a-z]{4}[0-9]{3}[A-Z]{5}[a-z]{4}$/)
const hex = (character: string): string => character.charCodeAt(0).toString(16).padStart(2, '0')

/** Ways to spell a sign. */
const spellings: Readonly<Record<string, (sign: string) => string>> = {
  json: (sign) => `\\u00${hex(sign)}`,
  percent: (sign) => `%${hex(sign).toUpperCase()}`,
  entity: (sign) => `&#x${hex(sign)};`,
  colour: (sign) => `\x1b[36m${sign}\x1b[0m`,
  'colour in JSON': (sign) => `\\u001b[1m${sign}\\u001b[0m`,
}

/** Lines with a secret, and `~` for the sign that is spelled, however far from the name and the value. */
const lines: readonly (readonly [what: string, line: (secret: string, far: string) => string])[] = [
  ['a cookie behind a long one', (secret, far) => `Cookie: theme=${far}~ sid=${secret}`],
  ['a cookie that begins behind a sign', (secret, far) => `Set-Cookie: a~${far} b=${secret}`],
  ['a value behind its name', (secret, far) => `${far} password~${secret}`],
  ['a long password of an address', (secret, far) => `${far} postgres://app:${'x'.repeat(40)}~${secret}@db.example/a`],
]

test.each(lines)('for every spelling, and however far the text goes on, %s is found', (_, line) => {
  fc.assert(
    fc.property(
      random,
      fc.constantFrom(...Object.keys(spellings)),
      fc.integer({ min: 0, max: 700 }),
      fc.integer({ min: 0, max: 700 }),
      (secret, spelling, before, behind) => {
        // Text in which signs are spelled by percent has no blanks.
        fc.pre(spelling !== 'percent' || !line('', '').endsWith(' b='))
        const spelled = line(secret, 'word-'.repeat(200).slice(0, before)).replace('~', spellings[spelling]!('='))
        const text = `${'Plain text. '.repeat(30)}\n${spelled}\n${'More of it. '.repeat(60).slice(0, behind)}`
        expect(createRedactor().text(text)).not.toContain(secret)
      },
    ),
  )
})

test('a number in groups is found whole behind an escape', () => {
  for (const [text, kind] of [
    ['to%3DDE89 3704 0044 0532 0130 00', 'iban'],
    ['card%204111 1111 1111 1111', 'card'],
  ] as const)
    expect(scan(`${text} and more of the text`).map((found) => [found.kind, found.length])).toEqual([
      [kind, text.length - text.search(/(?<=%\w\w)/)],
    ])
})

test('for every spelling, what is harmless stays so however far the text goes on', () => {
  const harmless = [
    'https://medium.com/@user',
    'npm i left-pad@1.3.0 @scope/name@2.0.1',
    'img@2x.png',
    '550e8400-e29b-41d4-a716-446655440000',
    '<Button onClick={save} key={id} />',
    'password: string; token: Token',
  ]
  fc.assert(
    fc.property(
      fc.constantFrom(...harmless),
      fc.constantFrom(...Object.keys(spellings)),
      fc.integer({ min: 0, max: 700 }),
      fc.integer({ min: 0, max: 700 }),
      (plain, spelling, before, behind) => {
        const text = `${'word '.repeat(200).slice(0, before)} ${plain} ${'x-'.repeat(400).slice(0, behind)} ${spellings[spelling]!('=')} end`
        expect(scan(text), text).toEqual([])
      },
    ),
  )
})

test('a secret is found wherever the border of what is looked at in one go cuts it', () => {
  const [border, filler] = [1 << 16, 'Plain text. '.repeat(6_000)]
  for (const [head, secret] of [
    ['gh', 'p_16C7e42F292c6912E7710c838347Ae178B4a'],
    ['"password" : "', 'tr33house9'],
  ] as const)
    for (let at = border - head.length - 4; at <= border; at++)
      expect(createRedactor().text(`${filler.slice(0, at)} ${head}${secret}" and more`)).not.toContain(secret)
})
