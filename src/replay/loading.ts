import { heedAgent, installInterceptors, watchOutside } from '../seam/intercept/index.ts'
import type { HarvestError } from '../errors/index.ts'
import { escapedWhileLoading } from '../playback/problems.ts'
import { isAllowed } from '../playback/allow.ts'
import type { SharedRequest } from '../match/types.ts'
import { redactorForMessages } from '../match/redact-message.ts'
import type { Tape } from '../tape/index.ts'
import { outsideAnswers } from './outside-answers.ts'

const fetched = new WeakMap<Tape, readonly SharedRequest[]>()

/** What the modules of an agent asked for while they loaded for this tape, and were answered with. */
export function sharedWhileLoading(tape: Tape): readonly SharedRequest[] {
  return fetched.get(tape) ?? []
}

/**
 * Loads an agent's modules with the way to the world shut: a connection made while modules load would be a live call
 * that no tape knows of.
 *
 * @param allow - escapes to let through, as in the replay options
 * @param tape - what its process had fetched outside its runs is answered; absent: nothing is
 * @param isFresh - modules load again though they were loaded before
 * @throws HarvestError `HARVEST_ESCAPE` for the first thing that reached out
 */
export async function guardLoading<T>(
  load: () => Promise<T>,
  allow: readonly string[] = [],
  tape?: Tape,
  isFresh = false,
): Promise<T> {
  installInterceptors()
  const loadedAgent = heedAgent(isFresh)
  const refused: HarvestError[] = []
  const shared: SharedRequest[] = []
  if (tape !== undefined) fetched.set(tape, shared)
  const answers = tape && outsideAnswers(tape, { shared, pending: 0, over: false })
  const redactMessage = redactorForMessages(tape)
  const unwatch = watchOutside({
    ...(answers && { answers }),
    escape(kind, target, madeAt) {
      const said = redactMessage(target)
      if (isAllowed(allow, kind, target, said)) return undefined
      const error = escapedWhileLoading(kind, said, madeAt)
      refused.push(error)
      return error
    },
  })
  try {
    const loaded = await load()
    if (refused[0]) throw refused[0]
    return loaded
  } catch (error) {
    // The error of a module that could not connect says less than what was refused.
    throw refused[0] ?? error
  } finally {
    loadedAgent()
    unwatch()
  }
}
