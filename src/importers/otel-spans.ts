import type { Cursor } from './cursor.ts'
import { firstItem, type ForeignDocument, type ForeignFormat, itemsAt } from './document.ts'
import { attributesOf } from './meaning.ts'
import { known, timeOf } from './moments.ts'
import { attribute, type Attributes, type Span, type SpanEvent } from './spans.ts'
import { runsOfSpans } from './trace-runs.ts'

/**
 * Spans as an OpenTelemetry SDK or a console exporter has them in memory, as JSON: a list, one for each line, or under
 * `spans`; ids as hex with and without `0x` or as numbers, times as ISO text, nanoseconds or `[seconds, nanoseconds]`. Also
 * the attributes of one span and nothing else.
 */
export const otelSpans: ForeignFormat = {
  name: 'otel-spans',
  recognises(document) {
    const first = spansIn(document)[Symbol.iterator]().next()
    return first.done !== true && (isSpan(first.value) || isAttributes(first.value))
  },
  read(document) {
    const spans = Array.from(spansIn(document), (span) => (isSpan(span) ? spanOf(span) : bareSpan(span)))
    return runsOfSpans('otel-spans', spans, document.root.position)
  },
}

function spansIn(document: ForeignDocument): Iterable<Cursor> {
  const { root, isLines } = document
  if (isLines || Array.isArray(root.value)) return firstItem(document) === undefined ? [] : itemsAt(document)
  if (Array.isArray(root.at('spans').value)) return root.at('spans').items
  return root.isMap ? [root] : []
}

function isSpan(span: Cursor): boolean {
  const hasId =
    ['context', 'spanContext', 'span_context'].some((name) => span.at(name).isMap) || span.at('span_id').isThere
  return hasId && first(span, 'name', 'span_name').maybeText !== undefined && span.at('attributes').isMap
}

/** Whether a map is the attributes of a span: some of its names are those of a convention. */
function isAttributes(map: Cursor): boolean {
  if (!map.isMap) return false
  const hasKind = [
    'openinference.span.kind',
    'gen_ai.operation.name',
    'gen_ai.request.model',
    'ai.operationId',
    'traceloop.span.kind',
  ]
  return hasKind.some((name) => map.at(name).maybeText !== undefined)
}

function bareSpan(map: Cursor): Span {
  return { name: map.at('name').maybeText ?? '', attributes: attributesOf(map.value), events: [] }
}

function spanOf(span: Cursor): Span {
  const context = firstMap(span, 'context', 'spanContext', 'span_context') ?? span
  const parent = parentOf(span)
  const id = idOf(first(context, 'span_id', 'spanId'))
  const trace = idOf(first(context, 'trace_id', 'traceId'))
  const startedMs = momentIn(first(span, 'start_time', 'startTime', 'startTimeUnixNano'))
  const endedMs = momentIn(first(span, 'end_time', 'endTime', 'endTimeUnixNano'))
  const attributes = attributesOf(span.at('attributes').value)
  const events = Array.isArray(span.at('events').value) ? span.at('events').items.map(eventOf) : []
  const error = errorOf(span.at('status'), attributes, events)
  return {
    ...(id === undefined ? {} : { id }),
    ...(trace === undefined ? {} : { trace }),
    ...(parent === undefined ? {} : { parent }),
    name: first(span, 'name', 'span_name').text,
    ...(startedMs === undefined ? {} : { startedMs }),
    ...(endedMs === undefined ? {} : { endedMs }),
    attributes,
    events,
    ...(error === undefined ? {} : { error }),
  }
}

function eventOf(event: Cursor): SpanEvent {
  return { name: event.at('name').maybeText ?? '', attributes: attributesOf(event.at('attributes').value) }
}

function firstMap(at: Cursor, ...names: readonly string[]): Cursor | undefined {
  return names.map((name) => at.at(name)).find(({ isMap }) => isMap)
}

function first(at: Cursor, ...names: readonly string[]): Cursor {
  return names.map((name) => at.at(name)).find(({ isThere }) => isThere) ?? at.at(names[0]!)
}

function parentOf(span: Cursor): string | undefined {
  const parent = first(span, 'parent_id', 'parentSpanId', 'parent_span_id', 'parentSpanContext', 'parent')
  return idOf(parent.isMap ? first(parent, 'span_id', 'spanId') : parent)
}

/** An id as text: a `0x` before it, and how it is padded, is the way of a language. */
function idOf(id: Cursor): string | undefined {
  const { value } = id
  if (typeof value === 'number') return value === 0 ? undefined : String(value)
  const text =
    typeof value === 'string'
      ? value
          .toLowerCase()
          .replace(/^0x/, '')
          .replace(/^0+(?=.)/, '')
      : ''
  return text === '' || text === '0' || text === 'none' ? undefined : text
}

/** JavaScript has seconds and nanoseconds. */
function momentIn(time: Cursor): number | undefined {
  const { value } = time
  if (Array.isArray(value)) {
    const [seconds, nanos] = value as readonly unknown[]
    return typeof seconds === 'number' && typeof nanos === 'number' ? known(seconds * 1000 + nanos / 1e6) : undefined
  }
  return timeOf(time)
}

function errorOf(status: Cursor, attributes: Attributes, events: readonly SpanEvent[]): string | undefined {
  const code = first(status, 'status_code', 'code').value
  const isError = typeof code === 'string' ? /(^|[._])error$/i.test(code) : code === 2
  if (!isError) return undefined
  const exception = events.find(({ name }) => name === 'exception')?.attributes ?? attributes
  const found =
    first(status, 'description', 'message').maybeText ||
    attribute(exception, 'exception.message', 'exception.type', 'error.type')
  return typeof found === 'string' ? found : 'error'
}
