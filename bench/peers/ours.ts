import { join } from 'node:path'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { readTape, stepsOf } from '../../src/tape/index.ts'
import type { Tool } from './tool.ts'

/** This package in its default settings. */
export const ours: Tool = {
  install: installReplay,
  async record({ dir, name, upstream, input }, work) {
    const recorder = createRecorder({ dir })
    return recorder.run({ agent: 'bench', id: name, input }, () => work(upstream))
  },
  async replay({ dir, name, upstream }, work) {
    const { outcome, problems, drift, tape } = await replayTape(readTape(join(dir, `${name}.tape.jsonl`)), () =>
      work(upstream),
    )
    const steps = stepsOf(tape).map(({ n }) => n)
    return {
      outcome: outcome.status === 'returned' ? { value: outcome.value } : { error: String(outcome.error) },
      complaints: problems.map(({ message }) => message),
      reported: drift.map((each) => ({ request: steps.indexOf(each.step), as: each.class })),
    }
  },
}
