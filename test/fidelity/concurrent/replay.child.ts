// Replays tapes of one agent all at once, in one process, the provider gone.
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type AgentInput, loadAgent } from '../../../fixtures/agents/index.ts'
import { answerParent } from '../../../fixtures/child/answer.ts'
import { installReplay, replayTape } from '../../../src/replay/index.ts'
import { readTape } from '../../../src/tape/index.ts'
import { isBitExact } from '../../clients/bit-exact.ts'

export interface ReplayManyJob {
  readonly dir: string
  readonly name: string
  /** What each run returned when it was recorded, by id. */
  readonly results: Readonly<Record<string, unknown>>
}

answerParent(async ({ dir, name, results }: ReplayManyJob): Promise<readonly string[]> => {
  await installReplay()
  const [[first = ''] = []] = Object.entries(results)
  const input = readTape(tapeOf(first)).header.input as unknown as AgentInput
  process.env['WEATHER_URL'] = `${input.base}/tool/weather`
  const agent = await loadAgent(name, input)
  const replays = Object.entries(results).map(async ([id, recorded]) => {
    const tape = readTape(tapeOf(id))
    const { outcome, problems, comparison } = await replayTape(tape, (given) => agent(given as AgentInput))
    const said = problems.map(({ message }) => message)
    if (outcome.status === 'threw') said.push(String(outcome.error))
    else if (!isDeepStrictEqual(outcome.value, recorded)) said.push(`returned ${JSON.stringify(outcome.value)}`)
    if (!isBitExact(comparison)) said.push(JSON.stringify(comparison))
    return said.map((line) => `${id}: ${line}`)
  })
  return (await Promise.all(replays)).flat()

  function tapeOf(id: string): string {
    return join(dir, `${id}.tape.jsonl`)
  }
})
