import type { Cursor } from './cursor.ts'
import { firstItem, type ForeignDocument, type ForeignFormat, itemsAt } from './document.ts'
import { attribute, type Attributes, type ForeignSpan, type ForeignSpanEvent } from './spans.ts'
import { runsOfSpans } from './trace-runs.ts'

/**
 * Traces as Jaeger's UI and query API write them, under `data` or alone.
 *
 * @see https://github.com/jaegertracing/jaeger, internal/uimodel/model.go
 */
export const jaeger: ForeignFormat = {
  name: 'jaeger',
  recognises(document) {
    const [first] = document.root.isMap ? tracesIn(document) : [firstItem(document)]
    return first !== undefined && first.at('traceID').isThere && Array.isArray(first.at('spans').value)
  },
  read(document) {
    const spans = Array.from(tracesIn(document), (trace) => trace.at('spans').items.map(spanOf)).flat()
    return runsOfSpans('jaeger', spans, document.root.position)
  },
}

function tracesIn(document: ForeignDocument): Iterable<Cursor> {
  const { root } = document
  if (!root.isMap) return itemsAt(document)
  return Array.isArray(root.at('data').value) ? root.at('data').items : [root]
}

function spanOf(span: Cursor): ForeignSpan {
  const id = span.map.at('spanID').maybeText
  const trace = span.at('traceID').maybeText
  const startedUs = span.at('startTime').maybeNumber
  const tookUs = span.at('duration').maybeNumber
  const attributes = tagsOf(span.at('tags'))
  const events = listAt(span, 'logs').map(eventOf)
  const parent = parentOf(span)
  const error = errorOf(attributes, events)
  return {
    ...(id === undefined ? {} : { id }),
    ...(trace === undefined ? {} : { trace }),
    ...(parent === undefined ? {} : { parent }),
    name: span.at('operationName').maybeText ?? '',
    ...(startedUs === undefined || startedUs > 8.64e18 ? {} : { startedMs: startedUs / 1000 }),
    ...(startedUs === undefined || tookUs === undefined ? {} : { endedMs: (startedUs + tookUs) / 1000 }),
    attributes,
    events,
    ...(error === undefined ? {} : { error }),
  }
}

function listAt(at: Cursor, name: string): readonly Cursor[] {
  return at.at(name).isThere ? at.at(name).items : []
}

function parentOf(span: Cursor): string | undefined {
  const child = listAt(span, 'references').find((reference) => reference.at('refType').maybeText === 'CHILD_OF')
  return child?.at('spanID').maybeText ?? span.at('parentSpanID').maybeText
}

function tagsOf(tags: Cursor): Attributes {
  if (!tags.isThere) return new Map()
  return new Map(
    tags.items.flatMap((tag): [string, unknown][] => {
      const key = tag.at('key').maybeText
      return key === undefined ? [] : [[key, tag.at('value').value]]
    }),
  )
}

function eventOf(log: Cursor): ForeignSpanEvent {
  const attributes = tagsOf(log.at('fields'))
  const name = attribute(attributes, 'event', 'name')
  return { name: typeof name === 'string' ? name : '', attributes }
}

function errorOf(attributes: Attributes, events: readonly ForeignSpanEvent[]): string | undefined {
  if (attributes.get('error') !== true && attributes.get('otel.status_code') !== 'ERROR') return undefined
  const exception = events.find(({ name }) => name === 'exception')?.attributes ?? attributes
  const found =
    attribute(attributes, 'otel.status_description', 'error.message') ??
    attribute(exception, 'exception.message', 'error.type')
  return typeof found === 'string' ? found : 'error'
}
