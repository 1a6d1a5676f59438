import { canonicalJson, isList, isMap, without } from '../json/canonical.ts'
import { own } from '../match/difference.ts'
import type { ExpectedState, StateChange } from '../match/types.ts'
import type { Json, StateEvent, Tape, TapeEvent } from '../tape/index.ts'
import { presentValue } from '../tape/present.ts'

/** How a case calls the input, as the agent leaves it: a snapshot has a call as well. */
export const inputState = 'input'

/** A tape as it would be with the states that are expected in place of the recorded ones. */
export function withStates(tape: Tape, given: readonly ExpectedState[]): Tape {
  if (given.length === 0) return tape
  const isGiven = (event: StateEvent, one: ExpectedState): boolean =>
    one.of === event.name && (one.call ?? 1) === event.call && one.in === event.in
  const input = given.find(isInput)
  const snapshots = given.filter((one) => !isInput(one))
  const more = snapshots.filter((one) => !tape.events.some((event) => event.kind === 'state' && isGiven(event, one)))
  const events: readonly TapeEvent[] = [
    ...tape.events.flatMap((event): readonly TapeEvent[] => {
      const one = event.kind === 'state' ? snapshots.find((each) => isGiven(event, each)) : undefined
      return one === undefined || event.kind !== 'state' ? [event] : snapshotOf(one, event)
    }),
    ...more.flatMap((one) => snapshotOf(one)),
  ]
  const { close, header } = tape
  if (input === undefined || close === undefined) return { ...tape, events }
  const left = changed(presentValue(close.input?.left ?? header.input ?? null), input.changes) ?? null
  return { ...tape, events, close: { ...close, input: { left } } }
}

function isInput({ of, call }: ExpectedState): boolean {
  return of === inputState && call === undefined
}

function snapshotOf(
  { of: name, call = 1, in: inside, changes }: ExpectedState,
  event?: StateEvent,
): readonly StateEvent[] {
  const data = changed(event && presentValue(event.data), changes)
  if (data === undefined) return []
  const where = inside === undefined ? {} : { in: inside }
  return [event ? { ...event, data } : { kind: 'state', n: Infinity, at: 0, ...where, name, call, data }]
}

/** Where two values differ, so that the one becomes the other; empty when they are equal. */
export function changesBetween(before: Json | undefined, after: Json | undefined, path = ''): readonly StateChange[] {
  if (before !== undefined && after !== undefined && canonicalJson(before) === canonicalJson(after)) return []
  if (isList(before) && isList(after)) {
    const gone = before.slice(after.length).map((_, at) => ({ path: `${path}/${before.length - 1 - at}` }))
    return [...after.flatMap((item, at) => changesBetween(before[at], item, `${path}/${at}`)), ...gone]
  }
  if (isMap(before) && isMap(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    return keys.flatMap((key) => changesBetween(own(before, key), own(after, key), `${path}/${escaped(key)}`))
  }
  return [{ path, ...(after !== undefined && { value: after }) }]
}

/** The value with these changes; `undefined`: nothing is left of it. */
function changed(value: Json | undefined, changes: readonly StateChange[]): Json | undefined {
  return changes.reduce<Json | undefined>((whole, change) => put(whole, keysOf(change.path), change.value), value)
}

/** Changes that fit another tape make a state that no agent has: it is different, and its place is named. */
function put(whole: Json | undefined, [key, ...rest]: readonly string[], value: Json | undefined): Json | undefined {
  if (key === undefined) return value
  const at = Number(key)
  if (isList(whole) && at <= whole.length) {
    const item = put(whole[at], rest, value)
    return whole.toSpliced(at, 1, ...(item === undefined ? [] : [item]))
  }
  const map = isMap(whole) ? whole : {}
  const item = put(own(map, key), rest, value)
  return item === undefined ? without(map, key) : { ...map, [key]: item }
}

/** As RFC 6901 writes the key of a pointer. */
function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

function keysOf(pointer: string): readonly string[] {
  const keys = pointer === '' ? [] : pointer.slice(1).split('/')
  return keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
}
