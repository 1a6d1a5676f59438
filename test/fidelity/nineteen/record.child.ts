// Records what the nineteen checks replay, as an application would.
import { agent as clockAndIds } from '../../../fixtures/agents/clock-and-ids.ts'
import { answerParent } from '../../../fixtures/child/answer.ts'
import type { Addresses } from '../../../fixtures/provider/index.ts'
import { createRecorder } from '../../../src/record/index.ts'
import * as agents from './agents.ts'

export interface NineteenRecording {
  readonly tape: string
  readonly result: unknown
}

export type NineteenRecordings = Readonly<Record<string, NineteenRecording>>

answerParent(
  async ({ dir, input }: { readonly dir: string; readonly input: Addresses }): Promise<NineteenRecordings> => {
    const recorder = createRecorder({ dir })
    const runs = {
      rawAnswer: () => agents.rawAnswer(input),
      streamPieces: () => agents.streamPieces({ base: `${input.base}/~pieces~slow40` }),
      chat: () => agents.chat(input),
      twoOrders: () => agents.twoOrders(input),
      oneOrder: () => agents.twoOrders(input, ['order 12']),
      askInTurn: () => agents.askInTurn(input),
      callInTurn: () => agents.callInTurn(input),
      thrice: () => agents.thrice(input),
      threeAtOnce: () => agents.threeAtOnce(input),
      tellsSecrets: () => agents.tellsSecrets(input),
      losesConnection: () => agents.losesConnection(input),
      clockAndIds: () => clockAndIds(input),
      triesAgain: () => agents.triesAgain(input),
      leavesEarly: () => agents.leavesEarly(input),
      idle: async () => 'idle',
    }
    const recordings: Record<string, NineteenRecording> = {}
    for (const [id, run] of Object.entries(runs)) {
      const result: unknown = await recorder.run({ agent: id, input, id }, (): Promise<unknown> => run())
      recordings[id] = { tape: recorder.lastTape ?? '', result }
    }
    return recordings
  },
)
