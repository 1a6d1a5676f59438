import { describe, expect, it } from 'vitest'
import { type Arm, type ForkDraw, type Forks, type RunLayer } from '../../src/blame/index.ts'
import { isolateLayers, type IsolateOptions } from '../../src/isolate/index.ts'
import { wilson } from '../../src/stats/index.ts'
import { mulberry32 } from '../recordings/mulberry32.ts'

/** How often each arm is cured. */
type Rates = Readonly<Record<string, number>>

/** Forks whose arms are cured at known rates; `limit`: so many are made. */
function forksOf(rates: Rates, seed: number, limit = Infinity, ungraded: number | Rates = 0): Forks {
  const next = mulberry32(seed)
  let made = 0
  return {
    parallel: 4,
    isOpenEnded: true,
    get stopped() {
      return made >= limit ? ('costUsd' as const) : undefined
    },
    get spent(): never {
      throw new Error('not asked')
    },
    draw: (arms: readonly Arm[]) =>
      Promise.resolve(
        arms.map(({ layers = [] }): ForkDraw | undefined => {
          if (made >= limit) return undefined
          made++
          const lost = typeof ungraded === 'number' ? ungraded : (ungraded[layers.join('+')] ?? 0)
          const isLost = next() < lost
          const isOk = next() < (rates[layers.join('+')] ?? 0)
          const grade = isLost ? 'ungraded' : isOk ? 'ok' : 'bad'
          return {
            grade,
            modelCalls: 2,
            costUsd: 0.001,
            fingerprint: `${made}`,
            ...(isLost && { because: 'off tape' }),
          }
        }),
      ),
  }
}

const ask = async (rates: Rates, options: Partial<IsolateOptions> = {}, forks = forksOf(rates, 1)) => {
  const { verdict, arms } = await isolateLayers(forks, { held: {}, ...options })
  return { verdict, arms, made: arms.map(({ varied }) => varied.join('+')) }
}

describe('the layer of a failure', () => {
  it('is the one whose runs are cured, and no arm is made that would not change the verdict', async () => {
    expect(await ask({ timing: 1 })).toMatchObject({
      verdict: { kind: 'found', layers: ['timing'] },
      made: ['timing'],
    })
    expect(await ask({ model: 0.6 })).toMatchObject({
      verdict: { kind: 'found', layers: ['sampling'] },
      made: ['timing', 'model', 'tools'],
    })
    expect(await ask({ tools: 0.9 })).toMatchObject({ verdict: { kind: 'found', layers: ['data'] } })
    expect(await ask({ model: 0.9, tools: 0.9 })).toMatchObject({ verdict: { layers: ['sampling', 'data'] } })
  })

  it('is found beside a live model where a model from the tape repeats its decision', async () => {
    expect(await ask({ 'model+tools': 0.9 })).toMatchObject({
      verdict: { kind: 'found', layers: ['data'] },
      made: ['timing', 'model', 'tools', 'model+timing', 'model+tools'],
    })
    expect(await ask({ 'model+timing': 0.9, 'model+tools': 0.9 })).toMatchObject({ verdict: { layers: ['timing'] } })
  })

  it('is the code only where every arm came to an end and fails', async () => {
    const { verdict, arms } = await ask({})
    expect(verdict).toEqual({ kind: 'found', layers: ['code'] })
    for (const { says, failed, runs, interval } of arms) {
      expect(says).toBe('fails')
      expect(interval).toEqual(wilson(failed, runs))
    }
    expect((await ask({}, { held: { tools: { says: 'not tried', because: 'no' } } })).verdict).toEqual({
      kind: 'unresolved',
      open: ['code', 'data'],
      because: 'no',
    })
    expect((await ask({}, { held: { tools: { says: 'fixed', because: 'none' } } })).verdict).toEqual({
      kind: 'found',
      layers: ['code'],
    })
  })

  it('is not named where a limit ends an arm, or too many of its runs cannot be judged', async () => {
    const stopped = await ask({}, {}, forksOf({}, 1, 30))
    expect(stopped.verdict).toMatchObject({ kind: 'unresolved', because: 'stopped by the limit in dollars' })
    expect(stopped.arms.reduce((sum, { runs }) => sum + runs, 0)).toBe(30)
    const lost = await ask({}, {}, forksOf({}, 1, Infinity, 0.5))
    expect(lost.verdict).toMatchObject({ kind: 'unresolved', because: 'off tape' })
  })

  it('is decided beside a live model where the one from the tape was asked what it has no answer to', async () => {
    const asked = (rates: Rates, ...lost: readonly string[]) =>
      ask(rates, {}, forksOf(rates, 1, Infinity, Object.fromEntries(lost.map((arm) => [arm, 1]))))
    expect(await asked({}, 'timing')).toMatchObject({ verdict: { kind: 'found', layers: ['code'] } })
    expect(await asked({ 'model+timing': 0.9 }, 'timing')).toMatchObject({ verdict: { layers: ['timing'] } })
    expect((await asked({}, 'timing', 'model+timing')).verdict).toMatchObject({
      kind: 'unresolved',
      open: ['code', 'timing'],
    })
    expect((await asked({}, 'model')).verdict).toMatchObject({ kind: 'unresolved', open: ['code', 'sampling'] })
  })

  it('is rarely another one than what is planted, with an agent that errs and recovers by itself', async () => {
    const truths: readonly (readonly [layer: string, (random: () => number) => Rates])[] = [
      ['code', (random) => Object.fromEntries(allArms.map((arm) => [arm, 0.03 * random()]))],
      ['sampling', (random) => withBase(0.3 + 0.7 * random(), 'model', 'model+timing', 'model+tools')],
      ['data', (random) => withBase(0.5 + 0.5 * random(), 'model+tools', ...(random() < 0.5 ? ['tools'] : []))],
      ['timing', (random) => withBase(0.5 + 0.5 * random(), 'model+timing', ...(random() < 0.5 ? ['timing'] : []))],
    ]
    for (const [layer, draw] of truths) {
      const random = mulberry32(layer.length)
      const said: string[] = []
      for (let seed = 0; seed < 200; seed++) {
        const { verdict } = await ask({}, {}, forksOf(draw(random), seed))
        said.push(verdict.kind === 'found' ? verdict.layers.join() : 'none')
      }
      const right = said.filter((one) => one === layer).length
      const wrong = said.filter((one) => one !== layer && one !== 'none').length
      expect({ layer, right: right / 200 >= 0.95, wrong: wrong / 200 <= 0.02 }).toEqual({
        layer,
        right: true,
        wrong: true,
      })
    }
  })
})

const allArms = ['timing', 'model', 'tools', 'model+timing', 'model+tools'] satisfies readonly (
  | RunLayer
  | `model+${RunLayer}`
)[]

function withBase(rate: number, ...arms: readonly string[]): Rates {
  return Object.fromEntries(allArms.map((arm) => [arm, arms.includes(arm) ? rate : 0.02]))
}
