import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseCase } from '../../src/cases/index.ts'
import { HarvestError } from '../../src/errors/index.ts'
import { errorOf, full, head, messageOf } from './samples.ts'

const read = (text: string) => () => parseCase(text, 'refund-100x.case.yaml')

test('an alias bomb is refused before it is built', () => {
  const levels = 'bcdefghi'.split('')
  const bomb = levels
    .map((name, i) => `  ${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[i]}`).join(', ')}]\n`)
    .join('')
  expect(errorOf(read(`${head}outcome:\n  a: &a [x, x]\n${bomb}`)).code).toBe('HARVEST_CASE_ALIAS')
  expect(messageOf(read(`${head}outcome:\n  a: &a [x, x]\n  b: *a\n`))).toMatchInlineSnapshot(`
    "The case file has 2 issues

      case  refund-100x.case.yaml:6:6

      6:6
        expected  plain data
        found     the anchor &a
        → write the value out; a text that begins so goes in quotes
      7:6
        expected  plain data
        found     the alias *a
        → write the value out; a text that begins so goes in quotes

    → to see what was edited: git diff -- refund-100x.case.yaml
    (HARVEST_CASE_ALIAS)"
  `)
})

test('a map of 20,000 keys is refused while it is being cut into words', () => {
  const keys = Array.from({ length: 20_000 }, (_, i) => `  k${i}: 1\n`).join('')
  expect(messageOf(read(`${head}outcome:\n${keys}`))).toMatchInlineSnapshot(`
    "The case file has an issue

      case  refund-100x.case.yaml:3751:11

      3751:11
        expected  at most 30000 words and marks
        found     more of them
        → long data belongs in the tape

    → to see what was edited: git diff -- refund-100x.case.yaml
    (HARVEST_CASE_TOO_MANY)"
  `)
})

test('a hundred thousand brackets are refused at the sixty-fifth', () => {
  expect(messageOf(read(`${head}outcome: ${'['.repeat(100_000)}`))).toMatchInlineSnapshot(`
    "The case file has an issue

      case  refund-100x.case.yaml:5:73

      5:73
        expected  at most 64 lists and maps inside each other
        found     more of them
        → long data belongs in the tape

    → to see what was edited: git diff -- refund-100x.case.yaml
    (HARVEST_CASE_TOO_DEEP)"
  `)
  for (const opening of ['{', '{a: ', '[{a: ', '\n  - - ']) {
    const nested = opening.startsWith('\n') ? `\n  ${'- '.repeat(100_000)}x` : opening.repeat(30_000)
    expect(errorOf(read(`${head}outcome: ${nested}`)).code, opening).toBe('HARVEST_CASE_TOO_DEEP')
  }
})

test('sixty lists inside each other are read', () => {
  expect(parseCase(`${head}outcome: ${'['.repeat(60)}${']'.repeat(60)}\n`, 'a').outcome).toHaveLength(1)
})

test('a case of more than 256 KiB is not even looked at', () => {
  expect(messageOf(read(`${head}# ${'x'.repeat(256 * 1024)}`))).toMatchInlineSnapshot(`
    "The case file is too large

      case   refund-100x.case.yaml
      bytes  262220, at most 262144

    A case is reviewed by people; long data belongs in its tape.
    → shorten the outcome: it is a structural match, so it can leave out irrelevant parts
    (HARVEST_CASE_TOO_LARGE)"
  `)
})

test('a flood of bad escapes is one mistake', () => {
  expect(messageOf(read(`${head}title: "${'\\x'.repeat(100_000)}"\n`))).toMatchInlineSnapshot(`
    "The case file has an issue

      case  refund-100x.case.yaml:5:9

      5:9
        expected  an escape of YAML in double quotes
        found     the escape \\x
        → a backslash is written \\\\

    → to see what was edited: git diff -- refund-100x.case.yaml
    (HARVEST_CASE_SYNTAX)"
  `)
})

test('many mistakes are counted, not all shown', () => {
  const message = messageOf(read(`${head}${Array.from({ length: 500 }, (_, i) => `k${i}: 1\n`).join('')}`))
  expect(message).toContain('The case file has 500 issues')
  expect(message).toContain('… and 480 more')
})

describe('a case is data, so this is refused:', () => {
  const refused: readonly (readonly [what: string, text: string, code: string])[] = [
    ['a tag of JavaScript', `${head}outcome: !!js/function "() => 1"\n`, 'HARVEST_CASE_TAG'],
    ['a tag of Python', `${head}outcome: !!python/object/apply:os.system ["true"]\n`, 'HARVEST_CASE_TAG'],
    ['a tag of its own', `${head}outcome: !secret x\n`, 'HARVEST_CASE_TAG'],
    ['a tag in verbatim form', `${head}outcome: !<tag:yaml.org,2002:str> 1\n`, 'HARVEST_CASE_TAG'],
    ['a plain tag of YAML', `${head}outcome: !!binary aGk=\n`, 'HARVEST_CASE_TAG'],
    ['a directive that changes the version', `%YAML 1.1\n---\n${head}`, 'HARVEST_CASE_DIRECTIVE'],
    ['a directive that renames tags', `%TAG !! tag:example.com,2000:\n---\n${head}`, 'HARVEST_CASE_DIRECTIVE'],
    ['an anchor', `${head}outcome: &a 1\n`, 'HARVEST_CASE_ALIAS'],
    ['a merge key', `${head}outcome: { <<: { a: 1 }, b: 2 }\n`, 'HARVEST_CASE_MERGE_KEY'],
    ['a control character', `${head}title: a\u001b[2Jb\n`, 'HARVEST_CASE_SYNTAX'],
    ['a key that is a list', `${head}outcome: { ? [a] : 1 }\n`, 'HARVEST_CASE_KEY_TYPE'],
    ['a key that is a number', `${head}outcome: { 1: a }\n`, 'HARVEST_CASE_KEY_TYPE'],
    ['a key that is nothing', `${head}outcome: { : a }\n`, 'HARVEST_CASE_KEY_TYPE'],
    ['a number that is none', `${head}outcome: [.nan]\n`, 'HARVEST_CASE_NUMBER'],
  ]
  test.each(refused)('%s', (_, text, code) => {
    expect(errorOf(read(text)).code).toBe(code)
  })

  test.each(['__proto__', 'constructor', 'prototype'])('the key %s, at every depth', (key) => {
    for (let depth = 0; depth < 6; depth++) {
      for (const spelled of [key, `"${key}"`, `"${key.replace(/./g, (c) => `\\x${c.charCodeAt(0).toString(16)}`)}"`]) {
        const nested = `${'{ a: '.repeat(depth)}{ ${spelled}: { polluted: 1 } }${' }'.repeat(depth)}`
        expect(errorOf(read(`${head}outcome: ${nested}\n`)).code).toBe('HARVEST_CASE_FORBIDDEN_KEY')
      }
    }
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

// Spelled so that Vitest does not obey it here.
const at = '@'

test('text that Vitest obeys in a test file is refused, with the way to write it', () => {
  const message = messageOf(read(`${head}title: see ${at}vitest-environment happy-dom\n# ${at}module-tag slow\n`))
  expect(message.replaceAll(at, '(at)')).toMatchInlineSnapshot(`
    "The case file has 2 issues

      case  refund-100x.case.yaml:5:12

      5:12
        expected  no text that Vitest obeys when it stands in a test file
        found     (at)vitest-environment
        → in double quotes it is written "\\x40vitest-environment", in a comment it has no place
      6:3
        expected  no text that Vitest obeys when it stands in a test file
        found     (at)module-tag
        → in double quotes it is written "\\x40module-tag", in a comment it has no place

    → to see what was edited: git diff -- refund-100x.case.yaml
    (HARVEST_CASE_PRAGMA)"
  `)
  for (const pragma of ['vitest-environment-options {', 'jest-environment jsdom', 'vitest-anything']) {
    expect(errorOf(read(`${head}title: "${at}${pragma}"\n`)).code).toBe('HARVEST_CASE_PRAGMA')
  }
  const escaped = parseCase(`${head}title: "see \\x40vitest-environment happy-dom"\n`, 'a')
  expect(escaped.title).toBe(`see ${at}vitest-environment happy-dom`)
})

test('a tape outside the folder is refused', () => {
  const withTape = (tape: string) => read(head.replace('refund-100x.tape.jsonl', JSON.stringify(tape)))
  expect(messageOf(withTape('../../../etc/passwd'))).toMatchInlineSnapshot(`
    "The case file has an issue

      case  refund-100x.case.yaml:3:7

      3:7  tape
        expected  the name of a .tape.jsonl file in the same folder, without a path
        found     "../../../etc/passwd"

    → to see what was edited: git diff -- refund-100x.case.yaml
    (HARVEST_CASE_TAPE_PATH)"
  `)
  const outside = [
    '../a.tape.jsonl',
    '/etc/a.tape.jsonl',
    'b/a.tape.jsonl',
    'b\\a.tape.jsonl',
    'C:\\a.tape.jsonl',
    'C:a.tape.jsonl',
    '\\\\host\\share\\a.tape.jsonl',
    '..',
    '.',
    '',
    '.tape.jsonl',
    '.a.tape.jsonl',
    'a\u0000.tape.jsonl',
    'a.tape.jsonl/',
    'a.tape.jsonl\n',
    'file:///a.tape.jsonl',
    '~/a.tape.jsonl',
    'con.tape.jsonl',
    'lpt1.x.tape.jsonl',
    'a.case.yaml',
    '%2e%2e/a.tape.jsonl',
  ]
  for (const tape of outside) expect(errorOf(withTape(tape)).code, tape).toBe('HARVEST_CASE_TAPE_PATH')
})

test('an id that could be anything but a file name is refused', () => {
  const withId = (id: string) => read(head.replace('refund-100x', JSON.stringify(id)))
  for (const id of [
    '',
    '.',
    '..',
    '../a',
    'a/b',
    'a\\b',
    'A',
    'a b',
    '-a',
    '.a',
    'con',
    'nul',
    'com1',
    'aux.b',
    'lpt9',
    'a\n',
    'é',
    'a'.repeat(129),
  ]) {
    expect(errorOf(withId(id)).code, id).toBe('HARVEST_CASE_ID')
  }
  for (const id of ['a', '0', 'a'.repeat(128), 'console', 'com', 'a..b', 'nul-a'])
    expect(parseCase(withIdText(id), 'a').id).toBe(id)
})

function withIdText(id: string): string {
  return head.replace('refund-100x', JSON.stringify(id))
}

test('for every text, reading it gives a case or an error of ours', () => {
  const pieces = fc.constantFrom(
    'case: a\n',
    'outcome:',
    ' ',
    '  ',
    '\n',
    '- ',
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    ': ',
    '? ',
    '&a ',
    '*a',
    '!!x ',
    '|\n',
    '>-\n',
    '#',
    '%YAML 1.1\n',
    '---\n',
    '...\n',
    '\t',
    '\\x',
    '@',
    '`',
    'x',
    '1',
    '.nan',
    'null',
    '\ufeff',
    '\u2028',
    '\ud800',
    '<<: ',
    'baseline: ',
    'a(b: 1)',
    ',',
  )
  const noise = fc.array(pieces, { maxLength: 60 }).map((all) => all.join(''))
  const edited = fc
    .tuple(fc.nat(full.length), fc.nat(20), noise)
    .map(([at, cut, text]) => full.slice(0, at) + text + full.slice(at + cut))
  fc.assert(
    fc.property(fc.oneof(noise, edited), (text) => {
      try {
        expect(parseCase(text, 'a').lines.case).toBeGreaterThan(0)
      } catch (error) {
        expect(HarvestError.is(error), String(error)).toBe(true)
      }
    }),
    { numRuns: 2_000 },
  )
})
