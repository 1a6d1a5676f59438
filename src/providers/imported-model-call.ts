import type { TapeEvent, TapeHeader } from '../tape/types.ts'
import { at, mapAt, numberAt, textAt } from '../json/canonical.ts'
import type { Usage } from './types.ts'

/** What the mark of an imported trace says about a model call. */
export interface ImportedModelCall {
  /** Model id asked for, else the one that answered; empty when the trace names none. */
  readonly model: string
  readonly answered?: string
  readonly usage?: Usage
  readonly isError: boolean
}

/**
 * Reads the model call that an event stands for on a tape made of a trace: such a tape has marks named `model` in place of
 * exchanges. A mark of that name on a tape of our own recorder is the application's, and no call.
 */
export function importedModelCall({ imported }: TapeHeader, event: TapeEvent): ImportedModelCall | undefined {
  if (imported === undefined || event.kind !== 'mark' || event.name !== 'model') return undefined
  const { data } = event
  const answered = textAt(data, 'answered')
  const usage = at(data, 'usage') === undefined ? undefined : usageIn(mapAt(data, 'usage'))
  return {
    model: textAt(data, 'asked') ?? answered ?? '',
    ...(answered === undefined ? {} : { answered }),
    ...(usage === undefined ? {} : { usage }),
    isError: at(data, 'error') !== undefined,
  }
}

function usageIn(usage: ReturnType<typeof mapAt>): Usage {
  const counts = ['inputTokens', 'outputTokens', 'cachedTokens', 'cacheWriteTokens'].flatMap((name) => {
    const count = numberAt(usage, name)
    return count === undefined ? [] : [[name, count]]
  })
  return Object.fromEntries(counts) as Usage
}
