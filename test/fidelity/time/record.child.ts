// Records every agent, one after the other, against a living provider.
import { setTimeout as sleep } from 'node:timers/promises'
import { answerParent } from '../../../fixtures/child/answer.ts'
import { createRecorder } from '../../../src/record/index.ts'
import { play, type ScenarioInput, slug } from '../scenarios/scenario.ts'
import { timeAgents } from './agents.ts'

export interface RecordedTime {
  readonly name: string
  readonly tape: string
  readonly result: unknown
}

answerParent(async ({ dir, input }: { readonly dir: string; readonly input: ScenarioInput }) => {
  const recorder = createRecorder({ dir })
  const all: RecordedTime[] = []
  for (const [name, { run }] of Object.entries(timeAgents)) {
    const scenario = { run: (place: Parameters<typeof run>[0]) => run(place, {}) }
    const result = await recorder.run({ agent: name, input, id: slug(name) }, () => play(name, scenario, input))
    all.push({ name, result, tape: recorder.lastTape ?? '' })
    // What an abandoned answer still sends must not fall into the next run.
    await sleep(20)
  }
  return all
})
