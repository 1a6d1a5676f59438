// Does all runs of one recorder in one mode.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { answerParent } from '../../fixtures/child/answer.ts'
import { type Replayed, type RunOptions, toolNamed, type ToolName } from '../peers/tool.ts'

export interface Job {
  readonly tool: ToolName
  readonly mode: 'record' | 'replay'
  readonly dir: string
  readonly upstream: string
  readonly outside: string
  readonly runs: readonly string[]
  /** A run that takes longer is given up. */
  readonly patienceMs: number
}

/** What became of each run; a recording that failed has its error as its outcome. */
export type Driven = Readonly<Record<string, Replayed<unknown>>>

// Taken before anybody patches anything.
const { setTimeout, clearTimeout } = globalThis
// A recorder that throws where nobody can catch it fails the run it belongs to, not those after it.
const stray: string[] = []
process.on('uncaughtException', (error) => stray.push(String(error)))
process.on('unhandledRejection', (error) => stray.push(String(error)))

answerParent(async (job: Job): Promise<Driven> => {
  const tool = await toolNamed(job.tool)
  if (job.mode === 'replay') await tool.install()
  const { runs } = await import('./agents.ts')
  const driven: Record<string, Replayed<unknown>> = {}
  for (const name of job.runs) {
    const run = runs[name]
    if (!run) throw new RangeError(`no run is called ${name}`)
    // A folder each, so that what is on disk can be told apart.
    const dir = join(job.dir, name)
    mkdirSync(dir, { recursive: true })
    const options: RunOptions = { dir, name, upstream: job.upstream, input: { run: name } }
    stray.length = 0
    const work = (base: string): Promise<unknown> => run[job.mode](base, job.outside)
    const doing: Promise<Replayed<unknown>> =
      job.mode === 'replay'
        ? tool.replay(options, work)
        : tool.record(options, work).then((value) => ({ outcome: { value }, complaints: [], reported: [] }))
    const done = await patiently(doing, job.patienceMs)
    driven[name] = stray.length === 0 ? done : { ...done, complaints: [...done.complaints, ...stray] }
  }
  return driven
})

async function patiently(doing: Promise<Replayed<unknown>>, ms: number): Promise<Replayed<unknown>> {
  const failed = (error: string): Replayed<unknown> => ({ outcome: { error }, complaints: [error], reported: [] })
  const { promise, resolve } = Promise.withResolvers<Replayed<unknown>>()
  const timer = setTimeout(() => resolve(failed(`hangs for more than ${ms / 1_000} s`)), ms)
  doing.then(resolve, (error: unknown) => resolve(failed(String(error))))
  try {
    return await promise
  } finally {
    clearTimeout(timer)
  }
}
