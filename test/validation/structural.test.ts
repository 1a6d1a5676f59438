import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clopperPearson } from '../../src/stats/index.ts'
import { families, type FamilyName } from '../../src/faults/families.ts'
import { hasModel, plant } from '../../src/validation/structural/families.ts'
import { noNoise, type Noise, recordedGrade, type StructuralModel } from '../../src/validation/structural/model.ts'
import { randomOf } from '../../src/validation/structural/random.ts'
import { sketch } from '../../src/validation/structural/sketch.ts'
import { structuralSource } from '../../src/validation/structural/source.ts'
import { truthOf } from '../../src/validation/structural/truth.ts'

const modelled = families.map(({ name }) => name).filter(hasModel)
const noisy: Noise = { slip: 0.01, recurrence: 0.2, correction: 0.05, wording: 'varies' }
const never = new AbortController().signal

describe('what is right about a model', () => {
  // Published values: the ten archetypes as enumerated by hand, four steps each, counted from 0.
  const facts =
    (...bits: readonly number[]) =>
    (now: number) =>
      bits.map((bit) => (now & (1 << bit)) !== 0)
  const archetypes: readonly (readonly [string, readonly number[], (now: number) => boolean, object])[] = [
    [
      'single',
      [1],
      (now) => facts(0)(now)[0] === true,
      { commitment: 1, necessary: [1], sufficient: [1], sets: [[1]] },
    ],
    [
      'AND',
      [1, 3],
      (now) => facts(0, 1)(now).every(Boolean),
      { commitment: 3, necessary: [1, 3], sufficient: [], sets: [[1], [3]] },
    ],
    [
      'OR',
      [1, 3],
      (now) => facts(0, 1)(now).some(Boolean),
      { commitment: 1, necessary: [], sufficient: [1, 3], sets: [[1, 3]] },
    ],
    [
      '2 of 3',
      [0, 1, 3],
      (now) => facts(0, 1, 2)(now).filter(Boolean).length >= 2,
      {
        commitment: 1,
        necessary: [],
        sufficient: [],
        sets: [
          [0, 1],
          [0, 3],
          [1, 3],
        ],
      },
    ],
    [
      'preemption',
      [0, 2],
      (now) => facts(0)(now)[0] === true || facts(1)(now)[0] === true,
      { commitment: 0, necessary: [], sufficient: [0, 2], sets: [[0, 2]] },
    ],
  ]
  test.each(archetypes)('%s is what enumeration says', (_, at, fails, right) => {
    const on = sketch(4, randomOf('archetype'), noNoise)
    for (const place of at) on.cause(place)
    const { columns, commitment } = truthOf(on.finish({ fails }).model)
    expect({
      commitment,
      necessary: columns.necessary,
      sufficient: columns.sufficient,
      sets: columns.repairSets,
    }).toEqual(right)
  })

  test('for every family the curve is the rate at which tails end well', async () => {
    for (const [number, name] of modelled.entries()) {
      const { model } = plant(name, 20, noisy, randomOf('curve', number))
      const { curve } = truthOf(model)
      const keep = number % 20
      const rate = await rateOf(model, keep, 300)
      // 61 intervals that hold together in all but one of a thousand cases.
      const { low, high } = clopperPearson(rate, 300, 0.001 / modelled.length)
      expect({ name, keep, isHeld: low <= (curve[keep] ?? -1) && (curve[keep] ?? -1) <= high }).toEqual({
        name,
        keep,
        isHeld: true,
      })
    }
  })

  test('a family that has a step has one in every model without noise, at a place that was planted', () => {
    const withStep = families.filter(({ name, answer }) => answer === 'step' && hasModel(name))
    expect(withStep.length).toBeGreaterThan(40)
    fc.assert(
      fc.property(
        fc.constantFrom(...withStep),
        fc.constantFrom(20, 50, 200),
        fc.integer(),
        ({ name }, length, seed) => {
          const { model, causes, decoys } = plant(name, length, noNoise, randomOf(seed))
          const { commitment, drop } = truthOf(model)
          expect(recordedGrade(model)).not.toBe('ok')
          expect(drop).toBe(1)
          expect(causes).toContain(commitment)
          expect(decoys).not.toContain(commitment)
        },
      ),
      { numRuns: 150 },
    )
  })
})

describe('forks of a model', () => {
  const anyModel = fc
    .tuple(fc.constantFrom<FamilyName>(...modelled), fc.constantFrom(noNoise, noisy), fc.integer())
    .map(([name, noise, seed]) => plant(name, 20, noise, randomOf(seed)).model)

  test('keeping everything is the recorded run, and costs nothing', async () => {
    await fc.assert(
      fc.asyncProperty(anyModel, fc.nat(), async (model, seed) => {
        const source = structuralSource(model, 1)
        const draw = await source.draw({ keep: 20, seed }, never)
        expect(draw).toMatchObject({ grade: source.recorded, modelCalls: 0, isInert: true })
      }),
      { numRuns: 60 },
    )
  })

  test('the same fork is the same run, and never calls more than expected', async () => {
    await fc.assert(
      fc.asyncProperty(anyModel, fc.nat(19), fc.nat(), async (model, keep, seed) => {
        const source = structuralSource(model, 1)
        const draw = await source.draw({ keep, seed }, never)
        expect(await structuralSource(model, 1).draw({ keep, seed }, never)).toEqual(draw)
        expect(draw.modelCalls).toBe(source.expect({ keep, seed }).modelCalls)
      }),
      { numRuns: 60 },
    )
  })

  test('without noise two forks of a kind are one run, with noise their words differ', async () => {
    const prints = async (noise: Noise): Promise<number> => {
      const source = structuralSource(plant('F5.single', 20, noise, randomOf(7)).model, 1)
      const draws = await Promise.all([0, 1, 2, 3].map((seed) => source.draw({ keep: 3, seed }, never)))
      return new Set(draws.map(({ fingerprint }) => fingerprint)).size
    }
    expect(await prints(noNoise)).toBe(1)
    expect(await prints(noisy)).toBe(4)
  })

  test('repaired places answer well, pinned ones as recorded', async () => {
    const { model, causes } = plant('F5.or_2', 20, noNoise, randomOf(11))
    const source = structuralSource(model, 1)
    const outside = source.positions.flatMap(({ isExogenous }, at) => (isExogenous ? [at] : []))
    const grade = async (repaired: readonly number[]): Promise<string> => {
      const pinned = outside.filter((at) => !repaired.includes(at))
      return (await source.draw({ keep: 0, pinned, repaired, seed: 0 }, never)).grade
    }
    expect([await grade([]), await grade(causes.slice(0, 1)), await grade(causes)]).toEqual(['bad', 'bad', 'ok'])
  })
})

async function rateOf(model: StructuralModel, keep: number, forks: number): Promise<number> {
  const source = structuralSource(model, 3)
  let ok = 0
  for (let seed = 0; seed < forks; seed++) if ((await source.draw({ keep, seed }, never)).grade === 'ok') ok++
  return ok
}
