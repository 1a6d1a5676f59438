import { describe, expect, it } from 'vitest'
import { evidenceOf, leastRuns, runsThatShow, shareShown } from '../../src/blame/fix-control.ts'
import type { Grade } from '../../src/blame/types.ts'

const graded = (ok: number, runs: number): { readonly grade: Grade }[] =>
  Array.from({ length: runs }, (_, at) => ({ grade: at < ok ? 'ok' : 'bad' }))
const known = new Map<string, boolean>()
function isShown(ok: number, beside: number, runs: number): boolean {
  const key = [ok, beside, runs].join()
  const is = known.get(key) ?? evidenceOf(graded(ok, runs), graded(beside, runs)).isShown
  known.set(key, is)
  return is
}

/** How often a fix is shown that has these shares, looked at behind so many pairs of runs: exact. */
function shown(looks: readonly number[], before: number, after: number): number {
  let open = new Map([['0 0', 1]])
  let share = 0
  for (let runs = 1; runs <= Math.max(...looks); runs++) {
    const next = new Map<string, number>()
    for (const [at, chance] of open) {
      const [ok = 0, beside = 0] = at.split(' ').map(Number)
      for (const [i, a] of [1 - after, after].entries())
        for (const [j, b] of [1 - before, before].entries()) {
          const key = `${ok + i} ${beside + j}`
          if (looks.includes(runs) && isShown(ok + i, beside + j, runs)) share += chance * a * b
          else next.set(key, (next.get(key) ?? 0) + chance * a * b)
        }
    }
    open = next
  }
  return share
}

describe('runs beside those asked as recorded', () => {
  const shares = [0.1, 0.3, 0.5, 0.7, 0.9]
  it.each([
    ['as the next step offers them', [3, 14, 56], 0.03],
    ['four times as many each time', [3, 12, 48], 0.03],
    ['behind each pair', Array.from({ length: 38 }, (_, at) => at + 3), 0.05],
  ])('call a change that does nothing a fix in at most 5 of 100 cases, looked at %s', (_, looks, most) => {
    expect(Math.max(...shares.map((share) => shown(looks, share, share)))).toBeLessThanOrEqual(most)
  })

  it('show a fix with the fewest there are only where nothing else ends well, and most fixes with as many as are offered', () => {
    expect(leastRuns()).toBe(3)
    expect([isShown(3, 0, 3), isShown(3, 1, 3), isShown(2, 0, 3)]).toEqual([true, false, false])
    expect(shareShown(3)).toBeCloseTo(shown([3], 0.2, 0.8), 10)
    expect(shareShown(3)).toBeCloseTo(0.8 ** 6, 10)
    expect(shareShown(runsThatShow())).toBeGreaterThanOrEqual(0.8)
    expect(shareShown(runsThatShow() - 1)).toBeLessThan(0.8)
  })
})
