// Records what the nineteen checks replay, as an application would.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
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
    const inPieces = await servePieces(8)
    const recorder = createRecorder({ dir })
    const runs = {
      rawAnswer: () => agents.rawAnswer(input),
      streamPieces: () => agents.streamPieces(inPieces, inPieces.next),
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
      const asked = id === 'streamPieces' ? { ...input, base: inPieces.base } : input
      const result: unknown = await recorder.run({ agent: id, input: asked, id }, (): Promise<unknown> => run())
      recordings[id] = { tape: recorder.lastTape ?? '', result }
    }
    inPieces.close()
    return recordings
  },
)

/** A stream of events whose next piece is written when the last one was read, so that no two come as one. */
async function servePieces(
  count: number,
): Promise<agents.Base & { readonly next: () => void; readonly close: () => void }> {
  let written = 0
  let open: ServerResponse | undefined
  const next = () => {
    if (written === count) open?.end()
    else open?.write(`data: {"n":${written++}}\n\n`)
  }
  const server = createServer((_request, response) => {
    open = response.writeHead(200, { 'content-type': 'text/event-stream' })
    next()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, next, close: () => server.close() }
}
