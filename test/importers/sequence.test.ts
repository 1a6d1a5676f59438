import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sequenceOf } from '../../src/importers/sequence.ts'
import type { ForeignExchange } from '../../src/importers/types.ts'

function exchange(startedMs?: number, tookMs?: number, hasAnswer = true): ForeignExchange {
  return {
    method: 'GET',
    url: 'https://api.example/',
    requestHeaders: [],
    ...(hasAnswer ? { response: { status: 200, headers: [] } } : {}),
    ...(startedMs === undefined ? {} : { startedMs }),
    ...(tookMs === undefined ? {} : { tookMs }),
  }
}

/** `0? 1? 1! 0!`: asked, asked, answered, answered. */
const orderOf = (...exchanges: readonly ForeignExchange[]): string =>
  sequenceOf(exchanges)
    .map(({ index, is }) => `${index}${is === 'request' ? '?' : '!'}`)
    .join(' ')

describe('calls of a recording', () => {
  it('overlap where their times say so', () => {
    expect(orderOf(exchange(0, 100), exchange(10, 50), exchange(70, 60))).toBe('0? 1? 1! 2? 0! 2!')
    expect(orderOf(exchange(0, 100, false), exchange(10, 50))).toBe('0? 1? 1!')
  })

  it('come one after the other where a time is missing, or they run backwards', () => {
    expect(orderOf(exchange(0, 100), exchange(10))).toBe('0? 0! 1? 1!')
    expect(orderOf(exchange(0, 100), exchange(undefined, 50))).toBe('0? 0! 1? 1!')
    expect(orderOf(exchange(90, 100), exchange(10, 50))).toBe('0? 0! 1? 1!')
    expect(orderOf(exchange(0, 100), exchange(50, 20), exchange(10, 5))).toBe('0? 0! 1? 1! 2? 2!')
  })

  it('come one after the other where the overlap is less than their times can tell', () => {
    expect(orderOf(exchange(0, 12), exchange(10, 5))).toBe('0? 0! 1? 1!')
    expect(orderOf(exchange(0, 12.001), exchange(10, 5))).toBe('0? 1? 0! 1!')
    expect(orderOf(exchange(0, 0), exchange(0, 2), exchange(0, 1))).toBe('0? 0! 1? 1! 2? 2!')
  })

  it('for all calls, however their times were rounded: overlap when they did by four milliseconds, and never when they did not', () => {
    const micros = fc.integer({ min: 0, max: 40_000 })
    const calls = fc.array(fc.record({ start: micros, took: micros, rounded: fc.boolean() }), { maxLength: 8 })
    fc.assert(
      fc.property(calls, (given) => {
        const true_ = given.toSorted((a, b) => a.start - b.start)
        const list = true_.map(({ start, took, rounded }) =>
          exchange(Math.floor(start / 1000), rounded ? Math.round(took / 1000) : took / 1000),
        )
        const sequence = sequenceOf(list)
        const placeOf = (index: number, is: string): number =>
          sequence.findIndex((one) => one.index === index && one.is === is)
        for (const [i, one] of true_.entries()) {
          expect(placeOf(i, 'request')).toBeLessThan(placeOf(i, 'answer'))
          for (const [j, other] of true_.entries()) {
            if (j <= i) continue
            const overlap = one.start + one.took - other.start
            if (overlap <= 0) expect(placeOf(i, 'answer')).toBeLessThan(placeOf(j, 'request'))
            if (overlap >= 4000) expect(placeOf(j, 'request')).toBeLessThan(placeOf(i, 'answer'))
          }
        }
      }),
      { numRuns: 300 },
    )
  })
})
