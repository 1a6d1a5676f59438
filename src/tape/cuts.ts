import type {
  CutValue,
  ExchangeEvent,
  Json,
  MaybeCut,
  Moment,
  RecordedResponse,
  Tape,
  TapeEvent,
  WholeBody,
} from './types.ts'

/** A body or a value of which a part is not on the tape. */
export interface Cut extends WholeBody {
  /** Number of the event. */
  readonly n: number
  /** Of an exchange `request` or `response`; else the field of the event, such as `args`. */
  readonly of: string
  /** Bytes that were left out. */
  readonly cut: number
}

/** The bodies and values of a tape that were larger than their cap. A tape that has some is `partial`. */
export function cutsOf({ events }: Pick<Tape, 'events'>): readonly Cut[] {
  return events.flatMap(cutsOfEvent)
}

/** As {@link cutsOf}, of one event. */
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

/** How much was kept of either end of the values of a tape that were cut; `undefined` where all are whole. */
export function valueWindow(tape: Pick<Tape, 'events'>): number | undefined {
  let window = windows.get(tape)
  if (window === undefined) {
    const found = tape.events.find((event) => event.kind !== 'exchange' && valueCuts(event).length > 0)
    windows.set(tape, (window = { of: found && valueCuts(found)[0]?.window }))
  }
  return window.of
}

const windows = new WeakMap<object, { readonly of: number | undefined }>()

/** What every report says of a tape with cut bodies: `partial: 1 body is cut, 2.1 of 200.0 MB left out`. */
export function partialText(cuts: readonly Pick<Cut, 'of' | 'cut' | 'size'>[]): string {
  const sum = (of: 'cut' | 'size'): string => (cuts.reduce((total, one) => total + one[of], 0) / 2 ** 20).toFixed(1)
  const bodies = cuts.filter(({ of }) => of === 'request' || of === 'response').length
  const values = cuts.length - bodies
  const counts = [
    ...(bodies === 0 ? [] : [bodies === 1 ? '1 body' : `${bodies} bodies`]),
    ...(values === 0 ? [] : [values === 1 ? '1 value' : `${values} values`]),
  ]
  const are = cuts.length === 1 ? 'is' : 'are'
  return `partial: ${counts.join(' and ')} ${are} cut, ${sum('cut')} of ${sum('size')} MB left out`
}

/** What of an answer can be served, and when the rest of it began to come. */
export interface ServedPart {
  readonly response: RecordedResponse
  readonly cut: Cut
  readonly moment: Moment
}

/** The part of a cut answer that stands before the cut; `undefined` of an answer that is whole. */
export function beforeCut(event: ExchangeEvent): ServedPart | undefined {
  const { response } = event
  const cut = cutsOfEvent(event).find(({ of }) => of === 'response')
  if (response === undefined || cut === undefined) return undefined
  const chunks: RecordedResponse['chunks'][number][] = []
  const { end, ...rest } = response
  let moment = end ?? response.chunks.at(-1)?.slice(0, 2) ?? response.moment
  let left = cut.at
  for (const [n, at, bytes] of response.chunks) {
    const raw = typeof bytes === 'string' ? Buffer.from(bytes) : Buffer.from(bytes.base64, 'base64')
    if (left > 0)
      chunks.push([n, at, raw.length <= left ? bytes : { base64: raw.subarray(0, left).toString('base64') }])
    else {
      moment = [n, at]
      break
    }
    left -= Math.min(left, raw.length)
  }
  return { response: { ...rest, chunks }, cut, moment: moment as Moment }
}
