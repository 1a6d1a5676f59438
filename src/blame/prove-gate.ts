import { betaQuantile } from '../stats/beta-function.ts'
import { checkRate } from '../stats/clopper-pearson.ts'
import { fisherExact } from '../stats/fisher.ts'
import { sprt } from '../stats/sprt.ts'

/** How often an agent must be right to be as good as recorded, and how many asks that may take. */
export interface ProvePlan {
  /** Rate of an agent that is as good as recorded. */
  readonly good: number
  /** Rate of an agent that is not good enough. */
  readonly bad: number
  /** How often a good one may be called worse, and a bad one proven. */
  readonly error: number
  /** Asks after which the question stays open. */
  readonly maxAsks: number
}

/** The result of asks. */
export interface AskTally {
  readonly good: number
  readonly bad: number
  /** Asks that cannot be judged: they needed what is not on the tape. */
  readonly ungraded: number
}

/**
 * What is known after some asks. `proven`: right more often than not. `worse`: it is not as good as recorded. `flaky`: nor
 * is it with the recorded question. `neither`: no ask was good, with the recorded question neither. `offline`: too many asks
 * need what is not on the tape. `open`: not decided by the asks there may be. `more`: ask again.
 */
export type ProveDecision = 'proven' | 'worse' | 'flaky' | 'neither' | 'offline' | 'open' | 'more' | 'more control'

/** An agent is as good as recorded at 90 % and not at 50 %; either error is 5 %; at most 20 asks. */
export const defaultProvePlan: ProvePlan = { good: 0.9, bad: 0.5, error: 0.05, maxAsks: 20 }

/** From so many asks on their share that cannot be judged counts. */
const leastForShare = 5

/** Asks that may be impossible to judge, of all. */
const ungradedShare = 0.2

/** How sure a case is called worse than with the recorded question, and not as flaky. */
const worseAlpha = 0.05

/**
 * The gate of a proof: looks after each ask.
 *
 * @param control - the same asks with the recorded question
 */
export function proveDecision(asks: AskTally, control: AskTally, plan: ProvePlan): ProveDecision {
  const made = asks.good + asks.bad + asks.ungraded
  const isOffTape = made >= leastForShare && asks.ungraded / made > ungradedShare
  const said = sprt(asks.good, asks.bad, plan)
  if (said === 'bad') return worseOrFlaky(asks, control, plan)
  if (isOffTape) return 'offline'
  // A few asks that cannot be judged are a large share of few asks: then more are made.
  if (said === 'good' && asks.ungraded / made <= ungradedShare) return 'proven'
  return made >= plan.maxAsks ? 'open' : 'more'
}

/** An agent that is wrong with the recorded question too says nothing about the changed one. */
function worseOrFlaky(asks: AskTally, control: AskTally, plan: ProvePlan): ProveDecision {
  const controls = control.good + control.bad
  const said = sprt(control.good, control.bad, plan)
  if (said === 'bad') return asks.good + control.good === 0 ? 'neither' : 'flaky'
  if (said === 'good') {
    const missed = { hits: asks.bad, runs: asks.good + asks.bad }
    const isWorse = fisherExact(missed, { hits: control.bad, runs: controls }) <= worseAlpha
    if (isWorse) return 'worse'
  }
  return controls + control.ungraded >= plan.maxAsks ? 'flaky' : 'more control'
}

/**
 * The rate that so many good asks show at least, at 95 %: the one-sided bound of Clopper and Pearson. 6 of 6 show 0.61.
 *
 * @throws RangeError when good and asked are no rate
 */
export function provenAtLeast(good: number, asked: number): number {
  checkRate('provenAtLeast', good, asked, 0.05)
  return good === 0 ? 0 : betaQuantile(0.05, good, asked - good + 1)
}
