// Records every agent it is told about once, in this one process, in the project they belong to.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { answerParent } from '../../fixtures/child/answer.ts'
import type { Addresses } from '../../fixtures/provider/index.ts'
import { createRecorder } from '../../src/record/index.ts'

export interface RecordJob {
  readonly folder: string
  /** Name → file of the agent, relative to the folder. */
  readonly agents: Readonly<Record<string, string>>
  readonly addresses: Addresses
}

type Agent = (input: Addresses) => Promise<unknown>

answerParent(async ({ folder, agents, addresses }: RecordJob): Promise<readonly string[]> => {
  process.chdir(folder)
  const recorder = createRecorder({ dir: 'recordings/inbox', commit: '4f2a9c1' })
  for (const [name, file] of Object.entries(agents)) {
    const { agent } = (await import(pathToFileURL(join(folder, file)).href)) as { readonly agent: Agent }
    await recorder.run({ agent: name, id: name, input: addresses }, () => agent(addresses))
  }
  return Object.keys(agents)
})
