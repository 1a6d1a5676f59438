import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HarvestError } from '../../src/errors/index.ts'
import type { Json } from '../../src/tape/types.ts'
import {
  argsModes,
  baselinePath,
  compareTraces,
  mergeBaseline,
  parseBaseline,
  parseCall,
  renderBaseline,
  renderCall,
  type Trace,
  traceModes,
} from '../../src/trace/index.ts'
import { apply, edit, layers, options, traceFrom } from './generators.ts'
import { often } from '../support/often.ts'

describe('a call in a baseline', () => {
  test.for<[string, ReturnType<typeof parseCall>]>([
    ['*', { name: '*', args: '*' }],
    ['lookup(*)', { name: 'lookup', args: '*' }],
    ['lookup()', { name: 'lookup', args: {} }],
    [' refund( amount , order_id ) ', { name: 'refund', args: { amount: undefined, order_id: undefined } }],
    ['refund(amount: *, order_id)', { name: 'refund', args: { amount: undefined, order_id: undefined } }],
    ['search(query: "a, (b) \\" c", limit: 5)', { name: 'search', args: { query: 'a, (b) " c', limit: 5 } }],
    [
      'f(a: {"x": [1, ")"]}, b: null, c: -1.5e3, d: "*")',
      { name: 'f', args: { a: { x: [1, ')'] }, b: null, c: -1500, d: '*' } },
    ],
    ['files:read/all v2.1(path)', { name: 'files:read/all v2.1', args: { path: undefined } }],
    ['"odd (name)"("odd: key": 1, $1)', { name: 'odd (name)', args: { 'odd: key': 1, $1: undefined } }],
    ['f(__proto__: 1)', { name: 'f', args: JSON.parse('{"__proto__": 1}') as { [key: string]: Json } }],
  ])('%s', ([text, call]) => {
    expect(parseCall(text)).toEqual(call)
  })

  test.for([
    'lookup',
    'lookup(',
    'lookup(a',
    'lookup(a,)',
    'lookup(a b: 1',
    'lookup(a: )',
    'lookup(a: x)',
    'lookup(*, a)',
    'lookup(a, *)',
    'lookup(a) b',
    'lookup(a, a)',
    '(a)',
    '',
    '"open(a)',
    'näme(a)',
    '**',
    '*(a)',
    'f(a: {"b": 1)',
    'f(a: 1 2)',
  ])('%s is refused', (text) => {
    const refused = (): unknown => parseCall(text)
    expect(refused).toThrow(HarvestError)
    expect(refused).toThrow('Invalid call in the baseline')
  })

  test('says what was wanted where it cannot be read', () => {
    expect(() => parseCall('refund(amount: 25€)', 'baseline[3]')).toThrowErrorMatchingInlineSnapshot(`
      [HarvestError: Invalid call in the baseline

        at      baseline[3]
        text    refund(amount: 25€)
        column  16
        wanted  a JSON value (texts in double quotes), or *

      → write it like one of: refund(amount, order_id)   search(query: "x", limit: *)   lookup(*)   *
      (HARVEST_BASELINE_CALL)]
    `)
    expect(() => parseCall('refund')).toThrowErrorMatchingInlineSnapshot(`
      [HarvestError: Invalid call in the baseline

        at      call
        text    refund
        column  7
        wanted  arguments: 'refund()' for none, 'refund(*)' for any

      → write it like one of: refund(amount, order_id)   search(query: "x", limit: *)   lookup(*)   *
      (HARVEST_BASELINE_CALL)]
    `)
  })

  test('is written with sorted keys, with their values, or with neither', () => {
    const call = { name: 'refund', args: { order_id: '100X', amount: 25 }, n: 1 }
    expect(renderCall(call, 'keys')).toBe('refund(amount, order_id)')
    expect(renderCall(call, 'exact')).toBe('refund(amount: 25, order_id: "100X")')
    expect(renderCall(call, 'subset')).toBe('refund(amount: 25, order_id: "100X")')
    expect(renderCall(call, 'ignore')).toBe('refund(*)')
    expect(renderCall({ ...call, args: ['a', 1] }, 'keys')).toBe('refund($1, $2)')
    expect(renderCall({ ...call, args: 'bare' }, 'exact')).toBe('refund($1: "bare")')
    expect(renderCall({ ...call, name: ' odd(name', args: { 'a:b': 1 } }, 'keys')).toBe('" odd(name"("a:b")')
  })
})

describe('a baseline', () => {
  test('is a list of calls and of lists of concurrent calls', () => {
    expect(parseBaseline(['a(x)', ['b()', 'c(*)'], ['d()']])).toEqual({
      layers: [
        [{ name: 'a', args: { x: undefined } }],
        [
          { name: 'b', args: {} },
          { name: 'c', args: '*' },
        ],
        [{ name: 'd', args: {} }],
      ],
    })
    expect(parseBaseline([])).toEqual({ layers: [] })
  })

  test.for<[Json, readonly number[]]>([
    [null, []],
    ['a()', []],
    [['a()', 7], [1]],
    [['a()', []], [1]],
    [
      ['a()', ['b()', ['c()']]],
      [1, 1],
    ],
    [
      ['a()', ['b()', 'c(']],
      [1, 1],
    ],
    [['a()', { 'search(query': '"x")' }], [1]],
  ])('%j is refused with the place of the mistake', ([baseline, path]) => {
    try {
      parseBaseline(baseline)
      expect.unreachable()
    } catch (error) {
      expect(HarvestError.is(error)).toBe(true)
      if (HarvestError.is(error)) expect(baselinePath(error)).toEqual(path)
    }
  })

  test('that YAML read as a map says so', () => {
    expect(() => parseBaseline(['a()', { 'search(query': '"x")' }])).toThrowErrorMatchingInlineSnapshot(`
      [HarvestError: Invalid baseline: expected a list of calls

        at      baseline[1]
        found   {"search(query":"\\"x\\")"}
        wanted  a call as text

      YAML reads an unquoted  key: value  inside a call as a map.
      → put the call in quotes: - 'search(query: "x", limit)'
      (HARVEST_BASELINE_SHAPE)]
    `)
  })

  test('sorts concurrent calls, except under strict, where their order counts', () => {
    const trace = traceFrom([
      [
        { name: 'b', args: {} },
        { name: 'a', args: {} },
      ],
      [{ name: 'c', args: {} }],
    ])
    expect(renderBaseline(trace)).toEqual([['a()', 'b()'], 'c()'])
    expect(renderBaseline(trace, { trace: 'strict' })).toEqual([['b()', 'a()'], 'c()'])
  })

  test('has no lists under sequence, and the calls as they were made', () => {
    const [b, a, c] = ['b', 'a', 'c'].map((name, i) => ({ name, args: {}, n: [3, 1, 2][i] ?? 0 }))
    const trace = { layers: [[b, a], [c]] } as Trace
    expect(renderBaseline(trace, { trace: 'sequence' })).toEqual(['a()', 'c()', 'b()'])
  })

  test('writes each tool by its own rule', () => {
    const calls = ['a', 'b', 'c', 'd'].map((name) => [{ name, args: { query: 'x', limit: 1 } }])
    const tools = { b: 'exact', c: { args: ['query'] }, d: () => true } as const
    expect(renderBaseline(traceFrom(calls), { tools })).toEqual([
      'a(limit, query)',
      'b(limit: 1, query: "x")',
      'c(query)',
      'd(limit: 1, query: "x")',
    ])
  })
})

/** Traces with any names and arguments at all. */
const anyTrace: fc.Arbitrary<Trace> = fc
  .array(
    fc.array(
      fc.record({
        name: fc.oneof(fc.constantFrom('search', 'a b', '*', 'x('), fc.string({ unit: 'grapheme' })),
        args: fc.oneof(
          fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })),
          fc.array(fc.jsonValue()),
          fc.jsonValue(),
        ) as fc.Arbitrary<Json>,
      }),
      { minLength: 1, maxLength: 3 },
    ),
    { maxLength: 4 },
  )
  .map((all) => {
    let n = 0
    return { layers: all.map((layer) => layer.map((call) => ({ ...call, n: ++n }))) }
  })

test('for every trace and every mode: what is written reads as a baseline the trace equals', () => {
  fc.assert(
    fc.property(anyTrace, fc.constantFrom(...traceModes), fc.constantFrom(...argsModes), (trace, mode, args) => {
      const written = renderBaseline(trace, { trace: mode, args })
      const stored = JSON.parse(JSON.stringify(written)) as Json
      const { equal, report } = compareTraces(parseBaseline(stored), trace, { trace: mode, args })
      expect(equal, report).toBe(true)
    }),
    { numRuns: often(400) },
  )
})

test('for every trace: per-tool rules are written so that the trace equals the baseline', () => {
  fc.assert(
    fc.property(layers, fc.constantFrom(...traceModes).chain(options), (base, match) => {
      const trace = traceFrom(base)
      // A function that refuses everything refuses the call it was written from, too.
      const refuses = Object.values(match.tools ?? {}).some(
        (rule) => typeof rule === 'function' && !rule({ a: 1 }, { a: 1 }),
      )
      const { equal, report } = compareTraces(parseBaseline(renderBaseline(trace, match)), trace, match)
      if (!refuses) expect(equal, report).toBe(true)
    }),
    { numRuns: often(400) },
  )
})

describe('an updated baseline', () => {
  const call = (
    name: string,
    args: { readonly [key: string]: Json } = {},
  ): { name: string; args: { readonly [key: string]: Json } } => ({ name, args })

  test('is the old one, word for word, when the run equals it', () => {
    const previous = ['lookup( * )', ['b()', 'a()'], ['c(x: *)']]
    const run = traceFrom([[call('lookup', { id: 1 })], [call('a'), call('b')], [call('c', { x: 1 })]])
    expect(mergeBaseline(previous, run)).toBe(previous)
  })

  test('keeps hand-written calls that still stand for one, and writes the others anew', () => {
    const previous = ['lookup(*)', 'search(query: "refund rules", limit)', 'refund(amount: 25)', 'send_email(to)', '*']
    const run = traceFrom([
      [call('lookup', { id: 1 })],
      [call('search', { query: 'refund rules', limit: 9 })],
      [call('refund', { amount: 30, reason: 'late' })],
      [call('audit')],
      [call('log')],
    ])
    expect(mergeBaseline(previous, run)).toEqual([
      'lookup(*)',
      'search(query: "refund rules", limit)',
      'refund(amount: 30, reason)',
      'audit()',
      '*',
    ])
  })

  test('keeps a hand-written call that moved', () => {
    const run = traceFrom([[call('b', { x: 1 })], [call('a', { id: 1 })]])
    expect(mergeBaseline(['a(*)', 'b(*)'], run)).toEqual(['b(*)', 'a(*)'])
    expect(mergeBaseline(['a(*)', 'b(*)'], traceFrom([[call('a'), call('b')]]))).toEqual([['a(*)', 'b(*)']])
  })

  test('keeps untouched layers as they were written', () => {
    const previous = [['b( x )', 'a()'], ['c()']]
    const run = traceFrom([[call('b', { x: 1 }), call('a')], [call('d')]])
    expect(mergeBaseline(previous, run)).toEqual([['b( x )', 'a()'], 'd()'])
  })

  test('under sequence keeps the calls as they were written, and no lists', () => {
    const previous = ['a(*)', ['b( x )', 'c()']]
    const run = traceFrom([[call('a')], [call('b', { x: 1 })], [call('d')], [call('c')]])
    expect(mergeBaseline(previous, run, { trace: 'sequence' })).toEqual(['a(*)', 'b( x )', 'd()', 'c()'])
    const same = traceFrom([[call('a'), call('b', { x: 1 })], [call('c')]])
    expect(mergeBaseline(previous, same, { trace: 'sequence' })).toBe(previous)
  })

  test('under superset loses what was not made and gains nothing', () => {
    const run = traceFrom([[call('a')], [call('extra')], [call('b', { y: 1 })]])
    expect(mergeBaseline(['a(*)', 'b(x)', 'gone()'], run, { trace: 'superset' })).toEqual(['a(*)', 'b(y)'])
  })

  test('under subset gains what was made and loses nothing', () => {
    const run = traceFrom([[call('a')], [call('extra')]])
    expect(mergeBaseline(['a(*)', ['b()', 'c()']], run, { trace: 'subset' })).toEqual([
      'a(*)',
      ['b()', 'c()'],
      'extra()',
    ])
  })

  test('is refused when the old one cannot be read', () => {
    expect(() => mergeBaseline(['a('], traceFrom([]))).toThrow('Invalid call in the baseline')
  })

  test('for every run and mode: the run equals it, and updating again changes nothing', () => {
    fc.assert(
      fc.property(
        layers,
        fc.array(edit, { maxLength: 3 }),
        fc.constantFrom(...traceModes).chain(options),
        fc.nat(5),
        (base, edits, match, loosen) => {
          const written = renderBaseline(traceFrom(base), match) as Json[]
          // By hand: one item became a wildcard.
          const previous = written.map((item, i) =>
            i === loosen ? (loosen % 2 ? '*' : `${String(item).replace(/\(.*/s, '')}(*)`) : item,
          )
          const run = traceFrom(edits.reduce(apply, base))
          const updated = mergeBaseline(previous, run, match)
          if (Object.values(match.tools ?? {}).some((rule) => typeof rule === 'function' && !rule({ a: 1 }, { a: 1 })))
            return
          const { equal, report } = compareTraces(parseBaseline(updated), run, match)
          expect(equal, report).toBe(true)
          expect(mergeBaseline(updated, run, match)).toBe(updated)
        },
      ),
      { numRuns: often(1000) },
    )
  })
})
