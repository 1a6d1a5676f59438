import { describe, expect, it } from 'vitest'
import { evidenceOf, leastRuns, runsThatShow, shareShown } from '../../src/blame/fix-control.ts'
import type { Grade } from '../../src/blame/types.ts'

const graded = (ok: number, runs: number): { readonly grade: Grade }[] =>
  Array.from({ length: runs }, (_, at) => ({ grade: at < ok ? 'ok' : 'bad' }))
const known = new Map<number, boolean>()
function isShown(ok: number, beside: number, runs: number): boolean {
  const key = (ok * 1000 + beside) * 1000 + runs
  const is = known.get(key) ?? evidenceOf(graded(ok, runs), graded(beside, runs)).isShown
  known.set(key, is)
  return is
}

/** Less than this is not followed, and counted as shown. */
const tiny = 1e-13

/** How often a fix is shown that has these shares, looked at behind so many pairs of runs: exact. */
function shown(looks: readonly number[], before: number, after: number): number {
  const last = Math.max(...looks)
  const size = last + 2
  const ends = [
    [0, (1 - after) * (1 - before)],
    [1, (1 - after) * before],
    [size, after * (1 - before)],
    [size + 1, after * before],
  ] as const
  let share = 0
  let open = new Float64Array(size * size)
  open[0] = 1
  for (let runs = 1; runs <= last; runs++) {
    const next = new Float64Array(size * size)
    for (let ok = 0; ok < runs; ok++)
      for (let beside = 0; beside < runs; beside++) {
        const chance = open[ok * size + beside] ?? 0
        if (chance < tiny) share += chance
        else for (const [by, part] of ends) next[ok * size + beside + by]! += chance * part
      }
    if (looks.includes(runs))
      for (let ok = 0; ok <= runs; ok++)
        for (let beside = 0; beside < ok; beside++) {
          const chance = next[ok * size + beside] ?? 0
          if (chance === 0) continue
          // With more of the others good, it is not shown either.
          if (!isShown(ok, beside, runs)) break
          share += chance
          next[ok * size + beside] = 0
        }
    open = next
  }
  return share
}

/** Each number of pairs from the fewest that can show anything. */
const upTo = (last: number): readonly number[] => Array.from({ length: last - 2 }, (_, at) => at + 3)

describe('runs beside those asked as recorded', () => {
  const shares = [0.1, 0.3, 0.5, 0.7, 0.9]
  it.each([
    ['as the next step offers them', [3, 14, 56], 0.03],
    ['four times as many each time', [3, 12, 48], 0.03],
  ])('call a change that does nothing a fix in at most 3 of 100 cases, looked at %s', (_, looks, most) => {
    expect(Math.max(...shares.map((share) => shown(looks, share, share)))).toBeLessThanOrEqual(most)
  })

  it('call a change that does nothing a fix in fewer than 5 of 100 cases, looked at behind each pair of 400', {
    tags: 'thorough',
  }, () => {
    const finely = Array.from({ length: 49 }, (_, at) => (at + 1) / 50)
    const often = finely.map((share) => shown(upTo(40), share, share))
    // It is the likeliest where half of the runs are good, and there it is followed further.
    expect(finely[often.indexOf(Math.max(...often))]).toBe(0.5)
    const [fewer, most] = [shown(upTo(200), 0.5, 0.5), shown(upTo(400), 0.5, 0.5)]
    expect(most).toBeLessThan(0.05)
    // What is added with each doubling falls by a third or more, so all that may follow is less than twice the last.
    expect(most + 2 * (most - fewer)).toBeLessThan(0.05)
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
