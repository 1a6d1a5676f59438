// Records the order-sensitive agent many times, several runs at once.
import { type ArrivalInput, agent } from '../../../fixtures/agents/arrival-order.ts'
import { answerParent } from '../../../fixtures/child/answer.ts'
import { createRecorder } from '../../../src/record/index.ts'

export interface RecordOrderJob {
  readonly dir: string
  readonly input: ArrivalInput
  readonly runs: number
  readonly atOnce: number
}

export interface RecordedOrder {
  readonly id: string
  readonly order: string
}

answerParent(async ({ dir, input, runs, atOnce }: RecordOrderJob): Promise<readonly RecordedOrder[]> => {
  const recorder = createRecorder({ dir })
  // Connections and code are warmed up first: the first run of a process is slower than all others.
  await agent(input)
  const recorded: RecordedOrder[] = []
  let next = 0
  const worker = async () => {
    while (next < runs) {
      const id = `order-${next++}`
      const order = await recorder.run({ agent: 'arrival-order', input, id }, () => agent(input))
      recorded.push({ id, order })
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return recorded
})
