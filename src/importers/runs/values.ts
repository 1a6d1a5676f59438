import type { Cursor } from '../cursor.ts'

/** The items of a list; none of what is no list. */
export function listOf(place: Cursor): readonly Cursor[] {
  return Array.isArray(place.value) ? place.items : []
}

/**
 * A moment as epoch ms. One without a zone is read as UTC: the zone of the machine that wrote it is unknown.
 *
 * @returns `undefined` where no moment stands
 */
export function timeOf(moment: Cursor): number | undefined {
  const text = moment.maybeText
  if (text === undefined) return undefined
  const iso = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?\s*(Z|[+-]\d\d:?\d\d)?$/i.exec(text)
  if (iso === null) return undefined
  const [, day, time, fraction = '', zone = 'Z'] = iso
  const ms = Date.parse(`${day}T${time}${zone}`)
  // Servers tell nanoseconds, and within one millisecond they can tell what came first.
  return Number.isNaN(ms) ? undefined : ms + Math.round(Number(`0${fraction}`) * 1e6) / 1e3
}

/** A number of milliseconds since 1970, where it is one that a date can hold. */
export function epochMs(ms: number | undefined): number | undefined {
  return ms !== undefined && ms >= 0 && ms <= 8.64e15 ? ms : undefined
}

/** The values that are there, under their names. */
export function known(fields: Readonly<Record<string, Cursor>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, { isThere }]) => isThere)
      .map(([name, { value }]) => [name, value]),
  )
}
