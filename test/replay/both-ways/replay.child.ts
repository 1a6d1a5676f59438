// Replays every agent, the server gone: once to meet each kind of request, and once more.
import { join } from 'node:path'
import { answerParent } from '../../../fixtures/child/answer.ts'
import { installReplay, replayTape } from '../../../src/replay/index.ts'
import { readTape } from '../../../src/tape/index.ts'

export interface ReplayJob {
  readonly dir: string
  readonly base: string
  readonly ids: Readonly<Record<string, string>>
}

export interface Replayed {
  readonly result: unknown
  readonly problems: readonly string[]
  readonly drift: number
  readonly comparison: unknown
  /** This replay's own record. */
  readonly events: unknown
  /** Whether any answer was given above undici, or beside the interceptor of sockets. */
  readonly isAbove: boolean
}

answerParent(async ({ dir, base, ids }: ReplayJob): Promise<Readonly<Record<string, Replayed>>> => {
  const getterOf = () => Object.getOwnPropertyDescriptor(Response.prototype, 'url')?.get
  const getter = getterOf()
  await installReplay()
  const { agents: ofFetch, inReplay } = await import('./agents.ts')
  const { counts, httpAgents } = await import('./http-agents.ts')
  const agents = { ...ofFetch, ...httpAgents }
  inReplay.is = true
  const replayed: Record<string, Replayed> = {}
  for (const round of [1, 2]) {
    for (const [name, id] of Object.entries(ids)) {
      const tape = readTape(join(dir, `${id}.tape.jsonl`))
      Object.assign(counts, { made: 0, passedOn: 0 })
      const { outcome, problems, drift, comparison, events } = await replayTape(tape, () => agents[name]!(base))
      if (round === 1) continue
      replayed[name] = {
        result: outcome.status === 'returned' ? outcome.value : String(outcome.error),
        problems: problems.map(({ message }) => message),
        drift: drift.length,
        comparison,
        events,
        isAbove: name in httpAgents ? counts.passedOn < counts.made : getterOf() !== getter,
      }
    }
  }
  return replayed
})
