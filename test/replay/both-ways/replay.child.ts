// Replays every agent, the server gone: once to meet each kind of request, and once more.
import { join } from 'node:path'
import { answerParent } from '../../../fixtures/child/answer.ts'
import { installReplay, replayTape } from '../../../src/replay/index.ts'
import { readTape, type Tape, type TapeEvent } from '../../../src/tape/index.ts'

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
      const read = readTape(join(dir, `${id}.tape.jsonl`))
      const tape = name.includes('in one turn')
        ? answeredInOneTurn(read)
        : name.includes('one burst')
          ? inBursts(read)
          : read
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

/** The tape with the answers to what was asked together moved into one turn of the event loop. */
function answeredInOneTurn(tape: Tape): Tape {
  const exchanges = tape.events.filter((event) => event.kind === 'exchange')
  const moved = new Map<TapeEvent, TapeEvent>()
  for (const [i, event] of exchanges.entries()) {
    if (!event.url.includes('together?') || event.response === undefined) continue
    // Three at a time are asked before one is answered.
    const first = exchanges.findIndex(({ url }) => url.includes('together?'))
    const group = exchanges.slice(i - ((i - first) % 3)).slice(0, 3)
    const at = Math.max(...group.map(({ response }) => response?.end?.[1] ?? 0))
    const { moment, chunks, end } = event.response
    const response = {
      ...event.response,
      moment: [moment[0], at] as const,
      chunks: chunks.map(([n, , bytes]) => [n, at, bytes] as const),
      ...(end && { end: [end[0], at] as const }),
    }
    moved.set(event, { ...event, response })
  }
  return { ...tape, events: tape.events.map((event) => moved.get(event) ?? event) }
}

/** The tape with all pieces of an answer moved to its end. */
function inBursts(tape: Tape): Tape {
  const events = tape.events.map((event) => {
    if (event.kind !== 'exchange' || event.response?.end === undefined) return event
    const { moment, chunks, end } = event.response
    const at = end[1]
    const moved = chunks.map(([n, , bytes]) => [n, at, bytes] as const)
    return { ...event, response: { ...event.response, moment: [moment[0], at] as const, chunks: moved } }
  })
  return { ...tape, events }
}
