import type { AcceptedChange, SharedAcceptance } from './types.ts'

/** What was accepted for one case or tape, with its own steps. */
export interface NamedAcceptance extends AcceptedChange {
  /** Reviewed for other cases or tapes only: it counts at no step of this one. */
  readonly isOfOthers?: true
}

/**
 * What was accepted for a case or the tape of a hand-written test. Of one change an entry that says its steps goes before those
 * that count for all cases: what was reviewed here at one step is not reviewed at another one because it was elsewhere.
 *
 * @param name - id of the case; of a hand-written test, of its tape
 * @param own - the case's own entries
 */
export function entriesFor(
  name: string,
  own: readonly AcceptedChange[],
  shared: readonly SharedAcceptance[],
): readonly NamedAcceptance[] {
  const ofAll = shared.map((entry): NamedAcceptance => {
    const { steps, ...rest } = entry
    if (steps === undefined) return rest
    return Object.hasOwn(steps, name) ? { ...rest, steps: steps[name] ?? [] } : { ...rest, isOfOthers: true }
  })
  return [...Map.groupBy([...own, ...ofAll], ({ key }) => key).values()].flatMap((entries) => {
    const named = entries.filter(({ steps }) => steps !== undefined)
    const general = entries.filter((one: NamedAcceptance) => one.steps === undefined && one.isOfOthers !== true)
    return named.length > 0 ? named : general.length > 0 ? general : entries
  })
}

/** At which steps each change is green, by key. */
export function greenSteps(
  entries: readonly Pick<NamedAcceptance, 'key' | 'steps' | 'isOfOthers'>[],
): ReadonlyMap<string, readonly number[] | 'all'> {
  const green = new Map<string, readonly number[] | 'all'>()
  for (const { key, steps, isOfOthers } of entries) {
    const before = green.get(key) ?? []
    const now = isOfOthers === true ? [] : (steps ?? 'all')
    green.set(key, before === 'all' || now === 'all' ? 'all' : [...new Set([...before, ...now])].sort((a, b) => a - b))
  }
  return green
}
