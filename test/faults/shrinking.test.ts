import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mulberry32 } from '../recordings/mulberry32.ts'
import {
  failsMostly,
  type Fault,
  faultSchedule,
  type FaultSchedule,
  possibleFaults,
  kindsNamed,
} from '../../src/faults/index.ts'
import { requests, tapeOf } from './tapes.ts'

const faults = ['http-429', 'http-reset', 'http-truncated-json', 'http-malformed-json', 'http-empty', 'http-slow']
const tape = tapeOf(requests(40))

/** `17:http-429`, as often as it is there. */
const names = (schedule: FaultSchedule): readonly string[] => schedule.map(({ step, kind }) => `${step}:${kind}`)
const all =
  (...wanted: readonly string[]) =>
  (schedule: FaultSchedule) =>
    wanted.every((one) => names(schedule).includes(one))
const refusals = (schedule: FaultSchedule): number => names(schedule).filter((one) => one.endsWith('429')).length

interface Planted {
  readonly fails: (schedule: FaultSchedule) => boolean
  /** What a schedule is to be shrunk to; absent: any that is 1-minimal. */
  readonly minimal?: readonly (readonly string[])[]
  /** Mean number of runs shrinking may take. */
  readonly runs: number
}

const twoOr = [
  ['7:http-reset', '23:http-429'],
  ['11:http-empty', '30:http-slow'],
] as const
const planted: Readonly<Record<string, Planted>> = {
  'one fault': { fails: all('17:http-empty'), minimal: [['17:http-empty']], runs: 12 },
  'two together': { fails: all(...twoOr[0]), minimal: [twoOr[0]], runs: 40 },
  'three together': {
    fails: all('5:http-429', '6:http-429', '29:http-reset'),
    minimal: [['5:http-429', '6:http-429', '29:http-reset']],
    runs: 52,
  },
  'four together': {
    fails: all('3:http-slow', '4:http-slow', '20:http-429', '38:http-reset'),
    minimal: [['3:http-slow', '4:http-slow', '20:http-429', '38:http-reset']],
    runs: 80,
  },
  'either of two pairs': {
    fails: (schedule) => all(...twoOr[0])(schedule) || all(...twoOr[1])(schedule),
    minimal: twoOr,
    runs: 40,
  },
  'any four refusals, a used up budget of retries': { fails: (schedule) => refusals(schedule) >= 4, runs: 43 },
}

describe('shrinking a failing schedule', () => {
  it('240 faults can happen in the run', () => {
    expect(possibleFaults(tape, kindsNamed(faults))).toHaveLength(240)
  })

  it.each(Object.entries(planted))('%s: exactly those are left, from 100 seeds', (_, { fails, minimal, runs }) => {
    const ends = Array.from({ length: 100 }, (__, seed) => search(fails, { seed, numRuns: 400 }))
    const isExact = ({ left }: Ended): boolean =>
      left !== undefined &&
      (minimal === undefined
        ? isOneMinimal(left, fails)
        : minimal.some((one) => JSON.stringify(one) === JSON.stringify(names(left))))
    expect(ends.filter(isExact).length).toBeGreaterThanOrEqual(99)
    expect(mean(ends.map((end) => end.shrinkRuns))).toBeLessThanOrEqual(runs)
  })

  it('the schedule of an incident, half of all faults, is shrunk without drawing any', () => {
    const fails = all('5:http-429', '6:http-429', '29:http-reset')
    const wanted = ['5:http-429', '6:http-429', '29:http-reset']
    const incident = possibleFaults(tape, kindsNamed(faults))
      .map(({ step, kind }): Fault => ({ step, kind: kind.name, args: argsFor(kind.name) }))
      .filter((fault, i) => i % 2 === 0 || wanted.includes(`${fault.step}:${fault.kind}`))
    expect(incident.length).toBeGreaterThan(119)
    const { left, shrinkRuns } = search(fails, { seed: 1, numRuns: 1, examples: [[incident]] })
    expect(names(left ?? [])).toEqual(wanted)
    expect(shrinkRuns).toBeLessThan(60)
  })

  it('what cannot happen in this run is no schedule of it', () => {
    const schedules = faultSchedule(tape, { faults })
    const fault: Fault = { step: 3, kind: 'http-truncated-json', args: { bytes: 5 } }
    expect(schedules.canShrinkWithoutContext([fault])).toBe(true)
    expect(schedules.canShrinkWithoutContext([{ ...fault, step: 41 }])).toBe(false)
    expect(schedules.canShrinkWithoutContext([{ ...fault, args: { bytes: 5000 } }])).toBe(false)
    expect(schedules.canShrinkWithoutContext([{ ...fault, kind: 'tool-error' }])).toBe(false)
    expect(schedules.canShrinkWithoutContext('nothing')).toBe(false)
  })

  it('for every schedule, what a failing one shrinks to is 1-minimal', () => {
    const some = fc.uniqueArray(fc.constantFrom(...allNames), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(fc.array(some, { minLength: 1, maxLength: 3 }), fc.nat(), (sets, seed) => {
        const fails = (schedule: FaultSchedule): boolean => sets.some((one) => all(...one)(schedule))
        const { left } = search(fails, { seed, numRuns: 200 })
        return left === undefined || isOneMinimal(left, fails)
      }),
      { numRuns: 40 },
    )
  })
})

describe('an agent that fails 9 of 10 times with the faults, and 1 of 10 times without', () => {
  const wanted = ['8:http-reset', '24:http-429']
  const incident = possibleFaults(tape, kindsNamed(faults))
    .map(({ step, kind }): Fault => ({ step, kind: kind.name, args: argsFor(kind.name) }))
    .filter((fault, i) => i % 2 === 0 || wanted.includes(`${fault.step}:${fault.kind}`))

  /** How many of 100 searches end at exactly the planted faults, and the runs of the agent they take on average. */
  async function searches(judge: (once: (n: number) => Promise<boolean>) => Promise<boolean>) {
    let exact = 0
    let runs = 0
    for (let seed = 1; seed <= 100; seed++) {
      const chance = mulberry32(seed)
      const property = fc.asyncProperty(faultSchedule(tape, { faults }), async (schedule) => {
        const rate = all(...wanted)(schedule) ? 0.9 : 0.1
        const once = async (): Promise<boolean> => {
          runs++
          return chance() < rate
        }
        return !(await judge(once))
      })
      const { counterexample } = await fc.check(property, { seed, numRuns: 1, examples: [[incident]] })
      if (JSON.stringify(names(counterexample?.[0] ?? [])) === JSON.stringify(wanted)) exact++
    }
    return { exact, runs: runs / 100 }
  }

  it('is shrunk exactly when every schedule is run until a sequential test can tell', async () => {
    const { exact, runs } = await searches((once) => failsMostly(once))
    expect(exact).toBeGreaterThanOrEqual(99)
    expect(runs).toBeLessThan(150)
  })

  it('and hardly ever when single runs are believed', async () => {
    expect((await searches((once) => once(0))).exact).toBeLessThan(30)
  })
})

describe('the smallest schedule', () => {
  const fails = (schedule: FaultSchedule): boolean =>
    schedule.some(({ step, kind, args }) => step === 8 && kind === 'http-slow' && Number(args['ms']) >= 31_415) &&
    schedule.some(({ step, kind, args }) => step === 9 && kind === 'http-truncated-json' && Number(args['bytes']) >= 7)

  it('has the smallest numbers that still fail, from every seed', () => {
    for (let seed = 0; seed < 30; seed++) {
      const { left, shrinkRuns } = search(fails, { seed, numRuns: 600 }, true)
      expect(left).toEqual([
        { step: 8, kind: 'http-slow', args: { ms: 31_415 } },
        { step: 9, kind: 'http-truncated-json', args: { bytes: 7 } },
      ])
      // Two faults of 240, then two binary searches.
      expect(shrinkRuns).toBeLessThan(120)
    }
  })

  it('is only looked for when it is asked for', () => {
    const { left } = search(fails, { seed: 1, numRuns: 600 })
    expect(left?.[0]?.args['ms']).toBeGreaterThan(31_415)
  })
})

interface Ended {
  readonly left: FaultSchedule | undefined
  readonly shrinkRuns: number
}

function search(
  fails: (schedule: FaultSchedule) => boolean,
  parameters: fc.Parameters<[FaultSchedule]>,
  smallest = false,
): Ended {
  let shrinkRuns: number | undefined
  const property = fc.property(faultSchedule(tape, { faults, smallest }), (schedule) => {
    if (shrinkRuns !== undefined) shrinkRuns++
    const isFailing = fails(schedule)
    if (isFailing) shrinkRuns ??= 0
    return !isFailing
  })
  const { counterexample } = fc.check(property, parameters)
  return { left: counterexample?.[0], shrinkRuns: shrinkRuns ?? 0 }
}

function isOneMinimal(left: FaultSchedule, fails: (schedule: FaultSchedule) => boolean): boolean {
  return fails(left) && left.every((_, i) => !fails(left.toSpliced(i, 1)))
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length
}

const allNames = possibleFaults(tape, kindsNamed(faults)).map(({ step, kind }) => `${step}:${kind.name}`)

function argsFor(kind: string): Fault['args'] {
  if (kind === 'http-slow') return { ms: 1000 }
  return kind === 'http-truncated-json' ? { bytes: 4 } : {}
}
