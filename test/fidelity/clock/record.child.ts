// Records agents whose behaviour hangs on the clock and on chance.
import { join } from 'node:path'
import { agent as backsOff } from '../../../fixtures/agents/backs-off.ts'
import { agent as clockAndIds } from '../../../fixtures/agents/clock-and-ids.ts'
import { answerParent } from '../../../fixtures/child/answer.ts'
import type { Addresses } from '../../../fixtures/provider/index.ts'
import { createRecorder } from '../../../src/record/index.ts'

export interface ClockJob {
  readonly dir: string
  readonly addresses: Addresses
  readonly runs: number
}

export interface RecordedClock {
  readonly tape: string
  readonly result: unknown
}

answerParent(async ({ dir, addresses, runs }: ClockJob): Promise<Readonly<Record<string, RecordedClock>>> => {
  const recorder = createRecorder({ dir })
  const recorded: Record<string, RecordedClock> = {}
  const record = async <I>(id: string, input: I, agent: (input: I) => Promise<unknown>) => {
    const result = await recorder.run({ agent: id, input, id }, () => agent(input))
    recorded[id] = { result, tape: join(dir, `${id}.tape.jsonl`) }
  }
  const many = Array.from({ length: runs }, (_, index) => record(`clock-${index}`, addresses, clockAndIds))
  await Promise.all(many)
  const overloaded = { ...addresses, base: `${addresses.base}/~overloaded~429x5`, backOffMs: 2 }
  await record('backs-off', overloaded, backsOff)
  return recorded
})
