import type { Retention, RetentionClass } from '../tape/index.ts'

/** A whole number of minutes, hours, days, weeks or years of 365 days; or no end. */
export type Duration = 'forever' | `${number}${'m' | 'h' | 'd' | 'w' | 'y'}`

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000, y: 365 * 86_400_000 }

/** Whether a value is a duration from one minute to a thousand years, or `forever`. */
export function isDuration(value: unknown): value is Duration {
  if (value === 'forever') return true
  if (typeof value !== 'string' || !/^[1-9]\d{0,8}[mhdwy]$/.test(value)) return false
  return durationMs(value) <= 1000 * unitMs.y
}

/** Milliseconds of a duration; `forever` is infinite. */
export function durationMs(duration: string): number {
  if (duration === 'forever') return Number.POSITIVE_INFINITY
  return Number(duration.slice(0, -1)) * unitMs[duration.at(-1) as keyof typeof unitMs]
}

/** What stands on the last line: a hold is kept beside the class and wins over it. */
export function retentionOf(
  kind: RetentionClass,
  { keepFor, hold, endedAt }: { readonly keepFor?: Duration; readonly hold?: string; readonly endedAt: number },
): Retention {
  const until = keepFor === undefined ? Number.POSITIVE_INFINITY : endedAt + durationMs(keepFor)
  return {
    class: kind,
    ...(Number.isFinite(until) ? { until: new Date(until).toISOString() } : {}),
    ...(hold === undefined ? {} : { hold }),
  }
}
