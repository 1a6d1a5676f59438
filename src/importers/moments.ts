import type { Cursor } from './cursor.ts'

/**
 * A time as epoch ms: ISO text, the same without a zone (backends mean UTC) or with a space in it, or a number of seconds,
 * milliseconds, microseconds or nanoseconds since 1970, recognised by its size: they lie a thousandfold apart.
 *
 * @returns `undefined` where none can be read
 */
export function timeOf(time: Cursor | undefined): number | undefined {
  if (time === undefined) return undefined
  const number = time.maybeNumber
  if (number !== undefined) {
    const scale = number > 1e17 ? 1e-6 : number > 1e14 ? 1e-3 : number > 1e11 ? 1 : 1000
    // Before 1973 lie counters and placeholders.
    return number > 1e8 ? known(number * scale) : undefined
  }
  const text = time.maybeText
  if (text === undefined) return undefined
  const [, day, hour, zone] =
    /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?$/.exec(text) ?? []
  if (day === undefined) return known(Date.parse(text))
  // A date holds milliseconds; what is finer is added behind it.
  const fine = Number(`0.${/\.\d{3}(\d+)$/.exec(hour ?? '')?.[1] ?? '0'}`)
  return known(Date.parse(`${day}T${(hour ?? '').replace(/(\.\d{3})\d+$/, '$1')}${zone ?? 'Z'}`) + fine)
}

/** What a date can tell. */
export function known(ms: number): number | undefined {
  return Number.isFinite(ms) && ms > 0 && ms <= 8.64e15 ? ms : undefined
}
