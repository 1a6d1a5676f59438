// Records every agent, the server alive.
import { answerParent } from '../../../fixtures/child/answer.ts'
import { createRecorder } from '../../../src/record/index.ts'
import { agents as ofFetch } from './agents.ts'
import { httpAgents } from './http-agents.ts'
import { withServer } from './server.ts'

const agents = { ...ofFetch, ...httpAgents }

export interface Recorded {
  readonly base: string
  readonly results: Readonly<Record<string, unknown>>
}

/** The tape of an agent. */
export const idOf = (name: string): string => `run-${Object.keys(agents).indexOf(name)}`

answerParent(async (dir: string): Promise<Recorded> => {
  const recorder = createRecorder({ dir })
  return withServer(async (base) => {
    const results: Record<string, unknown> = {}
    for (const [name, agent] of Object.entries(agents))
      results[name] = await recorder.run({ agent: 'looks', id: idOf(name) }, () => agent(base))
    return { base, results }
  })
})
