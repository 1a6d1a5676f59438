// Records one agent many times at once, in one process.
import { loadAgent } from '../../../fixtures/agents/index.ts'
import { answerParent } from '../../../fixtures/child/answer.ts'
import type { Addresses } from '../../../fixtures/provider/index.ts'
import { createRecorder, type Recorder } from '../../../src/record/index.ts'

export interface RecordManyJob {
  readonly dir: string
  readonly name: string
  readonly runs: number
  readonly addresses: Addresses
}

export interface RecordedMany {
  readonly results: Readonly<Record<string, unknown>>
  readonly failed: readonly string[]
  readonly stats: Recorder['stats']
}

answerParent(async ({ dir, name, runs, addresses }: RecordManyJob): Promise<RecordedMany> => {
  process.env['WEATHER_URL'] = `${addresses.base}/tool/weather`
  const recorder = createRecorder({ dir })
  const agent = await loadAgent(name, addresses)
  // A client all runs share is connected when the application starts, outside any run.
  if (name === 'mcp-stdio-shared') await (await import('../../../fixtures/agents/mcp-stdio-shared.ts')).open()
  const results: Record<string, unknown> = {}
  const failed: string[] = []
  const start = async (_: unknown, index: number) => {
    const id = `run-${index}`
    const input = { ...addresses, tag: id }
    try {
      results[id] = await recorder.run({ agent: name, input, id }, () => agent(input))
    } catch (error) {
      failed.push(`${id}: ${String((error as Error).stack)}`)
    }
  }
  await Promise.all(Array.from({ length: runs }, start))
  return { results, failed, stats: { ...recorder.stats } }
})
