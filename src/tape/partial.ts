import { type Cut, cutsOfEvent } from './cuts.ts'
import { unsearchedIn } from './steps.ts'
import type { ExchangeEvent, Moment, RecordedResponse, Tape, TapeEvent } from './types.ts'

/** The bodies and values of a tape that were larger than their cap. A tape that has some is `partial`. */
export function cutsOf({ events }: Pick<Tape, 'events'>): readonly Cut[] {
  return events.flatMap(cutsOfEvent)
}

/** What every report says of a tape with cut bodies: `partial: 1 body is cut, 2.1 of 200.0 MB left out`. */
export function partialText(cuts: readonly Pick<Cut, 'of' | 'cut' | 'size'>[]): string {
  const total = (of: 'cut' | 'size'): number => cuts.reduce((sum, one) => sum + one[of], 0)
  // What is less than a tenth would be none.
  const [unit, bytes] = total('cut') < 2 ** 20 / 10 ? ['KB', 2 ** 10] : ['MB', 2 ** 20]
  const sum = (of: 'cut' | 'size'): string => (total(of) / Number(bytes)).toFixed(1)
  const bodies = cuts.filter(({ of }) => of === 'request' || of === 'response').length
  const values = cuts.length - bodies
  const counts = [
    ...(bodies === 0 ? [] : [bodies === 1 ? '1 body' : `${bodies} bodies`]),
    ...(values === 0 ? [] : [values === 1 ? '1 value' : `${values} values`]),
  ]
  const are = cuts.length === 1 ? 'is' : 'are'
  return `partial: ${counts.join(' and ')} ${are} cut, ${sum('cut')} of ${sum('size')} ${unit} left out`
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

/** How many bodies of a tape could not be searched for secrets, and are not on it. */
export function unsearchedBodies({ events }: { readonly events: readonly TapeEvent[] }): number {
  return events.reduce((count, event) => count + (event.kind === 'exchange' ? unsearchedIn(event) : 0), 0)
}
