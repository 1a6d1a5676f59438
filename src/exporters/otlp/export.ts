import { isStep, type Moment, type Tape, type TapeEvent } from '../../tape/index.ts'
import { placedCalls } from '../../trace/index.ts'
import { version } from '../../version.ts'
import { counted, countedCalls, countOf, endOf, missingTimes, modelCallOf, notesOn } from '../facts.ts'
import { readRpc } from '../../providers/rpc.ts'
import type { Exported, ExportOptions } from '../types.ts'
import { tellCall } from './call.ts'
import { tellExchange } from './exchange.ts'
import { spanIds } from './ids.ts'
import { readModelMark } from '../model-mark.ts'
import { endOfMark, modelMarkSpan } from './model-mark.ts'
import { beginning, resourceOf, rootSpan } from './root.ts'
import { type OtlpSpan, spanOf, type Telling } from './span.ts'
import { clockOf } from './times.ts'

/** The conventions the attributes follow. They are in development: their names may change with the number. */
export const schemaUrl = 'https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev'

/**
 * A tape as OTLP/JSON Lines: one trace, a line for each request an exporter would have sent. The run is the root; model
 * calls, tools, retrievals and HTTP are spans below it or below the tool they happened in.
 *
 * @see https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/ and, for the names of attributes,
 *   https://github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai
 */
export function exportOtlp(tape: Tape, options: ExportOptions): Exported {
  return { pieces: lines(tape, options), leftOut: notInOtlp(tape), notes: notesOn(tape) }
}

/** As the batch processors of the SDKs cut them, and not much longer than a megabyte. */
const spansPerLine = 512
const charactersPerLine = 1_000_000

function* lines(tape: Tape, options: ExportOptions): Generator<string> {
  const resource = { attributes: resourceOf(tape) }
  const lineOf = (spans: readonly string[]): string => {
    const scope = { name: 'vitest-harvest', version }
    const head = `{"resourceSpans":[{"resource":${JSON.stringify(resource)},"schemaUrl":${JSON.stringify(schemaUrl)}`
    const scoped = `"scopeSpans":[{"scope":${JSON.stringify(scope)},"schemaUrl":${JSON.stringify(schemaUrl)}`
    return `${head},${scoped},"spans":[${spans.join(',')}]}]}]}\n`
  }
  let batch: string[] = []
  let characters = 0
  for (const span of spansOf(tape, options)) {
    const text = JSON.stringify(span)
    if (batch.length > 0 && (batch.length >= spansPerLine || characters + text.length > charactersPerLine)) {
      yield lineOf(batch)
      batch = []
      characters = 0
    }
    batch.push(text)
    characters += text.length
  }
  yield lineOf(batch)
}

function* spansOf(tape: Tape, { withContent }: ExportOptions): Generator<OtlpSpan> {
  const moments = momentsOf(tape)
  const end = moments.reduce((latest, moment) => (isLater(moment, latest) ? moment : latest))
  const telling: Telling = {
    ids: spanIds(tape.header.id),
    clock: clockOf(tape, moments),
    withContent,
    isTimed: !missingTimes(tape).timings,
    parents: parentsOf(tape.events),
    calls: new Map(placedCalls(tape.events).map((call) => [call.call.n, call])),
    usage: new Map(countedCalls(tape).map(({ n, response }) => [n, response?.usage])),
    end,
  }
  yield rootSpan(tape, telling)
  for (const event of tape.events) {
    const mark = readModelMark(event, tape)
    if (mark !== undefined) yield modelMarkSpan(mark, tape, telling)
    if (isStep(event))
      yield spanOf(event, event.kind === 'exchange' ? tellExchange(event, telling) : tellCall(event, telling), telling)
  }
}

/** The nearest tool call around each event; towards smaller numbers only, so that there is no circle. */
function parentsOf(events: readonly TapeEvent[]): ReadonlyMap<number, number> {
  const spans = new Set(events.filter(isStep).map(({ n }) => n))
  return new Map(
    events.flatMap(({ n, in: parent }) =>
      parent !== undefined && parent < n && spans.has(parent) ? [[n, parent] as const] : [],
    ),
  )
}

/** Every moment a span may begin or end with; the run begins before all of them. */
function momentsOf(tape: Tape): readonly Moment[] {
  const { close, events } = tape
  const known = events.flatMap((event): Moment[] => {
    const mark = readModelMark(event, tape)
    const end = isStep(event) ? endOf(event) : mark === undefined ? undefined : endOfMark(mark)
    return [[event.n, event.at], ...(end === undefined ? [] : [end])]
  })
  return [beginning, ...known, ...(close === undefined ? [] : [[close.n, close.at] as const])]
}

function isLater([n, at]: Moment, [otherN, otherAt]: Moment): boolean {
  return at > otherAt || (at === otherAt && n > otherN)
}

function notInOtlp(tape: Tape): readonly string[] {
  const plain = tape.events.filter(
    (event) => event.kind === 'exchange' && modelCallOf(event) === undefined && readRpc(event) === undefined,
  )
  const models = tape.events.filter((event) => modelCallOf(event) !== undefined)
  return [
    ...countOf(models.length, ['model call', 'model calls']).map((words) => `the bytes of ${words}`),
    ...countOf(plain.length, ['plain request', 'plain requests']).map((words) => `the bodies of ${words}`),
    ...counted(tape.events, ['draws']),
  ]
}
