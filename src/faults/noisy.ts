import { sprt, type SprtPlan } from '../stats/index.ts'

/** Fails 8 of 10 times, or 3: distinguished with 1 error in 100. */
export const defaultNoise: SprtPlan = { good: 0.8, bad: 0.3, error: 0.01 }

/** Runs after which the likelier of the two is taken: nothing between the rates is worth more. */
const mostRuns = 40

/**
 * Whether something fails, where a single run may say wrong: runs it until Wald's test can tell a rate of failures of
 * `good` from one of `bad`.
 *
 * A search that believes single runs shrinks to the right faults in 13 of 100 cases when 1 run of 10 says wrong; with
 * this test in 100.
 */
export async function failsMostly(once: (n: number) => Promise<boolean>, plan = defaultNoise): Promise<boolean> {
  let failed = 0
  for (let n = 0; n < mostRuns; n++) {
    if (await once(n)) failed++
    const told = sprt(failed, n + 1 - failed, plan)
    if (told !== undefined) return told === 'good'
  }
  return failed / mostRuns > (plan.good + plan.bad) / 2
}
