import { describe, expect, it } from 'vitest'
import { blameFailedRun, type ForkSource, type Grade } from '../../src/blame/index.ts'
import { majorityOracle, withoutCertificate } from '../../src/blame/majority.ts'
import type { GradedRun, Oracle } from '../../src/blame/oracle.ts'
import { lostGrade, Regrading, type RegradingOptions } from '../../src/blame/regrading.ts'
import { blameSource } from '../../src/blame/report.ts'
import type { ReplayedFork } from '../../src/fork/index.ts'
import { openBudget } from '../../src/live/index.ts'
import type { Tape } from '../../src/tape/index.ts'
import { cliff, curveSource, random, seedOf } from './sources.ts'

const swapped = (grade: Grade): Grade => (grade === 'ok' ? 'bad' : 'ok')

/** Who grades says the contrary with this chance. */
function flakySource(share: number, seed: number, alike = false) {
  const { made, source } = curveSource(cliff(20, 7, 0.9, 0.02), seed)
  const chance = random(seedOf('grades', seed))
  const say = (grade: Grade): Grade => (chance() < share ? swapped(grade) : grade)
  const flaky: ForkSource = {
    ...source,
    regrade: async () => say('bad'),
    async draw(spec, signal) {
      const draw = await source.draw(spec, signal)
      return { ...draw, grade: say(draw.grade), ...(alike ? { fingerprint: `${spec.keep} ${draw.grade}` } : {}) }
    },
  }
  return { made, flaky }
}

describe('an oracle that disagrees with itself', () => {
  it('is found before a fork is made, nearly always; and no step is ever named', async () => {
    let before = 0
    for (let run = 0; run < 100; run++) {
      const { made, flaky } = flakySource(0.3, run)
      await expect(blameFailedRun(flaky)).rejects.toMatchObject({ code: 'HARVEST_ORACLE_FLAKY' })
      before += Number(made.length === 0)
    }
    // Nine grades that all agree have a chance of .7 ** 9.
    expect(before).toBeGreaterThan(90)
  })

  it('is found by forks that are the same run, where the recorded one was graded alike each time', async () => {
    const { flaky } = flakySource(0.15, 4, true)
    const { regrade: _, ...unseen } = flaky
    await expect(blameFailedRun(unseen)).rejects.toThrowErrorMatchingInlineSnapshot(`
      [HarvestError: The oracle disagrees with itself: 1 bad, 1 ok for the same run

        spent  21 forks, 271 model calls, $2.7100

      With such grades, any blamed step and any fix could be chance.
      → make it deterministic: no random values, no clock, no state kept between calls
      → to grade every run five times and count the majority: --flaky-oracle
      (HARVEST_ORACLE_FLAKY)]
    `)
  })

  it('is found by the recorded run itself, which is graded again with every round', async () => {
    const { source } = curveSource(cliff(20, 7, 0.9, 0.02), 1)
    let asked = 0
    const late: ForkSource = { ...source, regrade: async () => (++asked > 11 ? 'ok' : 'bad') }
    const told = await blameFailedRun(late).then(String, String)
    expect(told).toContain('HARVEST_ORACLE_FLAKY')
    // Forks were made until then.
    expect(told).toMatch(/\n {2}spent {2}\d+ forks, \d+ model calls, \$\d+\.\d{4}\n/)
  })

  it('and none that is steady: it costs no fork', async () => {
    const { made, source } = curveSource(cliff(20, 7, 0.9, 0.02), 1)
    const plain = await blameFailedRun(source)
    const forks = made.length
    const steady = await blameFailedRun({ ...source, regrade: async () => 'bad' })
    expect(steady.verdict).toEqual(plain.verdict)
    expect(made).toHaveLength(2 * forks)
  })
})

describe('a kept fork that gets another grade', () => {
  const was = { grade: 'ok' as const, modelCalls: 1, fingerprint: 'f' }
  const replayed = { outcome: { status: 'returned', value: 1 }, tape: { events: [] } } as unknown as ReplayedFork
  const regraded = (grades: () => Grade, more: Partial<RegradingOptions> = {}, grade = was.grade as Grade) => {
    const oracle: Oracle = { about: 'oracle', mayVary: true, grade: async () => ({ grade: grades() }) }
    const options = { tape: {} as Tape, oracle, budget: openBudget({}), isPaidToGrade: false, ...more }
    return new Regrading(options).of({ tape: '', hasProblems: false }, replayed, { ...was, grade })
  }

  it('has that of today, unless it has another one at the next look: then grades say nothing', async () => {
    expect(await regraded(() => 'bad')).toEqual({ given: { grade: 'bad' } })
    let turn = 0
    const flaky = (): Grade => (turn++ % 3 === 0 ? 'bad' : 'ok')
    await expect(regraded(flaky)).rejects.toMatchObject({ code: 'HARVEST_ORACLE_FLAKY' })
    turn = 0
    expect(await regraded(flaky, { isFlakyOracle: true })).toEqual({ given: { grade: 'bad' } })
  })

  it('has the one it got where who grades would have to be paid, and is not asked', async () => {
    let asked = 0
    const grades = (): Grade => (++asked > 0 ? 'bad' : 'ok')
    expect(await regraded(grades, { isPaidToGrade: true })).toEqual({})
    expect(asked).toBe(0)
  })
})

describe('grading by majority', () => {
  const oracleOf = (grades: readonly Grade[]): Oracle => {
    let at = 0
    return {
      about: 'the oracle',
      mayVary: true,
      grade: async () => ({ grade: grades[at++ % grades.length] ?? 'ungraded' }),
    }
  }
  const run = {} as GradedRun

  it('gives the grade most of five have, and counts how many did', async () => {
    const oracle = majorityOracle(oracleOf(['ok', 'bad', 'bad', 'ok', 'bad']))
    expect(await oracle.grade(run)).toEqual({ grade: 'bad' })
    expect(oracle).toMatchObject({ about: 'the oracle, the majority of 5', agreement: { same: 3, of: 5 } })
  })

  it('certifies nothing where fewer than 95 in 100 single grades are the majority’s', async () => {
    const { source } = curveSource(cliff(12, 5, 0.9, 0.02), 1)
    const report = await blameSource(source, {})
    expect(withoutCertificate(report, { same: 95, of: 100 })).toBe(report)
    const unsure = withoutCertificate(report, { same: 94, of: 100 })
    expect(unsure.verdict).toEqual({ kind: 'unsure', positions: [5] })
    expect(JSON.stringify(unsure)).not.toContain('certified"')
  })
})

describe('a grade that no fork has any more', () => {
  const graded = (...grades: Grade[]) => grades.map((grade) => ({ draw: { grade } }))

  it('is one that some had and none of these has today, be it ok or bad, and none where one still has it', () => {
    const then = graded('ok', 'ok', 'bad', 'bad', 'crash')
    expect(lostGrade(then, graded('bad', 'undefined', 'bad', 'bad', 'crash'))).toEqual({ grade: 'ok', forks: 2 })
    expect(lostGrade(then, graded('ok', 'ok', 'ok', 'ok', 'crash'))).toEqual({ grade: 'bad', forks: 2 })
    expect(lostGrade(then, graded('bad', 'bad', 'ok', 'bad', 'crash'))).toEqual({ grade: 'ok', forks: 2 })
    expect(lostGrade(then, graded('ok', 'bad', 'bad', 'ok', 'crash'))).toBeUndefined()
    expect(lostGrade(graded('bad'), graded('bad'))).toBeUndefined()
    expect(lostGrade([], [])).toBeUndefined()
  })
})
