// Records every scenario, one after the other, against a living provider.
import { setTimeout as sleep } from 'node:timers/promises'
import { answerParent } from '../../../fixtures/child/answer.ts'
import { createRecorder } from '../../../src/record/index.ts'
import { play, type ScenarioInput, scenarios, slug } from './index.ts'

export interface RecordedScenario {
  readonly name: string
  readonly tape: string
  readonly result: unknown
  readonly durationMs: number
}

answerParent(async ({ dir, input }: { readonly dir: string; readonly input: ScenarioInput }) => {
  const recorder = createRecorder({ dir })
  const all: RecordedScenario[] = []
  for (const [name, scenario] of Object.entries(scenarios)) {
    const start = performance.now()
    const result = await recorder.run({ agent: name, input, id: slug(name) }, () => play(name, scenario, input))
    all.push({ name, result, tape: recorder.lastTape ?? '', durationMs: performance.now() - start })
    // What an abandoned answer still sends must not fall into the next scenario.
    await sleep(20)
  }
  return all
})
