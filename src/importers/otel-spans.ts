import type { Cursor } from './cursor.ts'
import { firstItem, type ForeignDocument, type ForeignFormat, itemsAt } from './document.ts'
import { attributesOf } from './meaning.ts'
import { known, timeOf } from './moments.ts'
import { attributesOf as attributesOfList } from './otlp.ts'
import { attribute, type Attributes, flattened, kindOf, type ForeignSpan, type ForeignSpanEvent } from './spans.ts'
import { runsOfSpans } from './trace-runs.ts'

/**
 * Spans as an OpenTelemetry SDK, a console exporter or a backend has them, as JSON: a list, one for each line, one behind
 * the other, under `spans` and `data`, or in lists by name; ids as hex with and without `0x` or as numbers, times as ISO text,
 * nanoseconds or `[seconds, nanoseconds]`. Read are the words of the SDKs, of Phoenix and MLflow, and of the tables in
 * ClickHouse. Also the attributes of one span and nothing else.
 */
export const otelSpans: ForeignFormat = {
  name: 'otel-spans',
  recognises(document) {
    const first = spansIn(document).next()
    return first.done !== true && (isSpan(first.value) || isAttributes(first.value))
  },
  read(document) {
    const spans = Array.from(spansIn(document), (span) => (isSpan(span) ? spanOf(span) : bareSpan(span)))
    return runsOfSpans('otel-spans', spans, document.root.position)
  },
}

function* spansIn(document: ForeignDocument): Generator<Cursor, undefined> {
  const { root, isLines } = document
  const isList = isLines || Array.isArray(root.value)
  if (isList && firstItem(document) === undefined) return undefined
  for (const one of isList ? itemsAt(document) : [root]) {
    const list = [one.at('spans'), one.at('data').at('spans'), one.at('data')].find(({ value }) => Array.isArray(value))
    if (list !== undefined) yield* list.items
    else if (isMapOfLists(one)) yield* one.members.flatMap(([, spans]) => spans.items)
    else if (one.isMap) yield one
  }
  return undefined
}

/** Spans by their names, as helpers of the AI SDK's tests and some collectors group them: a list for each. */
function isMapOfLists(map: Cursor): boolean {
  if (!map.isMap) return false
  const lists = map.members.map(([, list]) => list)
  return (
    lists.some(({ first }) => first !== undefined) &&
    lists.every(({ value, first }) => Array.isArray(value) && (first === undefined || isSpan(first)))
  )
}

function isSpan(span: Cursor): boolean {
  const hasContext = ['context', 'spanContext', 'span_context'].some((name) => span.at(name).isMap)
  const hasId = hasContext || ['span_id', 'spanId', 'SpanId'].some((name) => span.at(name).isThere)
  // JavaScript's console exporter calls it `id`.
  const hasOwn = hasId || (span.at('traceId').isThere && span.at('id').isThere)
  const attributes = attributesAt(span)
  // The AI SDK's own tests print spans without ids; their attributes tell what they are.
  const isTold = hasOwn || isAttributes(attributes)
  return isTold && nameOf(span).maybeText !== undefined && (attributes.isMap || Array.isArray(attributes.value))
}

function nameOf(span: Cursor): Cursor {
  return first(span, 'name', 'span_name', 'SpanName')
}

function attributesAt(span: Cursor): Cursor {
  return first(span, 'attributes', 'SpanAttributes')
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

function bareSpan(map: Cursor): ForeignSpan {
  return { name: map.at('name').maybeText ?? '', attributes: attributesOf(map.value), events: [] }
}

function spanOf(span: Cursor): ForeignSpan {
  const context = firstMap(span, 'context', 'spanContext', 'span_context') ?? span
  const parent = parentOf(span)
  const id = idOf(first(context, 'span_id', 'spanId', 'SpanId', 'id'))
  const trace = idOf(first(context, 'trace_id', 'traceId', 'TraceId'))
  const startedMs = momentIn(
    first(span, 'start_time', 'startTime', 'startTimeUnixNano', 'start_time_unix_nano', 'timestamp', 'Timestamp'),
  )
  const endedMs = endOf(span, startedMs)
  const attributes = ofSpan(span)
  const events = eventsOf(span)
  const error = errorOf(span, attributes, events)
  return {
    ...(id === undefined ? {} : { id }),
    ...(trace === undefined ? {} : { trace }),
    ...(parent === undefined ? {} : { parent }),
    name: nameOf(span).text,
    ...(startedMs === undefined ? {} : { startedMs }),
    ...(endedMs === undefined ? {} : { endedMs }),
    attributes,
    events,
    ...(error === undefined ? {} : { error }),
  }
}

/** Attributes as a map or as OTLP has them. Phoenix takes the kind of a span out of them and puts it beside. */
function ofSpan(span: Cursor): Attributes {
  const at = attributesAt(span)
  const attributes = flattened(Array.isArray(at.value) ? attributesOfList(at) : attributesOf(at.value))
  const kind = first(span, 'span_kind', 'kind').maybeText
  const isTold = kindOf(kind) !== undefined && kindOf(kind) !== 'other'
  return isTold && !attributes.has(kindKey) ? new Map([...attributes, [kindKey, kind]]) : attributes
}

const kindKey = 'openinference.span.kind'

/** Events as a list; tables have a list for their names and one for their attributes. */
function eventsOf(span: Cursor): readonly ForeignSpanEvent[] {
  if (Array.isArray(span.at('events').value)) return span.at('events').items.map(eventOf)
  const [names, attributes] = [span.at('Events.Name'), span.at('Events.Attributes')]
  if (!Array.isArray(names.value) || !Array.isArray(attributes.value)) return []
  const told = attributes.items
  return names.items.map((name, index) => ({
    name: name.maybeText ?? '',
    attributes: attributesOf(told[index]?.value),
  }))
}

function eventOf(event: Cursor): ForeignSpanEvent {
  const at = event.at('attributes')
  const attributes = Array.isArray(at.value) ? attributesOfList(at) : attributesOf(at.value)
  return { name: event.at('name').maybeText ?? '', attributes }
}

function firstMap(at: Cursor, ...names: readonly string[]): Cursor | undefined {
  return names.map((name) => at.at(name)).find(({ isMap }) => isMap)
}

function first(at: Cursor, ...names: readonly string[]): Cursor {
  return names.map((name) => at.at(name)).find(({ isThere }) => isThere) ?? at.at(names[0]!)
}

function parentOf(span: Cursor): string | undefined {
  const names = [
    'parent_id',
    'parentSpanId',
    'parent_span_id',
    'ParentSpanId',
    'parentSpanContext',
    'parentId',
    'parent',
  ]
  const parent = first(span, ...names)
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

/** When a span ended; some tell how long it took: JavaScript's console exporter in microseconds, tables in nanoseconds. */
function endOf(span: Cursor, startedMs: number | undefined): number | undefined {
  const ended = momentIn(first(span, 'end_time', 'endTime', 'endTimeUnixNano', 'end_time_unix_nano'))
  if (ended !== undefined || startedMs === undefined) return ended
  const [micros, nanos] = [span.at('duration').maybeNumber, span.at('Duration').maybeNumber]
  if (micros !== undefined && span.at('timestamp').isThere) return known(startedMs + micros / 1e3)
  return nanos === undefined ? undefined : known(startedMs + nanos / 1e6)
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

function errorOf(span: Cursor, attributes: Attributes, events: readonly ForeignSpanEvent[]): string | undefined {
  const status = span.at('status')
  const code = first(status, 'status_code', 'code').isThere
    ? first(status, 'status_code', 'code').value
    : first(span, 'status_code', 'StatusCode').value
  const isError = typeof code === 'string' ? /(^|[._])error$/i.test(code) : code === 2
  if (!isError) return undefined
  const exception = events.find(({ name }) => name === 'exception')?.attributes ?? attributes
  const found =
    first(status, 'description', 'message').maybeText ||
    first(span, 'status_message', 'StatusMessage').maybeText ||
    attribute(exception, 'exception.message', 'exception.type', 'error.type')
  return typeof found === 'string' ? found : 'error'
}
