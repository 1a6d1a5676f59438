/**
 * What is wrong with a line of OTLP/JSON, by the rules of the protocol: fields in lower camel case and none that are not
 * in it, ids in hexadecimal, 64-bit integers as decimal text, enums as numbers.
 *
 * @see https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding and
 *   https://github.com/open-telemetry/opentelemetry-proto, opentelemetry/proto/trace/v1/trace.proto
 */
export function otlpMistakes(line: string): readonly string[] {
  return issues(JSON.parse(line), 'TracesData', '')
}

type Check = (value: unknown) => boolean
/** A message by name, a list of one, or a rule for a plain value. */
type Field = string | readonly [string] | Check

const text: Check = (value) => typeof value === 'string'
const nanos: Check = (value) =>
  typeof value === 'string' && /^(0|[1-9]\d{0,19})$/.test(value) && BigInt(value) < 2n ** 64n
const hex =
  (length: number): Check =>
  (value) =>
    typeof value === 'string' && new RegExp(`^[0-9a-f]{${length}}$`).test(value) && /[1-9a-f]/.test(value)
const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value)

const messages: Readonly<Record<string, Readonly<Record<string, Field>>>> = {
  TracesData: { resourceSpans: ['ResourceSpans'] },
  ResourceSpans: { resource: 'Resource', scopeSpans: ['ScopeSpans'], schemaUrl: text },
  Resource: { attributes: ['KeyValue'] },
  ScopeSpans: { scope: 'Scope', spans: ['Span'], schemaUrl: text },
  Scope: { name: text, version: text },
  Span: {
    traceId: hex(32),
    spanId: hex(16),
    parentSpanId: hex(16),
    name: (value) => typeof value === 'string' && value !== '',
    kind: oneOf(1, 2, 3, 4, 5),
    startTimeUnixNano: nanos,
    endTimeUnixNano: nanos,
    attributes: ['KeyValue'],
    events: ['Event'],
    status: 'Status',
  },
  Event: { timeUnixNano: nanos, name: text, attributes: ['KeyValue'] },
  Status: { code: oneOf(1, 2), message: text },
  KeyValue: { key: (value) => typeof value === 'string' && value !== '', value: 'AnyValue' },
  AnyValue: {
    stringValue: text,
    boolValue: (value) => typeof value === 'boolean',
    intValue: (value) =>
      typeof value === 'string' && /^(0|-?[1-9]\d*)$/.test(value) && BigInt.asIntN(64, BigInt(value)) === BigInt(value),
    doubleValue: (value) => typeof value === 'number',
    arrayValue: 'ArrayValue',
  },
  ArrayValue: { values: ['AnyValue'] },
}

const required: Readonly<Record<string, readonly string[]>> = {
  Span: ['traceId', 'spanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano'],
  KeyValue: ['key', 'value'],
  Event: ['timeUnixNano', 'name'],
}

function issues(value: unknown, message: string, place: string): readonly string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${place} is no ${message}`]
  const fields = messages[message]!
  const missing = (required[message] ?? []).filter((name) => !Object.hasOwn(value, name))
  const many = message === 'AnyValue' && Object.keys(value).length !== 1 ? ['more than one value'] : []
  return [
    ...missing.map((name) => `${place} has no ${name}`),
    ...many.map((what) => `${place} has ${what}`),
    ...Object.entries(value).flatMap(([name, inner]) => {
      const field = fields[name]
      const at = `${place}.${name}`
      if (field === undefined) return [`${at} is not in ${message}`]
      if (typeof field === 'function') return field(inner) ? [] : [`${at} cannot be ${JSON.stringify(inner)}`]
      if (typeof field === 'string') return issues(inner, field, at)
      if (!Array.isArray(inner)) return [`${at} is no list`]
      return inner.flatMap((item, index) => issues(item, field[0], `${at}[${index}]`))
    }),
  ]
}
