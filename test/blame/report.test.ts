import { describe, expect, it } from 'vitest'
import { blameSource, planCost } from '../../src/blame/index.ts'
import { cliff, curveSource, mutationSource, plantedSource } from './sources.ts'

describe('the report of a failed run', () => {
  it('names its estimand, its settings, what it used, and the method of every interval', async () => {
    const { made, source } = curveSource(cliff(20, 6, 0.9, 0.05), 3)
    const report = await blameSource(source, { models: ['model-x'], commit: '4f2a9c1' })
    expect(report).toMatchObject({
      estimand: 'interventional',
      perturbation: 'each step resampled',
      delta: 0.05,
      tau: 0.2,
      tail: 'noisy',
      models: ['model-x'],
      commit: '4f2a9c1',
      verdict: { kind: 'confirmed' },
    })
    expect(report.spent).toMatchObject({ forks: made.length, now: { forks: made.length }, retries: 0 })
    const used = made.reduce((sum, { keep }) => sum + 20 - keep, 0)
    expect(report.spent.modelCalls).toBe(used)
    expect(report.spent.costUsd).toBeCloseTo(used / 100, 9)
    expect(Object.keys(report.methods)).toEqual(
      expect.arrayContaining(['verdict', 'sequence', 'display', 'mutated.display', 'mutated.simultaneous', 'repairs']),
    )
    expect(JSON.parse(JSON.stringify(report))).toEqual(report)
  })

  it('has a row per position: rate, drop, intervals, and where the run was lost', async () => {
    const { source } = curveSource(cliff(20, 6, 0.9, 0.05), 3)
    const { steps } = await blameSource(source)
    expect(steps.map(({ label }) => label)).toEqual(source.positions.map(({ label }) => label))
    const row = steps[6]
    expect(row).toMatchObject({ position: 6, steps: [7], commitment: 'certified', undefinedRate: 0 })
    expect(row?.value).toBeGreaterThan(0.6)
    expect(row?.drop).toBeCloseTo((row?.value ?? 0) - (steps[7]?.value ?? 0), 12)
    expect(row?.display?.low).toBeGreaterThan(0)
    expect(row?.sequence?.low).toBeLessThan(row?.value ?? 0)
    expect(steps.filter(({ commitment }) => commitment !== undefined)).toHaveLength(1)
  })

  it('is exact and without intervals when what is drawn anew comes out the same each time', async () => {
    const fails = (holds: (position: number) => boolean): boolean => holds(3) || holds(9)
    const { source } = plantedSource({ count: 16, facts: [3, 9], fails }, 1)
    const report = await blameSource(source, { repairs: true, tail: 'deterministic' })
    expect(report).toMatchObject({ tail: 'exact', verdict: { kind: 'confirmed', commitments: [{ position: 3 }] } })
    expect(JSON.stringify(report)).not.toMatch(/"(sequence|display|simultaneous|low|high)"/)
    expect(report.steps[3]).toMatchObject({
      commitment: 'exact',
      isNecessary: false,
      isSufficient: true,
      isInRepairSet: true,
    })
    expect(report.steps[9]).toMatchObject({ isNecessary: false, isSufficient: true, isInRepairSet: true })
    expect(report.steps[4]).not.toHaveProperty('isNecessary')
  })

  it('of a passing run tells what its mutations do', async () => {
    const { source } = mutationSource([0.05, 0.9, 0.05, 0.05], [0.05, 0.05, 0.05, 0.05], 2)
    const report = await blameSource(source, { mutations: true })
    expect(report).not.toHaveProperty('verdict')
    expect(report.steps.map(({ isResponsible }) => isResponsible)).toEqual([false, true, false, false])
    expect(report.steps[1]?.mutated?.simultaneous?.low).toBeLessThan(report.steps[1]?.mutated?.display?.low ?? 0)
  })
})

describe('a dry run', () => {
  it('tells forks, calls and dollars beforehand, and makes no fork', () => {
    const { made, source } = curveSource(cliff(50, 20, 0.7, 0.1), 1)
    expect(planCost(source, { parallel: 1 })).toMatchInlineSnapshot(`
      {
        "deterministic": {
          "costUsd": 2.81,
          "forks": 11,
          "modelCalls": 281,
        },
        "high": {
          "costUsd": 102,
          "forks": 400,
          "modelCalls": 10200,
        },
        "likely": {
          "costUsd": 22.5,
          "forks": 88,
          "modelCalls": 2250,
        },
        "low": {
          "costUsd": 11.3,
          "forks": 44,
          "modelCalls": 1129,
        },
      }
    `)
    expect(made).toHaveLength(0)
  })

  it('expects more when more is asked, and never more than the limit', () => {
    const { source } = plantedSource({ count: 20, facts: [3], fails: (holds) => holds(3), outside: [1, 3, 5] }, 1)
    const curve = planCost(source)
    const all = planCost(source, { repairs: true })
    expect(all.likely.forks).toBeGreaterThan(curve.likely.forks)
    expect(planCost(source, { repairs: true, limits: { forks: 30 } }).likely.forks).toBe(30)
    expect(all.likely).not.toHaveProperty('costUsd')
    expect(curve.deterministic.forks).toBe(10)
  })

  it('was right about the forks of a run that is lost in one step', async () => {
    const { made, source } = curveSource(cliff(50, 20, 0.7, 0.1), 8)
    const { likely, low } = planCost(source, { parallel: 1 })
    await blameSource(source, { parallel: 1 })
    expect(made.length).toBeGreaterThan(low.forks / 2)
    expect(made.length).toBeLessThan(2 * likely.forks)
  })
})
