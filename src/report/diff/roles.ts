import type { StepRow } from './steps.ts'

/**
 * What a row of a comparison says. `origin`: the same was asked, and the answer is another: the runs part there. `follows`:
 * something else was asked already. `chance`: an attempt that failed and was made again, or only the status differs. `aside`: another
 * address or header, which is a difference of the client and not of the run.
 */
export type StepRole = 'origin' | 'follows' | 'chance' | 'aside'

const questions: ReadonlySet<string> = new Set(['model', 'messages', 'instructions', 'tools', 'params', 'arguments'])
const asides: ReadonlySet<string> = new Set(['endpoint', 'headers'])

/** The role of a row; `undefined` when its two steps are the same, or there is but one. */
export function roleOf({ differences, isRetried }: StepRow): StepRole | undefined {
  if (isRetried === true) return 'chance'
  const found = differences.filter((one) => !asides.has(one.class))
  if (differences.length === 0) return undefined
  if (found.length === 0) return 'aside'
  if (found.every(({ path }) => path === 'answer.status' || path === 'answer.error')) return 'chance'
  return found.some((one) => questions.has(one.class)) ? 'follows' : 'origin'
}

/** Where two runs part. */
export interface Parting {
  readonly a?: number
  readonly b?: number
}

/**
 * The first row that is no consequence of another: an answer that came out otherwise, a question that was asked otherwise, or a
 * step that only one run has and that was not made again. `undefined`: the runs do not part.
 */
export function partingOf(rows: readonly StepRow[]): Parting | undefined {
  const found =
    rows.find((row) => {
      const role = roleOf(row)
      return role === 'origin' || role === 'follows' || (role === undefined && isLonely(row))
    }) ?? rows.find((row) => roleOf(row) === 'chance')
  if (found === undefined) return undefined
  return { ...(found.a === undefined ? {} : { a: found.a }), ...(found.b === undefined ? {} : { b: found.b }) }
}

function isLonely({ a, b }: StepRow): boolean {
  return a === undefined || b === undefined
}
