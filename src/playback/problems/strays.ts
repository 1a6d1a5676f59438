import { HarvestError } from '../../errors/index.ts'
import { thrownText } from '../../match/redact-message.ts'
import type { Tape } from '../../tape/index.ts'

/** An error that no code could catch. */
export interface Stray {
  readonly kind: 'rejected' | 'threw'
  readonly error: unknown
}

/** Whether it is the agent's own: a divergence that it did not await is a problem already. */
export function isOwnStray({ error }: Stray): boolean {
  return !HarvestError.is(error) && !isWrapped(error)
}

function isWrapped(error: unknown): boolean {
  const isObject = typeof error === 'object' && error !== null
  return isObject && 'cause' in error && (HarvestError.is(error.cause) || isWrapped(error.cause))
}

/** @param whose - the case, or the tape */
export function unhandled(
  whose: Readonly<Record<string, string>>,
  { kind, error: reason }: Stray,
  tape: Tape,
): HarvestError {
  const where = { ...whose, error: thrownText(reason, tape) }
  const facts = {
    where,
    why: 'In production it crashes the process or goes unnoticed.',
    fix: ['await the promise, or handle its error where it is started: work().catch(report)'],
  }
  return kind === 'rejected'
    ? new HarvestError(
        'HARVEST_UNHANDLED_REJECTION',
        { what: 'The agent left a rejected promise unhandled', ...facts },
        { cause: reason },
      )
    : new HarvestError(
        'HARVEST_UNCAUGHT_EXCEPTION',
        {
          what: 'The agent threw an uncaught error in a timer or event callback',
          ...facts,
          fix: ['catch the error in the callback: try { … } catch', 'or await the work before the agent returns'],
        },
        { cause: reason },
      )
}
