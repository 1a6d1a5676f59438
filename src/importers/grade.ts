import type { CallEvent, ImportGrade } from '../tape/index.ts'
import type { MadeEvents } from './events.ts'
import { headerOf } from './headers.ts'
import { steadyUrl } from './requests.ts'
import { areAnswered } from './stdio-lines.ts'
import { readMessages } from './messages.ts'
import type {
  ForeignBody,
  ForeignExchange,
  ForeignResponse,
  ForeignLine,
  ForeignStep,
  ForeignRecording,
} from './types.ts'

/** How true to the run the tape of a recording is, by the worst of its calls. */
export function gradeOf({ exchanges, steps, lines }: ForeignRecording): ImportGrade {
  if (lines !== undefined) {
    if (!areAnswered(lines)) return 'signature-only'
    return lines.some(({ isRewritten }) => isRewritten) ? 're-drivable' : 'replayable'
  }
  if (steps !== undefined) return steps.some(tellsMore) ? 'signature-only' : 'timeline-only'
  const answers = exchanges.map(({ response }) => response?.body)
  if (answers.every((body) => body === undefined)) return 'timeline-only'
  if (answers.some((body) => body === undefined)) return 'signature-only'
  // A request of unknown body cannot be distinguished from another one: its answer could be served to any of them.
  if (exchanges.some(({ requestBody }) => requestBody === 'unread')) return 'signature-only'
  return answers.every((body) => body?.isExact) ? 'replayable' : 're-drivable'
}

/** Whether a step tells of a call or of what was said, and not only that a model was asked. */
function tellsMore(step: ForeignStep): boolean {
  if (step.kind === 'mark') return false
  if (step.kind !== 'model') return true
  return step.toolCalls.length > 0 || (step.text ?? '') !== '' || readMessages(step.messages).length > 0
}

/** What a recording lacks that a tape of our own has; the words stand in tapes for ever. */
export function missingIn(recording: ForeignRecording, made: MadeEvents): readonly string[] {
  const { exchanges, steps, lines, format } = recording
  if (lines !== undefined) return missingInLines(recording, lines)
  if (steps !== undefined) return missingInSteps(recording, made)
  const always = ['clock', 'ids', 'tools', 'input', 'outcome', 'order']
  const some = (test: (exchange: ForeignExchange) => boolean): boolean => exchanges.some(test)
  const rows: readonly (readonly [boolean, string])[] = [
    [recording.startedMs === undefined, 'start'],
    [some(({ tookMs }) => tookMs === undefined), 'timings'],
    [some(({ tookMs, startedMs }) => tookMs !== undefined && startedMs === undefined), 'starts'],
    [made.hadEncodings || some(({ response }) => response?.body?.hasPieces !== true), 'chunks'],
    [some(({ url }) => steadyUrl(url)?.hasPlaceholder === true), 'hosts'],
    [made.hadEncodings, 'encodings'],
    // WebMock, by which it hears of most requests, sorts them and keeps one of two values.
    [format === 'ruby-vcr' && some(({ url }) => url.includes('&')), 'queries'],
    [some(({ requestHeaders }) => requestHeaders.length === 0), 'request-headers'],
    [some(({ requestBody }) => isRewritten(requestBody)), 'request-bytes'],
    [some(({ requestBody }) => requestBody === 'unread'), 'requests'],
    [some(({ response }) => isRewritten(response?.body)), 'answer-bytes'],
    [some(({ response }) => response?.body === undefined), 'answers'],
    [some(({ response }) => hasNoType(response)), 'content-type'],
  ]
  return [...always, ...rows.filter(([is]) => is).map(([, word]) => word)]
}

/** Of values without bytes: `tools` where a call has no answer. */
function missingInSteps(
  { startedMs, steps = [], input, outcome, uncaptured, missing = [] }: ForeignRecording,
  { events }: MadeEvents,
): readonly string[] {
  const calls = events.filter((event): event is CallEvent => event.kind === 'tool' || event.kind === 'retrieval')
  const rows: readonly (readonly [boolean, string])[] = [
    [calls.some(({ result, error }) => result === undefined && error === undefined), 'tools'],
    [input === undefined, 'input'],
    [outcome === undefined, 'outcome'],
    [true, 'order'],
    [startedMs === undefined, 'start'],
    [steps.some((step) => step.kind !== 'message' && step.kind !== 'mark' && step.tookMs === undefined), 'timings'],
    [startedMs !== undefined && steps.some((step) => step.kind !== 'mark' && step.startedMs === undefined), 'starts'],
    [true, 'requests'],
    [true, 'answers'],
    [uncaptured !== undefined, uncaptured?.what ?? ''],
  ]
  return ['clock', 'ids', ...rows.filter(([is]) => is).map(([, word]) => word), ...missing]
}

/** Of the lines of a child process, whose order is that of the file. Which command started it, no line says. */
function missingInLines({ startedMs }: ForeignRecording, lines: readonly ForeignLine[]): readonly string[] {
  const isRewritten = lines.some((line) => line.isRewritten)
  const rows: readonly (readonly [boolean, string])[] = [
    [true, 'command'],
    [startedMs === undefined, 'start'],
    [lines.some((line) => line.startedMs === undefined), 'timings'],
    [isRewritten, 'request-bytes'],
    [isRewritten, 'answer-bytes'],
    [!areAnswered(lines), 'answers'],
  ]
  return ['clock', 'ids', 'tools', 'input', 'outcome', ...rows.filter(([is]) => is).map(([, word]) => word)]
}

/** A client takes an answer without a type for text, no matter what it is. */
function hasNoType(response: ForeignResponse | undefined): boolean {
  const size = response?.body?.pieces.reduce((sum, { length }) => sum + length, 0) ?? 0
  return size > 0 && !headerOf(response?.headers ?? [], 'content-type')?.trim()
}

function isRewritten(body: ForeignBody | 'unread' | undefined): boolean {
  return body !== undefined && body !== 'unread' && !body.isExact
}
