/** Runs `work` for a text of a length; `undefined` when it took too long, now or before. */
export type Watch = <T>(length: number, work: () => T) => T | undefined

/** Patterns that a tape named, where it did, `a.tape.jsonl:1`, and what makes a watch over one. */
const places = new WeakMap<RegExp, { readonly place: string; readonly watch: () => Watch }>()
/** Patterns of options that code of this process gave: the project answers for them. */
const answeredFor = new Set<string>()
const answeredCap = 1024

/** Takes note that a tape, and no code of the project, says this pattern. */
export function foreign(pattern: RegExp, place: string, watch: () => Watch): void {
  places.set(pattern, { place, watch })
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
  return answeredFor.has(pattern.toString()) ? undefined : places.get(pattern)?.place
}

/** A watch over a pattern that {@link foreignPlace} knows. */
export function watchOver(pattern: RegExp): Watch {
  return places.get(pattern)!.watch()
}
