import { cappedValue, type Cutting, holdsPlaceholders, redactedValue, type Redactor } from '../privacy/index.ts'
import { cutsFlag, cutsOfEvent, encodeFor, isCut, type Json, type Tape } from '../tape/index.ts'

/** A value of a run that follows a tape, all of it. */
export function encodeWhole({ header }: Pick<Tape, 'header'>, value: unknown, redactor: Redactor): Json {
  return redactor.json(encodeFor(header.flags, value))
}

/** A value of a run that follows a tape, as the recorder of that would have written it: cut where it cut. */
export function encodeOn(tape: Tape, value: unknown, redactor: Redactor, how: Cutting = {}): Json {
  const json = encodeFor(tape.header.flags, value)
  const window = valueWindow(tape)
  if (window === undefined) return redactor.json(json)
  const isAsWritten = !tape.header.flags.includes(cutsFlag)
  const holds = (text: string): boolean => redactor.holds(text)
  return redactedValue(cappedValue(json, window, { ...how, isAsWritten, holds }), redactor)
}

/** How much was kept of either end of the values of a tape that were cut; `undefined` where all are whole. */
function valueWindow(tape: Pick<Tape, 'events'>): number | undefined {
  let window = windows.get(tape)
  if (window === undefined) {
    const found = tape.events.find((event) => event.kind !== 'exchange' && cutsOfEvent(event).length > 0)
    windows.set(tape, (window = { of: found && cutsOfEvent(found)[0]?.window }))
  }
  return window.of
}

const windows = new WeakMap<object, { readonly of: number | undefined }>()

/** Cut values of which not all was compared. */
const inPart = new WeakSet<object>()

/**
 * A value of a run that follows a tape and was cut, as the one of the tape that it may be. Where a secret stands in it, a replay has
 * a placeholder of another length in its place: size and digest are others then, and the ends are as long as both are. So are they
 * where the tape has no digest of it: what stood at the cut may be gone since.
 *
 * @returns `undefined` where a digest or the size tells, or it is like no value of the tape
 */
export function recordedCut(live: Json, recorded: Iterable<Json>): Json | undefined {
  if (!isCut(live)) return undefined
  const isMarked = holdsPlaceholders(live)
  for (const one of recorded) {
    if (!isCut(one) || (!isMarked && (one.sha256 !== undefined || one.size !== live.size))) continue
    const [head, tail] = [Math.min(one.head.length, live.head.length), Math.min(one.tail.length, live.tail.length)]
    const isSame = one.head.slice(0, head) === live.head.slice(0, head)
    if (!isSame || one.tail.slice(one.tail.length - tail) !== live.tail.slice(live.tail.length - tail)) continue
    const same = { ...(one as object) } as Json & object
    inPart.add(same)
    return same
  }
  return undefined
}

/** Whether a cut value was compared in part, for a secret stands in it. */
export function isComparedInPart(value: object): boolean {
  return inPart.has(value)
}
