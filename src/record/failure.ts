import type { LiveOutcome } from './run.ts'
import type { RunFailure } from './run-stats.ts'

/** What went wrong with a run: it threw, its recording failed, or it did something that no tape can hold. */
export function failureOf(
  outcome: LiveOutcome,
  incomplete: string | undefined,
  unrecorded: ReadonlySet<string>,
): RunFailure | undefined {
  if (outcome.status === 'threw') {
    const { error } = outcome
    return { because: isTimeout(error) ? 'timeout' : 'error', detail: summaryOf(error) }
  }
  if (incomplete !== undefined) return { because: 'error', detail: `incomplete: ${incomplete}` }
  if (unrecorded.size > 0) return { because: 'unrecorded', detail: [...unrecorded].sort().join(', ') }
  return undefined
}

/** `AbortError` and `TimeoutError`, and what SDKs make of them, also where one is only the cause. */
function isTimeout(error: unknown): boolean {
  let level: unknown = error
  for (let depth = 0; depth < 5 && isObject(level); depth++) {
    const names = [textOf(level, 'name'), textOf(fieldOf(level, 'constructor'), 'name')]
    if (names.some((name) => /(?:Abort|Timeout)Error$/.test(name))) return true
    level = fieldOf(level, 'cause')
  }
  return false
}

function summaryOf(error: unknown): string {
  if (!isObject(error)) return typeof error === 'string' ? error : `threw ${typeof error}`
  return [textOf(error, 'name') || 'Error', textOf(error, 'message')].filter(Boolean).join(': ')
}

function textOf(value: unknown, name: string): string {
  const field = fieldOf(value, name)
  return typeof field === 'string' ? field : ''
}

/** Anything can be thrown: getters that throw, revoked proxies. */
function fieldOf(value: unknown, name: string): unknown {
  if (!isObject(value)) return undefined
  try {
    return (value as Readonly<Record<string, unknown>>)[name]
  } catch {
    // What cannot be read says nothing.
    return undefined
  }
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}
