import { type AskTally, defaultProvePlan, proveDecision, type ProveDecision } from '../../src/blame/prove-gate.ts'
import type { Rates } from './chance.ts'

/** How a proof may end, where every ask can be judged and the budget is enough. */
export type Ending = 'proven' | 'worse' | 'flaky' | 'open'

/** An agent that was never right with either question is counted with those that are wrong with both. */
export function endingOf<Of extends ProveDecision | 'budget' | 'stopped'>(
  decision: Of,
): Exclude<Of, 'neither'> | 'flaky' {
  return decision === 'neither' ? 'flaky' : (decision as Exclude<Of, 'neither'>)
}

/** What the gate says of asks that are right with these rates: the share of each ending, and the mean number of asks. */
export interface GateRates {
  readonly shares: Readonly<Record<Ending, number>>
  readonly asks: number
}

/**
 * The rates of the gate, summed over every sequence of asks: no simulation. An ask and its control are made in turn, as
 * a proof does it.
 */
export function gateRates({ changed, recorded }: Rates): GateRates {
  const shares: Record<Ending, number> = { proven: 0, worse: 0, flaky: 0, open: 0 }
  let asks = 0
  let front = new Map<string, Place>([['start', { ask: none, control: none, chance: 1 }]])
  while (front.size > 0) {
    const next = new Map<string, Place>()
    for (const { ask, control, chance } of front.values()) {
      const decision = proveDecision(ask, control, defaultProvePlan)
      if (decision === 'offline') throw new RangeError('every ask can be judged here')
      if (decision !== 'more' && decision !== 'more control') {
        shares[endingOf(decision)] += chance
        asks += chance * made(ask)
        continue
      }
      const askings = decision === 'more' ? outcomes(ask, changed) : [{ tally: ask, chance: 1 }]
      const isControl = decision === 'more control' || made(control) <= made(ask)
      const controls = isControl ? outcomes(control, recorded) : [{ tally: control, chance: 1 }]
      for (const one of askings)
        for (const other of controls) {
          const key = JSON.stringify([one.tally, other.tally])
          const known = next.get(key)?.chance ?? 0
          next.set(key, { ask: one.tally, control: other.tally, chance: known + chance * one.chance * other.chance })
        }
    }
    front = next
  }
  return { shares, asks }
}

interface Place {
  readonly ask: AskTally
  readonly control: AskTally
  readonly chance: number
}

const none: AskTally = { good: 0, bad: 0, ungraded: 0 }

function outcomes(tally: AskTally, rate: number) {
  return [
    { tally: { ...tally, good: tally.good + 1 }, chance: rate },
    { tally: { ...tally, bad: tally.bad + 1 }, chance: 1 - rate },
  ].filter(({ chance }) => chance > 0)
}

function made({ good, bad }: AskTally): number {
  return good + bad
}
