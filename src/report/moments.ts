const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** A number as people type one, `5`, `0.5` or `.5`, in a regular expression: without a sign and without an exponent. */
export const numeral = String.raw`(?:\d*\.)?\d+`

/** What {@link numeral} fits; `undefined` when it is not one. */
export function parseNumeral(text: string): number | undefined {
  return new RegExp(`^${numeral}$`).test(text) ? Number(text) : undefined
}

/** `90d`, `2h`, `30m` in milliseconds; `undefined` when it is not one. */
export function parseSpan(text: string): number | undefined {
  const [, count, unit] = new RegExp(`^(${numeral})([smhdw])$`).exec(text) ?? []
  return count === undefined || unit === undefined ? undefined : Number(count) * units[unit]!
}

/** What {@link parseMoment} takes, for messages. */
export const momentMeaning =
  'a date such as 2026-03-04, a moment such as 2026-03-04T05:06Z, or how long ago such as 2h, 3d'

/**
 * A moment someone typed, in epoch milliseconds; `undefined` when it is not one. A date is that day in UTC: its beginning
 * as the start of a range, its end as the end of one.
 */
export function parseMoment(text: string, edge: 'since' | 'until', now: number): number | undefined {
  const span = parseSpan(text)
  if (span !== undefined) return now - span
  if (!/^\d{4}-\d\d-\d\d(T|$)/.test(text)) return undefined
  const moment = Date.parse(text)
  if (Number.isNaN(moment)) return undefined
  return edge === 'until' && !text.includes('T') ? moment + units['d']! : moment
}
