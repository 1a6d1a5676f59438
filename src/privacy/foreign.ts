import { createContext, Script } from 'node:vm'
import { patienceMs } from './pace.ts'

/** Patterns that a tape named, and where it did: `a.tape.jsonl:1`. */
const places = new WeakMap<RegExp, string>()
/** Patterns of options that code of this process gave: the project answers for them. */
const answeredFor = new Set<string>()
const answeredCap = 1024

const begunLength = 1 << 16
/** What running one text costs beside the pattern, in milliseconds. */
const freeMs = 5
/** A pattern may go over its allowance by this in all, in milliseconds of the processor. */
const excessCapMs = 1_000
/** By the clock, for one text and each 64 KB of it: the processor is shared. */
const clockMs = 1_000

/** Takes note that a tape, and no code of the project, says this pattern. */
export function foreign(pattern: RegExp, place: string): RegExp {
  places.set(pattern, place)
  return pattern
}

const refusals = new WeakMap<RegExp, Error>()

/** Keeps why a pattern of a tape was stopped, and throws it: an agent that catches it must not hide it. */
export function refuse(pattern: RegExp, why: Error): never {
  refusals.set(pattern, why)
  throw why
}

/** Why a pattern of a tape was stopped; `undefined`: it was not. */
export function refusalOf(pattern: RegExp): Error | undefined {
  return refusals.get(pattern)
}

/** Takes note that the project itself names a pattern; what a tape named stays the tape's. */
export function answerFor(pattern: RegExp): void {
  if (places.has(pattern)) return
  if (answeredFor.size >= answeredCap) answeredFor.clear()
  answeredFor.add(pattern.toString())
}

/** Where a tape names a pattern that nothing else names; `undefined`: options name it too. */
export function foreignPlace(pattern: RegExp): string | undefined {
  return answeredFor.has(pattern.toString()) ? undefined : places.get(pattern)
}

/**
 * Runs a pattern of a tape, text by text, and stops it by the clock. Whoever wrote the pattern wrote the texts as well, so
 * that no text of ours shows how long it can take.
 */
export class Watch {
  #excessMs = 0

  /** What `work` gives for a text of this length; `undefined` when the pattern has taken too long, now or before. */
  run<T>(length: number, work: () => T): T | undefined {
    if (this.#excessMs > excessCapMs) return undefined
    const begun = Math.ceil(Math.max(1, length) / begunLength)
    const begin = process.cpuUsage()
    const result = stoppable(work, clockMs * begun)
    if (result === undefined) {
      this.#excessMs = Infinity
      return undefined
    }
    const { user, system } = process.cpuUsage(begin)
    const allowed = freeMs + (patienceMs * Math.max(1, length)) / begunLength
    this.#excessMs += Math.max(0, (user + system) / 1_000 - allowed)
    return this.#excessMs > excessCapMs ? undefined : result.value
  }
}

const held: { work: () => unknown } = { work: () => {} }
const context = { held }
let script: Script | undefined

function stoppable<T>(work: () => T, timeout: number): { readonly value: T } | undefined {
  if (script === undefined) {
    createContext(context)
    script = new Script('held.work()')
  }
  held.work = work
  try {
    return { value: script.runInContext(context, { timeout }) as T }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    return undefined
  }
}
