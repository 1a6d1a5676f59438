import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../src/tape/types.ts'
import { compareTraces, type MatchOptions, parseBaseline, type Trace, type TraceMode } from '../../src/trace/index.ts'
import { createMatcher } from '../../src/trace/matcher.ts'
import { maximumMatching } from '../../src/trace/pairing.ts'
import { apply, edit, expectedFrom, layers, options, spellings, traceFrom } from './generators.ts'
import { shouldBeEqual } from './oracle.ts'

const search = (args: { readonly [key: string]: Json }): { name: string; args: { readonly [key: string]: Json } } => ({
  name: 'search',
  args,
})

function isEqual(baseline: Json, actual: Trace, match: MatchOptions): boolean {
  return compareTraces(parseBaseline(baseline), actual, match).equal
}

/** What judges commonly do: each expected call takes the first that is left. */
function greedily(baseline: Json, actual: Trace, match: MatchOptions): boolean {
  const matcher = createMatcher(match)
  const left = actual.layers.flat()
  return parseBaseline(baseline)
    .layers.flat()
    .every((call) => {
      const index = left.findIndex((candidate) => matcher.accepts(call, candidate))
      if (index >= 0) left.splice(index, 1)
      return index >= 0
    })
}

describe('traps in which a greedy pairing fails', () => {
  const traps: readonly {
    readonly name: string
    readonly baseline: Json
    readonly calls: ReturnType<typeof search>[]
    readonly args?: 'superset' | 'subset'
  }[] = [
    {
      name: 'a wildcard before the call that needs its only partner',
      baseline: ['search(*)', 'search(query: "refund rules")'],
      calls: [search({ query: 'refund rules' }), search({ query: 'shipping' })],
    },
    {
      name: 'any call before a named one',
      baseline: ['*', 'search(query)'],
      calls: [search({ query: 'x' }), { name: 'lookup', args: {} }],
    },
    {
      name: 'a wider key list before a narrower one, arguments as superset',
      baseline: ['search(query)', 'search(query, limit)'],
      calls: [search({ query: 'a', limit: 3 }), search({ query: 'b' })],
      args: 'superset',
    },
    {
      name: 'a wider key list before a narrower one, arguments as subset',
      baseline: ['search(query, limit)', 'search(query)'],
      calls: [search({ query: 'a' }), search({ query: 'b', limit: 3 })],
      args: 'subset',
    },
    {
      name: 'a chain in which every call has to give way',
      baseline: ['search(a: *, b: *)', 'search(a: 1, b: *)', 'search(a: 1, b: 1)'],
      calls: [search({ a: 1, b: 1 }), search({ a: 1, b: 2 }), search({ a: 2, b: 2 })],
    },
  ]

  test.for(traps)('$name', ({ baseline, calls, args: given }) => {
    const args = given ?? ('keys' as const)
    const concurrent = traceFrom([calls])
    for (const trace of ['unordered', 'subset', 'superset'] as const) {
      expect(isEqual(baseline, concurrent, { trace, args }), trace).toBe(true)
    }
    expect(isEqual([baseline], concurrent, { trace: 'causal', args })).toBe(true)
    expect(greedily(baseline, concurrent, { args })).toBe(false)
  })

  test('a chain of two hundred, each giving way to the next', () => {
    const expected = {
      layers: [Array.from({ length: 200 }, (_, i) => ({ name: 'search', args: i === 199 ? { q: 199 } : { q: i } }))],
    }
    // The function lets call i stand for i and i + 1, so one order of taking is right and all others are wrong.
    const near = (wanted: Json, given: Json): boolean => {
      const [want, give] = [wanted, given].map((args) => (args as { q: number }).q) as [number, number]
      return give === want || give === want + 1
    }
    const actual = traceFrom([Array.from({ length: 200 }, (_, i) => search({ q: 199 - i }))])
    expect(compareTraces(expected, actual, { tools: { search: near } }).equal).toBe(true)
    const shifted = traceFrom([Array.from({ length: 200 }, (_, i) => search({ q: i + 1 }))])
    expect(compareTraces(expected, shifted, { tools: { search: near } }).equal).toBe(true)
    const oneTooMany = traceFrom([Array.from({ length: 200 }, (_, i) => search({ q: i + 2 }))])
    expect(compareTraces(expected, oneTooMany, { tools: { search: near } }).equal).toBe(false)
  })
})

test('in shuffled runs a greedy pairing rejects many that should pass, and this one none', () => {
  const rejected = { greedy: 0, ours: 0 }
  let valid = 0
  const modes = fc.constantFrom<TraceMode>('superset', 'unordered')
  fc.assert(
    fc.property(
      layers,
      fc.array(fc.constantFrom('keys', 'values', 'any arguments', 'mixed'), { minLength: 2, maxLength: 5 }),
      fc.nat(),
      modes,
      (base, how, by, trace) => {
        const expected = expectedFrom(base, how as never)
        const shuffled = traceFrom(apply(base, { kind: 'permute all', where: 0, which: by, call: search({}) }))
        if (!shouldBeEqual(expected, shuffled, { trace })) return
        valid++
        if (!compareTraces(expected, shuffled, { trace }).equal) rejected.ours++
        const matcher = createMatcher({ trace })
        const left = shuffled.layers.flat()
        const isFound = expected.layers.flat().every((call) => {
          const index = left.findIndex((one) => matcher.accepts(call, one))
          left.splice(index, index < 0 ? 0 : 1)
          return index >= 0
        })
        if (!isFound) rejected.greedy++
      },
    ),
    { numRuns: 5000, seed: 7 },
  )
  expect(rejected.ours).toBe(0)
  expect(rejected.greedy).toBeGreaterThan(valid / 50)
})

test('for every bipartite graph: the matching found is a matching, and no larger one exists', () => {
  const graph = fc.integer({ min: 0, max: 6 }).chain((right) =>
    fc.record({
      right: fc.constant(right),
      edges: fc.array(fc.subarray(Array.from({ length: right }, (_, i) => i)), { maxLength: 6 }),
    }),
  )
  fc.assert(
    fc.property(graph, ({ edges, right }) => {
      const mates = maximumMatching(edges, right)
      const used = mates.filter((mate) => mate !== -1)
      expect(new Set(used).size).toBe(used.length)
      for (const [left, mate] of mates.entries()) if (mate !== -1) expect(edges[left]).toContain(mate)
      expect(used.length).toBe(largest(edges, new Set()))
    }),
    { numRuns: 3000 },
  )
})

/** The size of a maximum matching, by trying everything. */
function largest([first, ...others]: readonly (readonly number[])[], taken: ReadonlySet<number>): number {
  if (first === undefined) return 0
  const without = largest(others, taken)
  return Math.max(
    without,
    ...first.filter((right) => !taken.has(right)).map((right) => 1 + largest(others, new Set([...taken, right]))),
  )
}

test('a mode there is not is refused, and so is a rule that is none', () => {
  const compare = (match: unknown): unknown => compareTraces({ layers: [] }, { layers: [] }, match as MatchOptions)
  expect(() => compare({ trace: 'casual' })).toThrowErrorMatchingInlineSnapshot(`
    [HarvestError: Unknown match mode 'casual'

      option  match.trace
      known   causal, strict, sequence, unordered, subset, superset

    → write one of: causal, strict, sequence, unordered, subset, superset
    (HARVEST_MATCH_MODE)]
  `)
  expect(() => compare({ args: 'key' })).toThrow("Unknown match mode 'key'")
  expect(() => compare({ tools: { search: 'exactly' } })).toThrow("Unknown match mode 'exactly'")
  expect(() => compare({ tools: { search: { arg: ['query'] } } })).toThrowErrorMatchingInlineSnapshot(`
    [HarvestError: Invalid argument rule for tool 'search'

      option  match.tools.search
      found   {"arg":["query"]}
      known   keys, exact, ignore, subset, superset

    → name a mode:   { args: exact }
    → or the keys that count:   { args: [query] }
    (HARVEST_MATCH_MODE)]
  `)
  expect(() => compare({ tools: { search: null } })).toThrow("Invalid argument rule for tool 'search'")
})

test('two thousand equal calls, and two thousand different ones, are compared without trying all pairs', () => {
  const alike = traceFrom([Array.from({ length: 2000 }, () => search({ q: 1 }))])
  const baseline = [Array.from({ length: 2000 }, () => 'search(q)')]
  expect(isEqual(baseline, alike, {})).toBe(true)
  const counting = traceFrom([Array.from({ length: 2000 }, (_, i) => search({ q: i }))])
  const spelledOut = [Array.from({ length: 2000 }, (_, i) => `search(q: ${1999 - i})`)]
  expect(isEqual(spelledOut, counting, { args: 'exact' })).toBe(true)
})

test('for every trace: which calls are concurrent with each other, and how they are listed, changes no verdict', () => {
  fc.assert(
    fc.property(
      layers,
      spellings,
      fc.array(edit, { maxLength: 2 }),
      fc.nat(),
      options('causal'),
      (base, how, edits, by, match) => {
        const expected = expectedFrom(base, how)
        const changed = edits.reduce(apply, base)
        const permuted = apply(changed, { kind: 'permute layers', where: 0, which: by, call: search({}) })
        expect(compareTraces(expected, traceFrom(permuted), match).equal).toBe(
          compareTraces(expected, traceFrom(changed), match).equal,
        )
      },
    ),
    { numRuns: 2000 },
  )
})
