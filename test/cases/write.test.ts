import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type CaseContent, writeCase } from '../../src/cases/index.ts'
import type { Json } from '../../src/tape/types.ts'
import { contentOf, errorOf, full } from './samples.ts'
import { often } from '../support/often.ts'

// Spelled so that Vitest does not obey it here.
const at = '@'
const least: CaseContent = { id: 'refund-100x', agent: 'refund', tape: 'refund-100x.tape.jsonl', expect: 'pass' }

test('a new case is written in fixed order, in block style, with the schema for editors', () => {
  expect(writeCase(contentOf(full))).toMatchInlineSnapshot(`
    "# yaml-language-server: $schema=../../../node_modules/vitest-harvest/case.schema.json
    case: refund-100x
    agent: refund
    tape: refund-100x.tape.jsonl
    expect: pass
    title: Never refunds more than the order value
    tags: [golden, incident]
    lesson:
      wrong: refunded 2500
      right: refund 25
    pins:
      commit: 4f2a9c1
      dirty: false
      models: [claude-x]
      prompt: sha256-aa
      tools: sha256-bb
      node: 24.21.0
    match:
      trace: causal
      args: keys
      tools:
        search:
          args: [query]
        lookup_order: exact
    drift:
      messages: fail
      headers: ignore
    escapes:
      allow:
        - socket 127.0.0.1:5432
    serve: reworded
    tools:
      run:
        - refund
    timeout: 20000
    baseline:
      - lookup_order(order_id)
      - - audit(*)
        - notify(channel)
      - refund(amount, order_id)
    messages:
      - from: planner
        to: worker
        body:
          order: A-100
          amount: 25
    marks:
      - name: planned
        data:
          - 1
          - null
      - name: done
    states:
      - of: cart
        call: 2
        in: 4
        changes:
          - path: /total
            value: 25
          - path: /note
    rules:
      - "never refund(amount: $a) where $a > 500"
    outcome:
      refunded: 25
      note: null
    oracle: ./src/oracle.ts#isRight
    approved:
      reason: limit is per order
      by: Kim
      at: 2026-11-20T10:00:00Z
    "
  `)
})

test('the path of the schema can be told', () => {
  expect(writeCase(least, { schema: '../case.schema.json' }).split('\n')[0]).toBe(
    '# yaml-language-server: $schema=../case.schema.json',
  )
})

test('a text that YAML would read as something else is quoted', () => {
  const text = writeCase({
    ...least,
    pins: { commit: '1234567', prompt: '0x1f', tools: 'true' },
    title: '~',
    tags: ['null', '1e3'],
  })
  expect(text).toContain('commit: "1234567"')
  expect(contentOf(text)).toMatchObject({
    pins: { commit: '1234567', prompt: '0x1f', tools: 'true' },
    title: '~',
    tags: ['null', '1e3'],
  })
})

test('a call of a baseline stays one line however long it is', () => {
  const call = `search(${Array.from({ length: 40 }, (_, i) => `a_rather_long_key_${i}`).join(', ')})`
  expect(writeCase({ ...least, baseline: [call] })).toContain(`  - ${call}\n`)
})

test('text that Vitest would obey is written so that it sees nothing and we read the same', () => {
  const content: CaseContent = {
    ...least,
    title: `${at}vitest-environment happy-dom`,
    lesson: { wrong: `line\n// ${at}module-tag slow\n`, right: `\\${at}jest-environment-options {` },
    baseline: [`write(text: "/* ${at}vitest-environment jsdom */")`],
    outcome: { [`${at}vitest-key`]: [`a "quoted" ${at}vitest-environment x`] },
  }
  const text = writeCase(content)
  expect(text).not.toContain(at)
  expect(contentOf(text)).toEqual(content)
})

test('data that looks like a merge key is written as data', () => {
  const content = { ...least, outcome: { '<<': { a: 1 }, list: ['<<'] } }
  expect(contentOf(writeCase(content))).toEqual(content)
})

test('what cannot be read again is not written', () => {
  expect(errorOf(() => writeCase({ ...least, id: 'Not A Slug' })).code).toBe('HARVEST_CASE_ID')
  expect(errorOf(() => writeCase({ ...least, tape: '../a.tape.jsonl' })).code).toBe('HARVEST_CASE_TAPE_PATH')
  expect(errorOf(() => writeCase({ ...least, outcome: JSON.parse('{"__proto__":{"a":1}}') as Json })).code).toMatch(
    /HARVEST_CASE_/,
  )
  expect(errorOf(() => writeCase({ ...least, outcome: Number.NaN })).code).toBe('HARVEST_CASE_NUMBER')
  expect(errorOf(() => writeCase({ ...least, outcome: 'x'.repeat(300_000) })).code).toBe('HARVEST_CASE_TOO_LARGE')
})

const pieces = fc.constantFrom(
  'a',
  ' ',
  '  ',
  '\n',
  '\n\n',
  '\r',
  '\r\n',
  '\t',
  ':',
  ': ',
  '#',
  ' #',
  '- ',
  '? ',
  '[',
  ']',
  '{',
  '}',
  ',',
  '&',
  '*',
  '!',
  '|',
  '>',
  "'",
  '"',
  '%',
  '@',
  '`',
  '\\',
  '\\x',
  '---',
  '...',
  '<<',
  '~',
  'null',
  'yes',
  '1',
  '0x1',
  '.inf',
  '=',
  '\u0000',
  '\u0007',
  '\u001b',
  '\u007f',
  '\u0085',
  '\u00a0',
  '\u2028',
  '\u2029',
  '\ufeff',
  '\ud800',
  '\udc00',
  '🧾',
  'é',
  `${at}vitest-environment x`,
  `// ${at}module-tag y`,
  'a rather long word and '.repeat(8),
)
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(pieces, { maxLength: 12 }).map((all) => all.join('')),
)
const words = fc.array(
  text.map((word) => `x${word}`),
  { maxLength: 3 },
)
const key = text.filter((name) => !['__proto__', 'constructor', 'prototype'].includes(name))
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value))
const json = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(null, true, false),
    fc.oneof(number, fc.integer()),
    text,
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(key, tie('json'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).json

const blankLines = `x${'a rather long word and '.repeat(8)}\n \n\ud800`

test('for every case, reading what was written gives the same case, and Vitest finds nothing in it', () => {
  const optional = { requiredKeys: [] as [] }
  const contents = fc.record(
    {
      title: text,
      tags: fc.constantFrom([], ['golden'], ['a', 'b/c']),
      lesson: fc.record({ wrong: text, right: text }, optional),
      pins: fc.record({ commit: text, dirty: fc.boolean(), models: words, node: text }, optional),
      match: fc.record(
        {
          trace: fc.constant('strict' as const),
          tools: fc.dictionary(key, fc.record({ args: words }), { maxKeys: 3 }),
        },
        optional,
      ),
      escapes: fc.record({ allow: words }),
      timeout: fc.integer({ min: 1, max: 3_600_000 }),
      baseline: fc.array(fc.constantFrom('*', 'a(*)', 'b()', 'c(k: "v: #", j)', ['a(*)', 'b()'], ['*']), {
        maxLength: 4,
      }),
      rules: words,
      outcome: json,
      approved: fc.record({ reason: text, by: text, at: text }, optional),
    },
    optional,
  )
  fc.assert(
    fc.property(contents, (fields) => {
      const content = { ...least, ...fields } as CaseContent
      const written = writeCase(content)
      expect(written).not.toMatch(/@(?:vitest-|jest-environment|module-tag)/)
      expect(written.endsWith('\n')).toBe(true)
      expect(contentOf(written)).toEqual(content)
    }),
    // A blank between two line ends, in a text that only double quotes can hold.
    { numRuns: often(100), examples: [[{ escapes: { allow: [blankLines] } }], [{ outcome: { text: blankLines } }]] },
  )
})
