import type { ImportGrade } from '../tape/index.ts'
import type { MadeEvents } from './events.ts'
import { steadyUrl } from './requests.ts'
import type { ForeignBody, ForeignExchange, Recording } from './types.ts'

/** How true to the run the tape of a recording is, by the worst of its calls. */
export function gradeOf({ exchanges, turns }: Recording): ImportGrade {
  if (turns !== undefined) return 'signature-only'
  const answers = exchanges.map(({ response }) => response?.body)
  if (answers.every((body) => body === undefined)) return 'timeline-only'
  if (answers.some((body) => body === undefined)) return 'signature-only'
  // A request whose body nobody knows cannot be told from another one: its answer could be served to anybody.
  if (exchanges.some(({ requestBody }) => requestBody === 'unread')) return 'signature-only'
  return answers.every((body) => body?.isExact) ? 'replayable' : 're-drivable'
}

/** What a recording lacks that a tape of our own has; the words stand in tapes for ever. */
export function missingIn(recording: Recording, made: MadeEvents): readonly string[] {
  const { exchanges, turns } = recording
  const always = ['clock', 'ids', 'tools', 'input', 'outcome', 'order']
  if (turns !== undefined) return [...always, 'start', 'timings', 'requests', 'answers']
  const some = (test: (exchange: ForeignExchange) => boolean): boolean => exchanges.some(test)
  const rows: readonly (readonly [boolean, string])[] = [
    [recording.startedMs === undefined, 'start'],
    [some(({ tookMs }) => tookMs === undefined), 'timings'],
    [some(({ tookMs, startedMs }) => tookMs !== undefined && startedMs === undefined), 'starts'],
    [made.hadEncodings || some(({ response }) => response?.body?.hasPieces !== true), 'chunks'],
    [some(({ url }) => steadyUrl(url)?.hasPlaceholder === true), 'hosts'],
    [made.hadEncodings, 'encodings'],
    [some(({ requestBody }) => isRewritten(requestBody)), 'request-bytes'],
    [some(({ requestBody }) => requestBody === 'unread'), 'requests'],
    [some(({ response }) => isRewritten(response?.body)), 'answer-bytes'],
    [some(({ response }) => response?.body === undefined), 'answers'],
  ]
  return [...always, ...rows.filter(([is]) => is).map(([, word]) => word)]
}

function isRewritten(body: ForeignBody | 'unread' | undefined): boolean {
  return body !== undefined && body !== 'unread' && !body.isExact
}
