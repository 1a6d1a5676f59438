import type { Cursor } from './cursor.ts'
import { firstItem, type ForeignDocument, type ForeignFormat, itemsAt } from './document.ts'
import { callCap } from './limits.ts'
import { attribute, type Attributes, type ForeignSpan, type ForeignSpanEvent } from './spans.ts'
import { runsOfSpans } from './trace-runs.ts'

/**
 * OpenTelemetry's own JSON: one document, a list of them, or one for each line as its file exporter writes them; traces, and
 * log records that name a span. Tempo's export has `batches` in place of `resourceSpans`, and ids in base64.
 *
 * @see https://github.com/open-telemetry/opentelemetry-proto, docs/specification.md and the mapping of proto3 to JSON
 */
export const otlp: ForeignFormat = {
  name: 'otlp',
  recognises: (document) => batchesOf(firstItem(document) ?? document.root).length > 0,
  read(document) {
    const spans: ReadSpan[] = []
    const logs = new Map<string, ForeignSpanEvent[]>()
    for (const one of documentsOf(document))
      for (const batch of batchesOf(one)) {
        for (const span of spansIn(batch)) {
          if (spans.length >= spanCap) throw span.refuse(`more than ${spanCap} spans`, 'HARVEST_IMPORT_TOO_LARGE')
          spans.push(spanOf(span))
        }
        for (const record of recordsIn(batch)) addRecord(record, logs)
      }
    const whole = spans.map((span) => withRecords(span, logs))
    return runsOfSpans('otlp', whole, document.root.position)
  },
}

/** Most spans of a trace are no calls of models or tools. */
const spanCap = 20 * callCap

function documentsOf(document: ForeignDocument): Iterable<Cursor> {
  return document.root.isMap ? [document.root] : itemsAt(document)
}

const batchNames = ['resourceSpans', 'resource_spans', 'batches', 'resourceLogs', 'resource_logs'] as const

function batchesOf(root: Cursor): readonly Cursor[] {
  // Tempo's second API and Jaeger's third have the traces one level down.
  const at = [root.at('trace'), root.at('result')].find(({ isMap }) => isMap) ?? root
  return batchNames.flatMap((name) => (Array.isArray(at.at(name).value) ? at.at(name).items : []))
}

const scopeNames = ['scopeSpans', 'scope_spans', 'instrumentationLibrarySpans', 'instrumentationLibrary_spans'] as const

function spansIn(batch: Cursor): readonly Cursor[] {
  return scopeNames.flatMap((name) => listAt(batch, name)).flatMap((scope) => listAt(scope, 'spans'))
}

function recordsIn(batch: Cursor): readonly Cursor[] {
  const scopes = [...listAt(batch, 'scopeLogs'), ...listAt(batch, 'scope_logs')]
  return scopes.flatMap((scope) => [...listAt(scope, 'logRecords'), ...listAt(scope, 'log_records')])
}

function listAt(at: Cursor, name: string): readonly Cursor[] {
  return at.at(name).isThere ? at.at(name).items : []
}

/** The member in either of the spellings that the mapping of proto3 allows. */
function either(at: Cursor, camel: string, snake: string): Cursor {
  return at.at(camel).isThere ? at.at(camel) : at.at(snake)
}

type ReadSpan = ForeignSpan & { readonly key: string }

function spanOf(span: Cursor): ReadSpan {
  const id = hexId(either(span.map, 'spanId', 'span_id'), 16)
  const trace = hexId(either(span, 'traceId', 'trace_id'), 32)
  const parent = hexId(either(span, 'parentSpanId', 'parent_span_id'), 16)
  const startedMs = nanoMs(either(span, 'startTimeUnixNano', 'start_time_unix_nano'))
  const endedMs = nanoMs(either(span, 'endTimeUnixNano', 'end_time_unix_nano'))
  const attributes = attributesOf(span.at('attributes'))
  const events = listAt(span, 'events').map(
    (event): ForeignSpanEvent => ({
      name: event.at('name').maybeText ?? '',
      attributes: attributesOf(event.at('attributes')),
    }),
  )
  const error = errorOf(span.at('status'), attributes, events)
  return {
    key: `${trace ?? ''} ${id ?? ''}`,
    ...(id === undefined ? {} : { id }),
    ...(trace === undefined ? {} : { trace }),
    ...(parent === undefined ? {} : { parent }),
    name: span.at('name').maybeText ?? '',
    ...(startedMs === undefined ? {} : { startedMs }),
    ...(endedMs === undefined ? {} : { endedMs }),
    attributes,
    events,
    ...(error === undefined ? {} : { error }),
  }
}

/**
 * Ids are hexadecimal in OTLP/JSON, and base64 where a plain mapping of the messages wrote them. One of zeros means that
 * there is no id.
 */
function hexId(id: Cursor, length: number): string | undefined {
  const text = id.maybeText ?? ''
  if (text === '' || /^0+$/.test(text)) return undefined
  if (/^[0-9a-f]+$/i.test(text) && text.length <= length) return text.toLowerCase().padStart(length, '0')
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === length / 2 ? bytes.toString('hex') : text
}

/** Nanoseconds since 1970, as text or number, in milliseconds; 0 says nothing. */
function nanoMs(nanos: Cursor): number | undefined {
  const { value } = nanos
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return millis(BigInt(value))
  return typeof value === 'number' && Number.isSafeInteger(Math.round(value / 1e6)) && value > 0
    ? value / 1e6
    : undefined
}

function millis(nanos: bigint): number | undefined {
  // Divided as whole numbers first: a double holds nanoseconds since 1970 only to some hundreds.
  const ms = Number(nanos / 1_000_000n) + Number(nanos % 1_000_000n) / 1e6
  return nanos > 0n && ms <= latestMs ? ms : undefined
}

/** The last moment that a date can tell. */
const latestMs = 8.64e15

/** Why a span failed: its status, else the exception it noted, else the class of the error. */
function errorOf(status: Cursor, attributes: Attributes, events: readonly ForeignSpanEvent[]): string | undefined {
  const code = status.at('code').value
  if (code !== 2 && code !== 'STATUS_CODE_ERROR') return undefined
  const exception = events.find(({ name }) => name === 'exception')?.attributes
  const found =
    status.at('message').maybeText ||
    (exception === undefined ? undefined : attribute(exception, 'exception.message', 'exception.type')) ||
    attribute(attributes, 'error.type')
  return typeof found === 'string' ? found : 'error'
}

/** Attributes as a list of keys and values of one of seven kinds, or, by some writers, as a map. What is of no kind is left out. */
export function attributesOf(list: Cursor): Attributes {
  if (list.isMap) return new Map(Object.entries(list.value as object))
  const attributes = new Map<string, unknown>()
  if (!Array.isArray(list.value)) return attributes
  for (const item of list.value as readonly unknown[]) {
    const { key, value } = (item ?? {}) as { readonly key?: unknown; readonly value?: unknown }
    if (typeof key === 'string') attributes.set(key, anyValue(value))
  }
  return attributes
}

type AnyValue = { readonly [kind: string]: unknown }

/** The value in an `AnyValue`, in either spelling of its kinds. */
function anyValue(given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return undefined
  const [[kind = '', value] = []] = Object.entries(given as AnyValue)
  switch (kind.replaceAll('_', '').toLowerCase()) {
    case 'stringvalue':
    case 'boolvalue':
    case 'bytesvalue':
      return value
    case 'doublevalue':
      return typeof value === 'string' && value !== '' && Number.isFinite(Number(value)) ? Number(value) : value
    case 'intvalue':
      // Beyond what JavaScript holds it stays the text it is.
      return typeof value === 'string' && Number.isSafeInteger(Number(value)) && value !== '' ? Number(value) : value
    case 'arrayvalue':
      return valuesOf(value).map(anyValue)
    case 'kvlistvalue':
      return Object.fromEntries(
        valuesOf(value).flatMap((item) => {
          const { key, value: inner } = (item ?? {}) as { readonly key?: unknown; readonly value?: unknown }
          return typeof key === 'string' ? [[key, anyValue(inner)]] : []
        }),
      )
    default:
      return undefined
  }
}

function valuesOf(list: unknown): readonly unknown[] {
  const values = (list as { readonly values?: unknown } | null | undefined)?.values
  return Array.isArray(values) ? values : []
}

function addRecord(record: Cursor, logs: Map<string, ForeignSpanEvent[]>): void {
  const trace = hexId(either(record, 'traceId', 'trace_id'), 32)
  const span = hexId(either(record, 'spanId', 'span_id'), 16)
  const attributes = attributesOf(record.at('attributes'))
  const name = either(record, 'eventName', 'event_name').maybeText ?? attribute(attributes, 'event.name')
  if (span === undefined || typeof name !== 'string') return
  const key = `${trace ?? ''} ${span}`
  const list = logs.get(key) ?? []
  logs.set(key, list)
  list.push({ name, attributes, body: anyValue(record.at('body').value) })
}

function withRecords({ key, ...span }: ReadSpan, logs: ReadonlyMap<string, readonly ForeignSpanEvent[]>): ForeignSpan {
  const records = logs.get(key)
  return records === undefined ? span : { ...span, events: [...span.events, ...records] }
}
