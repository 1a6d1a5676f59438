/** Headers as pairs of name and value, in order. */
export type Pairs = readonly (readonly [string, string])[]

/** Whether two lists say the same in the same order; of two that share their pairs, that is known at a glance. */
export function areEqual(before: Pairs, now: Pairs): boolean {
  if (before === now) return true
  if (before.length !== now.length) return false
  for (let i = 0; i < now.length; i++) {
    const was = before[i]!
    const is = now[i]!
    if (was !== is && (was[0] !== is[0] || was[1] !== is[1])) return false
  }
  return true
}
