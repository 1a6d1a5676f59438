/** Runs `work` for a text of a length; `undefined` when it took too long, now or before. */
export type Watch = <T>(length: number, work: () => T) => T | undefined

/** What a pattern of a tape is run by. */
export interface Guard {
  readonly watch: () => Watch
  /** Why it was stopped. */
  readonly refusal: (problem: string) => Error
}

const guards = new WeakMap<RegExp, Guard>()
/** Patterns of options that code of this process gave: the project answers for them. */
const answeredFor = new Set<string>()
const answeredCap = 1024

/** Takes note that a tape, and no code of the project, says this pattern. */
export function foreign(pattern: RegExp, guard: Guard): void {
  guards.set(pattern, guard)
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
  if (guards.has(pattern)) return
  if (answeredFor.size >= answeredCap) answeredFor.clear()
  answeredFor.add(pattern.toString())
}

/** The guard of a pattern that a tape names and nothing else; `undefined`: options name it too. */
export function guardOf(pattern: RegExp): Guard | undefined {
  return answeredFor.has(pattern.toString()) ? undefined : guards.get(pattern)
}
