import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileRule, isTrueOfRun, type RunPosition, positionsWhere, RuleMonitor } from '../../src/rules/index.ts'
import { holdsAt } from '../../src/rules/atoms.ts'
import { columnOf } from '../../src/rules/columns.ts'
import { type Core, looksAhead } from '../../src/rules/lower.ts'
import { Monitor } from '../../src/rules/monitor.ts'
import type { Atom, Window } from '../../src/rules/types.ts'
import { runs } from './runs.ts'

/** A window of the test's own: one shared with the code would hide its mistakes. */
const inWindow = (within: Window | undefined, earlier: RunPosition, later: RunPosition): boolean => {
  if (within === undefined) return true
  return 'ms' in within ? later.atMs <= earlier.atMs + within.ms : later.issued - earlier.issued < within.steps + 1
}

/** Each operator as its definition reads. */
function naive(core: Core, run: readonly RunPosition[], at: number): boolean {
  const here = run[at]!
  const before = run.map((_, index) => index).filter((index) => index <= at)
  const after = run.map((_, index) => index).filter((index) => index >= at)
  switch (core.op) {
    case 'atom':
      return holdsAt(core.atom, here, {})
    case 'not':
      return !naive(core.of, run, at)
    case 'and':
      return naive(core.left, run, at) && naive(core.right, run, at)
    case 'or':
      return naive(core.left, run, at) || naive(core.right, run, at)
    case 'previous':
      return at > 0 && naive(core.of, run, at - 1)
    case 'next':
      return at + 1 < run.length && naive(core.of, run, at + 1)
    case 'always':
      return after.every((index) => naive(core.of, run, index))
    case 'once':
      return before.some((index) => inWindow(core.within, run[index]!, here) && naive(core.of, run, index))
    case 'eventually':
      return after.some((index) => inWindow(core.within, here, run[index]!) && naive(core.of, run, index))
    case 'since':
      return before.some(
        (index) =>
          inWindow(core.within, run[index]!, here) &&
          naive(core.right, run, index) &&
          before.every((later) => later <= index || naive(core.left, run, later)),
      )
    case 'until':
      return after.some(
        (index) =>
          inWindow(core.within, here, run[index]!) &&
          naive(core.right, run, index) &&
          after.every((earlier) => earlier >= index || naive(core.left, run, earlier)),
      )
    case 'count':
      return (
        before.filter((index) => inWindow(core.within, run[index]!, here) && naive(core.of, run, index)).length >=
        core.count
      )
  }
}

const atom: fc.Arbitrary<Atom> = fc.record({
  kind: fc.constant('call'),
  name: fc.constantFrom('a', 'b', 'c'),
  phase: fc.constantFrom('called', 'ok', 'fails', 'answered'),
  conditions: fc.constant([]),
})
const within = fc
  .option(fc.oneof(fc.record({ steps: fc.nat(4) }), fc.record({ ms: fc.nat(60) })), { nil: undefined })
  .map((window) => (window === undefined ? {} : { within: window as Window }))

const { core: anyCore } = fc.letrec<{ core: Core }>((tie) => {
  const part = tie('core')
  const windowed = (shape: fc.Arbitrary<object>): fc.Arbitrary<object> =>
    fc.tuple(shape, within).map(([one, window]) => ({ ...one, ...window }))
  return {
    core: fc.oneof(
      { maxDepth: 3, depthSize: 'medium' },
      atom.map((one) => ({ op: 'atom', atom: one })),
      fc.record({ op: fc.constantFrom('not', 'previous', 'next', 'always'), of: part }),
      windowed(fc.record({ op: fc.constantFrom('once', 'eventually'), of: part })),
      fc.record({ op: fc.constantFrom('and', 'or'), left: part, right: part }),
      windowed(fc.record({ op: fc.constantFrom('since', 'until'), left: part, right: part })),
      windowed(fc.record({ op: fc.constant('count'), of: part, count: fc.nat(3) })),
    ) as fc.Arbitrary<Core>,
  }
})

describe('asking a run', () => {
  it('for every formula and run, the columns are what the definitions say, and so is a monitor of the past', () => {
    let online = 0
    fc.assert(
      fc.property(anyCore, runs, (core, run) => {
        const wanted = run.map((_, index) => naive(core, run, index))
        expect(Array.from(columnOf(core, run, {}), Boolean)).toEqual(wanted)
        if (looksAhead(core)) return
        online++
        const monitor = new Monitor(core, {})
        expect(run.map((position) => monitor.step(position))).toEqual(wanted)
      }),
      { numRuns: 2000 },
    )
    expect(online).toBeGreaterThan(300)
  })

  const is = (position: RunPosition, name: string, phase: RunPosition['phase']): boolean =>
    position.name === name && position.phase === phase
  const x = ({ args }: RunPosition): unknown => (args as { x: number }).x
  const y = ({ args }: RunPosition): unknown => (args as { y: number }).y

  const sentences: readonly (readonly [
    string,
    (run: readonly RunPosition[], window: Window | undefined) => boolean,
  ])[] = [
    [
      'a(x=$v) preceded by b(x=$v)',
      (run, window) =>
        run.every(
          (e, i) =>
            !is(e, 'a', 'called') ||
            run.some((q, j) => j < i && is(q, 'b', 'ok') && x(q) === x(e) && inWindow(window, q, e)),
        ),
    ],
    [
      'a(x=$v) followed by b(x=$v)',
      (run, window) =>
        run.every(
          (e, i) =>
            !is(e, 'a', 'ok') ||
            run.some((q, j) => j > i && is(q, 'b', 'ok') && x(q) === x(e) && inWindow(window, e, q)),
        ),
    ],
    [
      'at most 1 a(x=$v)',
      (run, window) =>
        run.every(
          (e, i) =>
            !is(e, 'a', 'called') ||
            run.filter((q, j) => j <= i && is(q, 'a', 'called') && x(q) === x(e) && inWindow(window, q, e)).length <= 1,
        ),
    ],
    [
      'at most 2 a()',
      (run, window) =>
        run.every((e, i) => run.filter((q, j) => j <= i && is(q, 'a', 'called') && inWindow(window, q, e)).length <= 2),
    ],
  ]
  const others: readonly (readonly [string, (run: readonly RunPosition[]) => boolean])[] = [
    [
      'never a(x=$v) after b(x=$v) until c()',
      (run) =>
        run.every(
          (e, i) =>
            !is(e, 'a', 'called') ||
            !run.some(
              (q, j) =>
                j < i && is(q, 'b', 'ok') && x(q) === x(e) && !run.some((r, k) => k > j && k <= i && is(r, 'c', 'ok')),
            ),
        ),
    ],
    // c() binds nothing: a value that is seen later must know that c() was.
    [
      'never a(x=$v) after c()',
      (run) => run.every((e, i) => !is(e, 'a', 'called') || !run.some((q, j) => j < i && is(q, 'c', 'ok'))),
    ],
    [
      'never a() before b()',
      (run) => run.every((e, i) => !is(e, 'a', 'called') || run.some((q, j) => j < i && is(q, 'b', 'ok'))),
    ],
    [
      'never a() between b() and c()',
      (run) =>
        run.every(
          (e, i) =>
            !is(e, 'a', 'called') ||
            !run.some(
              (q, j) =>
                j < i &&
                is(q, 'b', 'ok') &&
                !run.some((r, k) => k > j && k <= i && is(r, 'c', 'ok')) &&
                run.some((r, k) => k > i && is(r, 'c', 'ok')),
            ),
        ),
    ],
    [
      'at most 1 a() after b()',
      (run) => {
        const first = run.findIndex((q) => is(q, 'b', 'ok'))
        return first === -1 || run.filter((e, i) => i > first && is(e, 'a', 'called')).length <= 1
      },
    ],
    ['at least 2 a() ok', (run) => run.filter((e) => is(e, 'a', 'ok')).length >= 2],
    ['exactly 1 a()', (run) => run.filter((e) => is(e, 'a', 'called')).length === 1],
    [
      'a(x=$v, y=$w) preceded by b(x=$v) and once c(y=$w) ok where $v > 0',
      (run) =>
        run.every(
          (e, i) =>
            !is(e, 'a', 'called') ||
            x(e) === 0 ||
            run.some(
              (q, j) =>
                j < i &&
                is(q, 'b', 'ok') &&
                x(q) === x(e) &&
                run.some((r, k) => k <= j && is(r, 'c', 'ok') && y(r) === y(e)),
            ),
        ),
    ],
    // Between moments: about the run.
    ['a() and not b()', (run) => run.some((e) => is(e, 'a', 'called')) && !run.some((e) => is(e, 'b', 'called'))],
    [
      'a(x=$v) fails and b(x=$v) ok',
      (run) => run.some((e) => is(e, 'a', 'fails') && run.some((q) => is(q, 'b', 'ok') && x(q) === x(e))),
    ],
    [
      'eventually (a() and once b() fails)',
      (run) => run.some((e, i) => is(e, 'a', 'called') && run.some((q, j) => j <= i && is(q, 'b', 'fails'))),
    ],
  ]

  it.each(sentences)('for every run and window, "%s" is what it says', (text, definition) => {
    fc.assert(
      fc.property(runs, within, (run, { within: window }) => {
        const suffix =
          window === undefined ? '' : 'ms' in window ? ` within ${window.ms}ms` : ` within ${window.steps} steps`
        expect(isTrueOfRun(compileRule(`${text}${suffix}`), run)).toBe(definition(run, window))
      }),
      { numRuns: 500 },
    )
  })

  it.each(others)('for every run, "%s" is what it says', (text, definition) => {
    const rule = compileRule(text)
    fc.assert(
      fc.property(runs, (run) => {
        expect(isTrueOfRun(rule, run)).toBe(definition(run))
      }),
      { numRuns: 500 },
    )
  })

  it.each([
    'a(x=$v) and once b(x=$v) ok',
    'a(x=$v) ok and previously once c()',
    'a(x=$v, y=$w) and once b(x=$v) within 3 steps where $w > 0',
    'a() since b()',
    'not a() and once b() fails within 40ms',
  ])('for every run, a monitor stops where "%s" holds', (text) => {
    const rule = compileRule(text)
    fc.assert(
      fc.property(runs, (run) => {
        const monitor = new RuleMonitor(rule)
        const stops = run.flatMap((position, index) => (monitor.step(position) ? [index] : []))
        // A value that a later moment gives is unknown to a run that goes on.
        const all = positionsWhere(rule, run)
        expect(all).toEqual(expect.arrayContaining(stops))
        if (!text.includes('$')) expect(stops).toEqual(all)
      }),
      { numRuns: 500 },
    )
  })
})
