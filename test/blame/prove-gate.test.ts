import { describe, expect, it } from 'vitest'
import { type AskTally, defaultProvePlan, proveDecision, provenAtLeast } from '../../src/blame/prove-gate.ts'
import { mulberry32 } from '../recordings/mulberry32.ts'

const none: AskTally = { good: 0, bad: 0, ungraded: 0 }
const tally = (good: number, bad: number, ungraded = 0): AskTally => ({ good, bad, ungraded })
const always = tally(20, 0)
const decide = (asks: AskTally, control = none) => proveDecision(asks, control, defaultProvePlan)

function simulate(p: number, runs = 2_000): { readonly proven: number; readonly asks: number; readonly worst: number } {
  const random = mulberry32(1)
  let proven = 0
  let asks = 0
  let worst = 0
  for (let run = 0; run < runs; run++) {
    let [good, bad] = [0, 0]
    let decision = decide(none)
    while (decision === 'more') {
      if (random() < p) good++
      else bad++
      decision = decide(tally(good, bad), always)
    }
    proven += Number(decision === 'proven')
    asks += good + bad
    worst = Math.max(worst, good + bad)
  }
  return { proven: (100 * proven) / runs, asks: asks / runs, worst }
}

describe('the gate of a proof', () => {
  // Simulated with 20 000 runs each, see the decision record.
  it.each([
    { p: 1, proven: 100, asks: 6 },
    { p: 0.95, proven: 99, asks: 7.1 },
    { p: 0.9, proven: 96, asks: 8.5 },
    { p: 0.7, proven: 35, asks: undefined },
    { p: 0.5, proven: 3.4, asks: 6.4 },
    { p: 0, proven: 0, asks: 2 },
  ])('proves an agent that is right with probability $p in $proven % of 2 000 proofs', ({ p, proven, asks }) => {
    const simulated = simulate(p)
    expect(Math.abs(simulated.proven - proven)).toBeLessThan(2)
    if (asks !== undefined) expect(Math.abs(simulated.asks - asks)).toBeLessThan(0.3)
    expect(simulated.worst).toBeLessThanOrEqual(20)
  })

  it('needs six good asks without a bad one, and two bad ones are enough: Wald’s bounds for 0.9 against 0.5', () => {
    // ln 19 = 2.944; a good ask is worth ln 1.8 = 0.588, a bad one ln 0.2 = -1.609.
    expect([decide(tally(5, 0)), decide(tally(6, 0))]).toEqual(['more', 'proven'])
    expect([decide(tally(0, 1)), decide(tally(0, 2), always)]).toEqual(['more', 'worse'])
    expect([decide(tally(7, 1)), decide(tally(8, 1))]).toEqual(['more', 'proven'])
  })

  it('stays open when the asks there may be do not decide', () => {
    expect(decide(tally(14, 4))).toBe('more')
    expect(decide(tally(15, 5))).toBe('open')
  })

  it('calls nothing worse before the recorded question was right often enough', () => {
    expect(decide(tally(0, 2), tally(2, 0))).toBe('more control')
    expect(decide(tally(0, 2), tally(6, 0))).toBe('worse')
    // Never right, with either question: that says nothing about how often.
    expect(decide(tally(0, 2), tally(0, 2))).toBe('neither')
    // Right and wrong alike: 14 of 20 is neither.
    expect(decide(tally(0, 2), tally(14, 6))).toBe('flaky')
    expect(decide(tally(0, 2), tally(0, 0, 20))).toBe('flaky')
  })

  it('takes an agent that is wrong as often with the recorded question for flaky', () => {
    const random = mulberry32(7)
    let worse = 0
    for (let run = 0; run < 500; run++) {
      let [asks, control] = [none, none]
      let decision = decide(asks, control)
      const ask = (to: AskTally) => (random() < 0.5 ? { ...to, good: to.good + 1 } : { ...to, bad: to.bad + 1 })
      while (decision === 'more' || decision === 'more control') {
        if (decision === 'more') asks = ask(asks)
        control = ask(control)
        decision = decide(asks, control)
      }
      worse += Number(decision === 'worse')
    }
    expect(worse / 500).toBeLessThan(0.06)
  })

  it('proves nothing when more than a fifth of the asks cannot be judged', () => {
    expect(decide(tally(6, 0, 1))).toBe('proven')
    expect(decide(tally(3, 0, 1))).toBe('more')
    expect(decide(tally(3, 0, 2))).toBe('offline')
    expect(decide(tally(6, 0, 2))).toBe('offline')
    // What was bad is bad all the same.
    expect(decide(tally(0, 2, 8), always)).toBe('worse')
  })

  it('says how often a proven agent is right at least, one-sided at 95 %', () => {
    // All good: 0.05^(1/n).
    expect(provenAtLeast(6, 6)).toBeCloseTo(0.05 ** (1 / 6), 9)
    expect(provenAtLeast(5, 5)).toBeCloseTo(0.5493, 4)
    // Clopper and Pearson, 8 of 10, one-sided 95 %: 0.4931.
    expect(provenAtLeast(8, 10)).toBeCloseTo(0.4931, 4)
    expect(provenAtLeast(0, 4)).toBe(0)
    expect(() => provenAtLeast(3, 2)).toThrow(RangeError)
  })
})
