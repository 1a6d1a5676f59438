// Replays one agent over and over and reports what is left behind.
import { setTimeout as sleep } from 'node:timers/promises'
import { answerParent } from '../../fixtures/child/index.ts'
import { tool } from '../../src/record/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { held, type Leftovers, leftovers } from '../support/leftovers.ts'
import { chat, chatUrl, Recording } from './tapes.ts'

const look = tool('look', async (_: { id: number }) => 'ran')

async function agent(): Promise<string> {
  const signal = AbortSignal.timeout(600_000)
  const idle = setTimeout(() => undefined, 1e6)
  const answer = await (await fetch(chatUrl, { method: 'POST', body: chat('hi'), signal })).text()
  await look({ id: 1 })
  await sleep(10)
  setInterval(() => undefined, 1000)
  clearTimeout(idle)
  return answer
}

answerParent(async (runs: number): Promise<Leftovers> => {
  await installReplay()
  const recording = new Recording()
  recording.exchange({ body: chat('hi'), answer: 'x'.repeat(10_000) })
  recording.call('look', { id: 1 }, 'seen')
  const tape = recording.tape()
  const problems = new Set<string>()
  const replay = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++)
      for (const { message } of (await replayTape(tape, agent)).problems) problems.add(message)
  }
  const idle = await held()
  await replay(runs / 4)
  const before = await held(idle)
  await replay(runs)
  const after = await held(before)
  return leftovers(before, after, problems)
})
