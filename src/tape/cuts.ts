import type { CutValue, Json, MaybeCut, TapeEvent, WholeBody } from './types.ts'

/** A body or a value of which a part is not on the tape. */
export interface Cut extends WholeBody {
  /** Number of the event. */
  readonly n: number
  /** Of an exchange `request` or `response`; else the field of the event, such as `args`. */
  readonly of: string
  /** Bytes that were left out. */
  readonly cut: number
}

/** The bodies and values of an event that were larger than their cap. */
export function cutsOfEvent(event: TapeEvent): readonly Cut[] {
  if (event.kind !== 'exchange') return valueCuts(event)
  return (['request', 'response'] as const).flatMap((of) => {
    const { cut, whole }: MaybeCut = event[of] ?? {}
    return cut === undefined || whole === undefined ? [] : [{ n: event.n, of, cut, ...whole }]
  })
}

function valueCuts(event: TapeEvent): readonly Cut[] {
  return valuesOf(event).flatMap(([of, value]) => {
    if (!isCut(value)) return []
    const { $type: _, head, tail: __, ...facts }: CutValue = value
    return [{ n: event.n, of, at: Buffer.byteLength(head), ...facts }]
  })
}

/** The values of an event that are cut if they are too large, and what each of them is. */
function valuesOf(event: TapeEvent): readonly (readonly [of: string, value: Json | undefined])[] {
  switch (event.kind) {
    case 'tool':
    case 'retrieval':
    case 'value': {
      const { args, context, result, error, yields = [], told = [] } = event
      return [
        ['args', args],
        ['context', context],
        ...yields.map(([, , value]) => ['piece', value] as const),
        ...told.map((value) => ['told', value] as const),
        ['result', result],
        ['error', error],
      ]
    }
    case 'message':
      return [['body', event.body]]
    case 'mark':
    case 'state':
      return [['data', event.data]]
    default:
      return []
  }
}

/** Whether this stands in the place of a value that was larger than its cap; a value that looks like it is written otherwise. */
export function isCut(value: unknown): value is CutValue {
  if (typeof value !== 'object' || value === null) return false
  const { $type, cut, size, window, head, tail } = value as Partial<CutValue>
  return (
    $type === 'cut' &&
    [cut, size, window].every(Number.isSafeInteger) &&
    typeof head === 'string' &&
    typeof tail === 'string'
  )
}
