// Records every client agent once, in this one process, the provider alive.
import { loadAgent } from '../../fixtures/agents/index.ts'
import { answerParent } from '../../fixtures/child/answer.ts'
import type { Addresses } from '../../fixtures/provider/index.ts'
import { createRecorder } from '../../src/record/index.ts'

export interface RecordJob {
  readonly dir: string
  readonly names: readonly string[]
  readonly addresses: Addresses
}

export interface Recorded {
  readonly name: string
  readonly result?: unknown
  readonly tape?: string
  /** Why the agent failed while it was recorded. */
  readonly failed?: string
}

answerParent(async ({ dir, names, addresses }: RecordJob): Promise<readonly Recorded[]> => {
  const recorder = createRecorder({ dir })
  const all: Recorded[] = []
  for (const name of names) {
    const input = { ...tokened(addresses, name), tag: name }
    try {
      const agent = await loadAgent(name, input)
      const result = await recorder.run({ agent: name, input, id: name }, () => agent(input))
      all.push({ name, result, ...(recorder.lastTape ? { tape: recorder.lastTape } : {}) })
    } catch (error) {
      all.push({ name, failed: String((error as Error).stack) })
    }
  }
  return all
})

/** Addresses under which the provider's log can tell whose request it was. */
function tokened({ base, h2base, tlsbase, tlsh2base }: Addresses, token: string): Addresses {
  const spec = `/~${token}~`
  return { base: base + spec, h2base: h2base + spec, tlsbase: tlsbase + spec, tlsh2base: tlsh2base + spec }
}
