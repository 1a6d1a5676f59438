import { defaultProvePlan, proveDecision } from '../../src/blame/prove-gate.ts'
import type { Agent } from '../catch/world/run.ts'
import type { ProvedAgent } from './agents.ts'
import { endingOf } from './exact.ts'
import { type Rates, rightWith, tallyOf } from './chance.ts'
import type { Desk, Recorded } from './desk.ts'

/** Models of every kind: how often each is right. The first is never wrong, the fifth was flaky before. */
export const models: readonly Rates[] = [
  { changed: 1, recorded: 1 },
  { changed: 0.95, recorded: 1 },
  { changed: 0.9, recorded: 0.9 },
  { changed: 0.7, recorded: 1 },
  { changed: 0.5, recorded: 0.5 },
  { changed: 0, recorded: 1 },
]

/** An agent that is recorded and reworded, ready for any number of proofs. */
export interface Ready {
  readonly name: string
  readonly of: Recorded
  readonly agent: Agent
  readonly keys: readonly string[]
}

/** One whole proof, beside what the gate alone says of what was drawn for it. */
export interface Session {
  readonly decision: string
  /** The same ending, after as many asks and controls. */
  readonly isAsDrawn: boolean
  readonly calls: number
}

/** @throws RangeError when the rewording is no unproven one */
export async function makeReady(desk: Desk, { subject, tooled, reworded }: ProvedAgent): Promise<Ready> {
  const { name } = subject
  const of = await desk.record(subject, tooled)
  const agent = await desk.load(name, ...(tooled === undefined ? [] : [tooled]), reworded)
  const keys = await desk.unprovenKeys(of, agent)
  if (keys === undefined) throw new RangeError(`${name}, "${reworded.name}", is not unproven`)
  return { name, of, agent, keys }
}

/** The proof of number `index`; of each two, one has the chances of the other turned round. */
export async function proveOnce(desk: Desk, { of, agent, keys }: Ready, rates: Rates, index: number): Promise<Session> {
  const { mind, drawn } = rightWith(of, rates, index)
  const { decision, asks, control, used } = await desk.prove(of, agent, keys, { mind })
  const [changed, recorded] = [tallyOf(drawn.changed), tallyOf(drawn.recorded)]
  const isSame = JSON.stringify([asks, control]) === JSON.stringify([changed, recorded])
  return {
    decision: endingOf(decision),
    isAsDrawn: isSame && decision === proveDecision(changed, recorded, defaultProvePlan),
    calls: used.calls,
  }
}
