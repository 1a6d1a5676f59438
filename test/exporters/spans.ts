import type { OtlpSpan } from '../../src/exporters/otlp/span.ts'
import type { AnyValue, KeyValue } from '../../src/exporters/otlp/attributes.ts'
import { exportTape } from '../../src/exporters/index.ts'
import type { Tape } from '../../src/tape/index.ts'

/** A span as a reader of the export sees it. */
export interface ReadSpan extends Omit<OtlpSpan, 'attributes'> {
  readonly attributes: Readonly<Record<string, unknown>>
}

/** The lines of a tape as OTLP. */
export function linesOf(tape: Tape, withContent = true): readonly string[] {
  const text = [...exportTape(tape, 'otlp', { withContent }).pieces].join('')
  return text.split('\n').slice(0, -1)
}

/** The spans of a tape, through the text of the export. */
export function spansIn(tape: Tape, withContent = true): readonly ReadSpan[] {
  return linesOf(tape, withContent)
    .flatMap((line) => (JSON.parse(line) as { resourceSpans: { scopeSpans: { spans: OtlpSpan[] }[] }[] }).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    .map((span) => ({ ...span, attributes: valuesOf(span.attributes) }))
}

export function valuesOf(attributes: readonly KeyValue[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]))
}

function valueOf(value: AnyValue): unknown {
  if ('intValue' in value) return Number(value.intValue)
  if ('arrayValue' in value) return value.arrayValue.values.map(valueOf)
  return Object.values(value)[0]
}
