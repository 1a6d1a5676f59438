import { describe, expect, it } from 'vitest'
import {
  blameFailedRun,
  type ForkDraw,
  type ForkSource,
  ForkBudget,
  type ForkCacheEntry,
} from '../../src/blame/index.ts'
import { confirmCommitment } from '../../src/blame/confirm.ts'
import { openInquiry } from '../../src/blame/settings.ts'
import { cliff, curveSource, positionsOf } from './sources.ts'

/** Forks that cost what they are asked to, and can be held back. */
function pricedSource(cost: (made: number) => number, expected = 1) {
  let made = 0
  let underWay = 0
  let most = 0
  const source: ForkSource = {
    positions: positionsOf(4),
    recorded: 'bad',
    expect: () => ({ modelCalls: 1, costUsd: expected }),
    async draw({ keep, seed }) {
      const costUsd = cost(made++)
      most = Math.max(most, ++underWay)
      await new Promise((resolve) => setImmediate(resolve))
      underWay--
      return { grade: 'ok', modelCalls: 2, tokens: 10, costUsd, fingerprint: `${keep}/${seed}` } satisfies ForkDraw
    },
  }
  return { source, made: () => made, most: () => most }
}
const five = new Array(5).fill({ keep: 1 }) as { keep: number }[]

describe('the governor of forks', () => {
  it('makes as many at once as allowed, in order, each another draw', async () => {
    const { most, source } = pricedSource(() => 1)
    const forkBudget = new ForkBudget(source, { parallel: 3 })
    const draws = await forkBudget.draw(five)
    expect(draws.map((draw) => draw?.fingerprint)).toEqual(['1/0', '1/1', '1/2', '1/3', '1/4'])
    expect(most()).toBe(3)
    expect(forkBudget.spent.now).toEqual({ forks: 5, modelCalls: 10, tokens: 50, costUsd: 5 })
  })

  it('starts no fork whose reserved price may pass the limit, and waits for reservations to be settled first', async () => {
    // Each is reserved at 1.5 and uses 0.5: two at once fit into 3, and each that ends makes room.
    const { most, source } = pricedSource(() => 0.5)
    const forkBudget = new ForkBudget(source, { parallel: 8, limits: { costUsd: 3 } })
    const draws = await forkBudget.draw(five)
    expect(draws.filter((draw) => draw !== undefined)).toHaveLength(4)
    expect(most()).toBe(2)
    expect(forkBudget.stopped).toBe('costUsd')
    expect(forkBudget.spent.now.costUsd).toBe(2)
  })

  it('reserves what nineteen of twenty forks stayed below, once it has seen some', async () => {
    const { source } = pricedSource((made) => (made === 0 ? 3 : 0.2))
    const forkBudget = new ForkBudget(source, { parallel: 1, limits: { costUsd: 9.8 } })
    for (let i = 0; i < 30 && forkBudget.stopped === undefined; i++) await forkBudget.draw([{ keep: 0 }])
    // 3 + 0.2 a fork; at a reservation of 3 until twenty were seen, then of 0.2.
    expect(forkBudget.spent.now.forks).toBe(30)
  })

  it.each([
    ['forks', { forks: 3 }, 3],
    ['timeMs', { timeMs: 20 }, 3],
  ] as const)('stops on %s', async (stop, limits, forks) => {
    let clock = 0
    const { source } = pricedSource(() => 1)
    const forkBudget = new ForkBudget(source, { parallel: 1, limits, now: () => (clock += 5) })
    const draws = await forkBudget.draw(five)
    expect(forkBudget.stopped).toBe(stop)
    expect(draws.filter((draw) => draw !== undefined)).toHaveLength(forks)
    expect(await forkBudget.draw([{ keep: 0 }])).toEqual([undefined])
  })

  it('stops when it is told to', async () => {
    const abort = new AbortController()
    const { source } = pricedSource((made) => {
      if (made === 1) abort.abort()
      return 1
    })
    const forkBudget = new ForkBudget(source, { parallel: 1, signal: abort.signal })
    await forkBudget.draw(five)
    expect([forkBudget.stopped, forkBudget.spent.now.forks]).toEqual(['signal', 2])
  })

  it('needs prices for a limit in dollars', () => {
    const { source } = curveSource([0.5], 1)
    const unpriced: ForkSource = { ...source, expect: () => ({ modelCalls: 1 }) }
    expect(() => new ForkBudget(unpriced, { limits: { costUsd: 1 } })).toThrowErrorMatchingInlineSnapshot(`
      [HarvestError: Unknown price of a model, so a dollar limit cannot be kept

        model  unknown

      A dollar limit needs a price for every model.
      → to give its price, in US dollars per million tokens: prices: { "unknown": { "input": 1.25, "output": 10 } }
      → or limit something else: --max-runs 100, without --max-cost
      (HARVEST_BLAME_PRICE)]
    `)
  })

  it('tries a lost fork again, counts it, and gives up with its error after the others have ended', async () => {
    let failures = 2
    const { source } = pricedSource(() => 1)
    const lossy: ForkSource = {
      ...source,
      draw(spec, signal) {
        if (spec.seed === 1 && failures-- > 0) return Promise.reject(new Error('connection lost'))
        return source.draw(spec, signal)
      },
    }
    const forkBudget = new ForkBudget(lossy, { parallel: 2 })
    expect(await forkBudget.draw(five)).not.toContain(undefined)
    expect(forkBudget.spent.retries).toBe(2)
    // Five that were made, and two that nobody knows the price of.
    expect(forkBudget.spent.now.costUsd).toBe(7)
    failures = 3
    const other = new ForkBudget(lossy, { parallel: 2 })
    await expect(other.draw(five)).rejects.toThrow('connection lost')
    expect(other.spent.now.forks).toBe(1)
  })
})

describe('a ledger', () => {
  it.each([
    ['of one session', 'then', 'then', 'certified'],
    ['of earlier versions, which name no session', undefined, undefined, 'certified'],
    ['one of which another session made', 'then', 'later', 'refuted'],
    ['one of which this session makes', 'then', 'this', 'refuted'],
  ])('has forks that are a pair only in one session: those %s', async (_, resampledIn, keptIn, verdict) => {
    // All of them fail today; then a provider saved those that resample the first step.
    const { source } = curveSource([0, 0], 1)
    const made = (keep: number, grade: 'bad' | 'ok', session: string | undefined): ForkCacheEntry[] =>
      Array.from({ length: session === 'this' ? 0 : 30 }, (_unused, seed) => ({
        spec: { keep, seed },
        draw: { grade, modelCalls: 1, fingerprint: `${keep}/${seed} then` },
        at: '2026-03-04T05:06:07.089Z',
        ...(session === undefined ? {} : { session }),
      }))
    const entries = [...made(0, 'ok', resampledIn), ...made(1, 'bad', keptIn)]
    const inquiry = openInquiry(source, { forkCache: { entries, append: () => undefined } })
    const result = await confirmCommitment(inquiry, 0, 0.025, { note: () => undefined, isFar: () => false })
    expect(typeof result === 'string' ? result : result.how).toBe(verdict)
  })

  it('carries a session on: no fork is made twice, and the verdict is that of one session', async () => {
    const rates = cliff(30, 17, 0.8, 0.1)
    const whole = await blameFailedRun(curveSource(rates, 5).source)
    const entries: ForkCacheEntry[] = []
    const forkCache = { entries, append: (entry: ForkCacheEntry) => void entries.push(entry) }
    const first = curveSource(rates, 5)
    const stopped = await blameFailedRun(first.source, { forkCache, limits: { forks: 25 } })
    expect(stopped.verdict).toMatchObject({ kind: 'unresolved', stoppedBy: 'forks' })
    expect(entries).toHaveLength(25)
    const written = JSON.parse(JSON.stringify(entries)) as ForkCacheEntry[]
    const second = curveSource(rates, 5)
    const resumed = await blameFailedRun(second.source, {
      forkCache: { entries: written, append: (entry) => void entries.push(entry) },
    })
    expect(resumed).toEqual(whole)
    expect(resumed.verdict).toMatchObject({ kind: 'confirmed', commitments: [{ position: 17 }] })
    const specs = [...first.made, ...second.made].map((spec) => JSON.stringify(spec))
    expect(new Set(specs).size).toBe(specs.length)
    expect(entries).toHaveLength(specs.length)
  })
})
