import { textAt } from '../json/canonical.ts'
import type { Json } from '../tape/index.ts'
import { excessIn } from './excess.ts'
import type { Attributes, ForeignSpan } from './spans.ts'
import { type TapeValue, tapeValueOf } from './tape-value.ts'
import type { ForeignOutcome, ForeignRecording } from './types.ts'

/** What spans that this package exported say beyond the conventions. */
export interface OwnSpan {
  /** Where the conventions leave in doubt which value it was. */
  readonly args: TapeValue | undefined
  readonly result: TapeValue | undefined
  /** What was thrown, whole. */
  readonly thrown: TapeValue | undefined
  /** It was never answered: its end is that of the run. */
  readonly isOpen: boolean
  /** Its times tell the order and nothing else. */
  readonly isUntimed: boolean
}

export function readOwn({ attributes }: Pick<ForeignSpan, 'attributes'>): OwnSpan {
  return {
    args: valueAt(attributes, 'vitest_harvest.args'),
    result: valueAt(attributes, 'vitest_harvest.result'),
    thrown: valueAt(attributes, 'vitest_harvest.error'),
    isOpen: attributes.get('vitest_harvest.open') === true,
    isUntimed: attributes.get('vitest_harvest.times') === 'order',
  }
}

/** What the span of a whole run says of it, when this package exported it with its content. */
export function readOwnRun(
  spans: readonly Pick<ForeignSpan, 'attributes'>[],
): Pick<ForeignRecording, 'input' | 'outcome'> {
  const root = spans.find(
    ({ attributes }) => attributes.has('vitest_harvest.outcome') || attributes.has('vitest_harvest.input'),
  )
  if (root === undefined) return {}
  const input = valueAt(root.attributes, 'vitest_harvest.input')
  const outcome = outcomeIn(root.attributes)
  return { ...(input === undefined ? {} : { input: { value: input } }), ...(outcome === undefined ? {} : { outcome }) }
}

/** How a program exited has no place in the recording of another tool, and without its content an outcome is not known. */
function outcomeIn(attributes: Attributes): ForeignOutcome | undefined {
  const value = valueAt(attributes, 'vitest_harvest.outcome.value')
  if (value === undefined) return undefined
  switch (attributes.get('vitest_harvest.outcome')) {
    case 'returned':
      return { status: 'returned', value }
    case 'threw': {
      const message = textAt(value.json, 'message')
      return message === undefined ? undefined : { status: 'threw', message, thrown: value }
    }
    default:
      return undefined
  }
}

function valueAt(attributes: Attributes, key: string): TapeValue | undefined {
  const text = attributes.get(key)
  if (typeof text !== 'string' || excessIn(text) !== undefined) return undefined
  try {
    return tapeValueOf(JSON.parse(text) as Json)
  } catch {
    // Another tool changed it: the conventions tell it as well.
    return undefined
  }
}
