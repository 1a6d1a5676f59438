import fc from 'fast-check'
import { expect, it } from 'vitest'
import { requireShown } from '../../src/cli/fixing/choose.ts'
import { isRuledOut, smallest } from '../../src/cli/finer-answer.ts'
import { areAlike } from '../../src/cli/forking/beside.ts'
import { newcombe } from '../../src/stats/index.ts'
import { asTyped } from '../../src/cli/typed-again.ts'

const fix = ['fix', 'inc', '--live', '--yes', '--runs', '9']

/** What `fix` says of runs of which so many end well, with the fix and asked as recorded. */
function refusal(ok: number, beside: number, runs: number): string {
  const graded = (good: number) => Array.from({ length: runs }, (_, at) => ({ grade: at < good ? 'ok' : 'bad' }))
  const answer = {
    isControlled: true,
    gradedBy: '--ok answer~right',
    runs: graded(ok),
    controls: graded(beside),
  } as never
  const asked = { kase: { id: 'inc' }, steps: [] } as never
  try {
    asTyped(fix, () => requireShown(answer, asked))
  } catch (error) {
    return String((error as Error).message)
  }
  throw new Error('the fix is shown')
}

it('more runs of a fix are offered while a difference worth showing may be there', () => {
  for (const [ok, beside, runs, more] of [
    // So many show four of five fixes that raise the share of good runs from 0.2 to 0.8.
    [2, 2, 3, 14],
    [9, 8, 12, 48],
    [34, 34, 48, 192],
  ] as const) {
    const said = refusal(ok, beside, runs)
    expect(said).toContain(`for a finer answer, with more runs: npx vitest-harvest fix inc --live --yes --runs ${more}`)
    expect(said).not.toContain('ruled out')
  }
})

it('a fix that makes no difference is not asked about for ever', () => {
  const said = refusal(134, 134, 192)
  expect(said).toContain('with more runs')
  expect(said).toContain('hardly more: a fix of 0.1 or more is ruled out (95 %)')
  expect(said).not.toContain('for a finer answer')
})

it('a difference is ruled out only if it is whichever way the runs ended that were not judged', () => {
  // Those with the change left the tape where they were wrong: 50 of 60 are right.
  expect(areAlike({ hits: 50, runs: 50, lost: 10 }, { hits: 60, runs: 60, lost: 0 })).toBe(false)
  expect(areAlike({ hits: 60, runs: 60, lost: 0 }, { hits: 50, runs: 50, lost: 10 })).toBe(false)
  expect(areAlike({ hits: 400, runs: 400, lost: 4 }, { hits: 404, runs: 404, lost: 0 })).toBe(true)
  const counted = fc
    .tuple(fc.nat({ max: 400 }), fc.nat({ max: 400 }), fc.nat({ max: 20 }))
    .map(([one, other, lost]) => ({ hits: Math.min(one, other), runs: Math.max(one, other) + 1, lost }))
  fc.assert(
    fc.property(
      counted,
      counted,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (one, other, a, b) => {
        fc.pre(areAlike(one, other))
        const ended = ({ hits, runs, lost }: typeof one, share: number) => ({
          hits: hits + Math.round(share * lost),
          runs: runs + lost,
        })
        const { low, high } = newcombe(ended(one, a), ended(other, b))
        expect(Math.max(-low, high)).toBeLessThan(smallest)
      },
    ),
  )
})

it('typing the offered command ends, however the runs go', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: -1, max: 0, noNaN: true }),
      (rate, less) => {
        let runs = 3
        const fixed = (): number => Math.floor(runs * Math.max(0, rate + less))
        while (!isRuledOut({ hits: fixed(), runs }, { hits: Math.floor(runs * rate), runs })) runs *= 4
        expect(runs).toBeLessThanOrEqual(768)
      },
    ),
  )
})
