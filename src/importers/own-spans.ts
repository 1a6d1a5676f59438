import { excessIn } from './excess.ts'
import type { Attributes, Span } from './spans.ts'

/** What spans that this package exported say beyond the conventions. */
export interface OwnSpan {
  /** Where the conventions leave in doubt which value it was. */
  readonly args: Exact | undefined
  readonly result: Exact | undefined
  /** It was never answered: its end is that of the run. */
  readonly isOpen: boolean
  /** Its times tell the order and nothing else. */
  readonly isUntimed: boolean
}

export function readOwn({ attributes }: Pick<Span, 'attributes'>): OwnSpan {
  return {
    args: valueAt(attributes, 'vitest_harvest.args'),
    result: valueAt(attributes, 'vitest_harvest.result'),
    isOpen: attributes.get('vitest_harvest.open') === true,
    isUntimed: attributes.get('vitest_harvest.times') === 'order',
  }
}

/** A value that may be null or undefined. */
interface Exact {
  readonly value: unknown
}

function valueAt(attributes: Attributes, key: string): Exact | undefined {
  const text = attributes.get(key)
  if (typeof text !== 'string' || excessIn(text) !== undefined) return undefined
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    // Another tool changed it: the conventions tell it as well.
    return undefined
  }
}
