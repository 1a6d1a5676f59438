import { at, textAt, numberAt } from '../json/canonical.ts'
import type { Usage } from '../providers/index.ts'
import type { MarkEvent, Tape, TapeEvent } from '../tape/index.ts'

/** A model call of an imported trace: no bytes of it are known, and a mark stands for it. */
export interface ModelMark {
  readonly event: MarkEvent
  readonly asked?: string
  readonly answered?: string
  readonly provider?: string
  readonly finish?: string
  readonly error?: string
  readonly usage?: Usage
  readonly tookMs?: number
}

/** What the mark of an imported model call tells; `undefined` of every other event. A tape of our own has no such marks. */
export function readModelMark(event: TapeEvent, { header }: Pick<Tape, 'header'>): ModelMark | undefined {
  if (header.imported === undefined || event.kind !== 'mark' || event.name !== 'model') return undefined
  const { data } = event
  const usage = at(data, 'usage')
  return {
    event,
    ...present({
      asked: textAt(data, 'asked'),
      answered: textAt(data, 'answered'),
      provider: textAt(data, 'provider'),
      finish: textAt(data, 'finish'),
      error: textAt(data, 'error'),
      tookMs: numberAt(data, 'took'),
      usage:
        usage === undefined
          ? undefined
          : present({
              inputTokens: numberAt(usage, 'inputTokens'),
              outputTokens: numberAt(usage, 'outputTokens'),
              cachedTokens: numberAt(usage, 'cachedTokens'),
            }),
    }),
  }
}

type Present<T> = { readonly [Key in keyof T]?: Exclude<T[Key], undefined> }

function present<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>
}
