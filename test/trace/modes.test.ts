import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  compareTraces,
  type ExpectedTrace,
  type MatchOptions,
  type Trace,
  type TraceMode,
  traceModes,
} from '../../src/trace/index.ts'
import {
  apply,
  type Edit,
  edit,
  expectedFrom,
  type Layers,
  layers,
  options,
  spellings,
  traceFrom,
} from './generators.ts'
import { shouldBeEqual } from './oracle.ts'
import { often } from '../support/often.ts'

const runs = often(4000)

describe('against exhaustive search', () => {
  test.each(traceModes)(`%s: no false rejection and no false acceptance in ${runs} generated cases`, (mode) => {
    const verdicts = { equal: 0, different: 0 }
    fc.assert(
      fc.property(runsOf(mode), spellings, options(mode), ([base, edits, moments], how, match) => {
        const expected = expectedFrom(base, how)
        const actual = madeAt(moments, traceFrom(edits.reduce(apply, base)))
        const truth = shouldBeEqual(expected, actual, match)
        verdicts[truth ? 'equal' : 'different']++
        agrees(expected, actual, match, truth)
      }),
      { numRuns: runs },
    )
    // A generator that makes nearly all cases one way would prove little.
    expect(Math.min(verdicts.equal, verdicts.different)).toBeGreaterThan(runs / 10)
  })
})

/** Layers, edits of them, and when the calls were made: in the order of the layers, or in another one. */
function runsOf(mode: TraceMode): fc.Arbitrary<readonly [Layers, readonly Edit[], number]> {
  const moments = mode === 'sequence' ? fc.constantFrom(1, 1, 1, 40) : fc.constant(1)
  return fc.tuple(layers, fc.array(edit, { maxLength: 3 }), moments)
}

/** Other numbers for the calls of a run: multiples modulo a prime are all different. */
function madeAt(multiple: number, { layers: all }: Trace): Trace {
  return { layers: all.map((layer) => layer.map((call) => ({ ...call, n: (call.n * multiple) % 97 }))) }
}

function agrees(expected: ExpectedTrace, actual: Trace, match: MatchOptions, truth: boolean): void {
  const comparison = compareTraces(expected, actual, match)
  if (comparison.equal !== truth) throw new Error(`compared as ${comparison.equal ? 'equal' : 'different'}, and is not`)
  const isConsistent =
    (comparison.differences.length === 0) === truth &&
    (comparison.first === undefined) === truth &&
    (comparison.expectedText === comparison.actualText) === truth
  if (!isConsistent) throw new Error(`verdict, differences and texts disagree:\n${comparison.report}`)
  if (comparison.report.split('\n').length > 60) throw new Error('the report is too long')
}

const benign: Readonly<Record<TraceMode, readonly string[]>> = {
  causal: ['permute layers'],
  strict: [],
  sequence: ['split layer', 'merge layers'],
  unordered: ['permute layers', 'permute all', 'swap layers', 'split layer', 'merge layers', 'move later'],
  subset: ['permute layers', 'permute all', 'swap layers', 'split layer', 'merge layers', 'move later', 'drop'],
  superset: [
    'permute layers',
    'permute all',
    'swap layers',
    'split layer',
    'merge layers',
    'move later',
    'add',
    'repeat',
  ],
}

test.each(traceModes)('%s: for every trace, what the mode allows is accepted', (mode) => {
  fc.assert(
    fc.property(layers, spellings, fc.array(edit, { maxLength: 4 }), (base, how, edits) => {
      const allowed = edits.filter(({ kind }) => benign[mode].includes(kind))
      const actual = traceFrom(allowed.reduce(apply, base))
      expect(compareTraces(expectedFrom(base, how), actual, { trace: mode }).equal).toBe(true)
    }),
    { numRuns: 2000 },
  )
})

test.for([
  ['keys', 'change value', true],
  ['keys', 'add key', false],
  ['keys', 'remove key', false],
  ['exact', 'change value', false],
  ['ignore', 'change value', true],
  ['ignore', 'add key', true],
  ['ignore', 'remove key', true],
  ['ignore', 'rename', false],
  ['subset', 'remove key', true],
  ['subset', 'add key', false],
  ['superset', 'add key', true],
  ['superset', 'remove key', false],
] as const)('arguments compared by %s: %s is accepted: %s', ([args, kind, accepted]) => {
  const base = [[{ name: 'refund', args: { a: 1, b: 2 } }]]
  const how = args === 'exact' ? 'values' : 'keys'
  const changed = apply(base, { kind, where: 0, which: 0, call: { name: 'other', args: { c: 3 } } })
  for (const trace of traceModes) {
    expect(compareTraces(expectedFrom(base, [how]), traceFrom(changed), { trace, args }).equal, trace).toBe(accepted)
  }
})
