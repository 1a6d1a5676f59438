// Records the agent named in the environment, in a process of its own: some clients are made when their module loads.
import { answerParent } from '../../fixtures/child/answer.ts'
import type { AgentInput } from '../../fixtures/agents/index.ts'
import { createRecorder } from '../../src/record/index.ts'

answerParent(async ({ dir, name, input }: { dir: string; name: string; input: AgentInput }): Promise<string> => {
  const { agent } = await import('./sdk-agent.ts')
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: name, input, id: name }, () => agent(input))
  return recorder.lastTape ?? ''
})
