import { createHash } from 'node:crypto'
import { canonicalJson } from '../../json/canonical.ts'
import { type CutValue, isCut, type Json, type Tape, type TapeEvent } from '../../tape/index.ts'
import { presentArgs, presentValue } from '../../tape/present.ts'

/** Values of two tapes, where those that were cut can be compared as all others. */
export interface ComparableCuts {
  readonly a: Tape
  readonly b: Tape
  /** Values of `b` that count as one of `a` though not all of both was compared. */
  readonly inPart: number
}

/**
 * Puts a value of the first tape in the place of each cut value of the second that is the same, or may be, and the other way round.
 * A digest tells. Without one, a size and the ends do; then nothing is known of what stood between them. Values that have no digest and
 * are no such pair are distinguished by what is left of them.
 */
export function comparableCuts(a: Tape, b: Tape): ComparableCuts {
  const known = valuesIn(a)
  if (!known.some(isCut) && !valuesIn(b).some(isCut)) return { a, b, inPart: 0 }
  // What a fork asked holds placeholders of other lengths where secrets stood.
  const sizesTell = a.header.parent === undefined && b.header.parent === undefined
  let inPart = 0
  const placed = withValues(b, (value) => {
    const same = known.find((one) => areSame(one, value, sizesTell) === true)
    const like = same ?? known.find((one) => areSame(one, value, sizesTell) === undefined)
    if (like === undefined) return distinct(value)
    if (same === undefined) inPart++
    return distinct(like)
  })
  return { a: withValues(a, distinct), b: placed, inPart }
}

/** Whether two values, of which one at least was cut, are the same; `undefined`: they may be. */
function areSame(one: Json, other: Json, sizesTell: boolean): boolean | undefined {
  if (!isCut(one) && !isCut(other)) return false
  if (!isCut(one)) return areSame(other, one, sizesTell)
  if (!isCut(other)) return isWhole(one, other)
  if (one.sha256 !== undefined && other.sha256 !== undefined) return one.sha256 === other.sha256
  if (sizesTell && one.size !== other.size) return false
  // Caps may differ: what both have of an end is compared.
  const [head, tail] = [Math.min(one.head.length, other.head.length), Math.min(one.tail.length, other.tail.length)]
  const isLike =
    one.head.slice(0, head) === other.head.slice(0, head) &&
    one.tail.slice(one.tail.length - tail) === other.tail.slice(other.tail.length - tail)
  return isLike ? undefined : false
}

/** Whether a whole value is the one that was cut in another run, whose cap was smaller. */
function isWhole(cut: CutValue, whole: Json): boolean | undefined {
  const texts = [presentValue(whole), presentArgs(whole)].map(canonicalJson)
  if (cut.sha256 !== undefined)
    return texts.some((text) => createHash('sha256').update(text).digest('hex') === cut.sha256)
  return texts.some((text) => text.startsWith(cut.head) && text.endsWith(cut.tail)) ? undefined : false
}

/** A cut value without a digest has one of what is left of it: reports leave out its ends. */
function distinct(value: Json): Json {
  if (!isCut(value) || value.sha256 !== undefined) return value
  const { size, window, cut, head, tail } = value
  const ends = createHash('sha256')
    .update(JSON.stringify([head, tail]))
    .digest('hex')
    .slice(0, 16)
  return { $type: 'cut', size, window, cut, head, tail, ends }
}

const fields = ['args', 'context', 'result', 'error', 'body', 'data'] as const

function valuesIn({ events }: Tape): readonly Json[] {
  const values: Json[] = []
  for (const event of events) eachValue(event, (value) => (values.push(value), value))
  return values
}

function withValues(tape: Tape, change: (value: Json) => Json): Tape {
  return { ...tape, events: tape.events.map((event) => eachValue(event, change)) }
}

function eachValue(event: TapeEvent, change: (value: Json) => Json): TapeEvent {
  if (event.kind === 'exchange') return event
  const given = event as unknown as Readonly<Record<string, Json | undefined>>
  const changed = fields.flatMap((field) => {
    const value = given[field]
    return value === undefined ? [] : [[field, change(value)] as const]
  })
  return { ...event, ...(Object.fromEntries(changed) as object) }
}
