import { jsonOr } from './body.ts'
import type { Cursor } from './cursor.ts'
import { firstItem, type ForeignDocument, type ForeignFormat, itemsAt } from './document.ts'
import { attributesOf, isFields } from './meaning.ts'
import { timeOf } from './moments.ts'
import { type Attributes, kindOf, type ForeignSpan, type SpanAttributes } from './spans.ts'
import { toolAnswer } from './messages.ts'
import { runsOfSpans } from './trace-runs.ts'
import { usageOf } from './usage.ts'

/**
 * Observations of Langfuse: a trace with `observations`, as its UI and its API write it, or rows of them as a list, under
 * `data`, or one for each line; names in camel case or, in its tables, with underscores. What an OpenTelemetry span said
 * beside stands in the metadata.
 *
 * @see https://github.com/langfuse/langfuse, packages/shared/src/domain/observations.ts
 */
export const langfuse: ForeignFormat = {
  name: 'langfuse',
  recognises(document) {
    const first = rowsIn(document).next()
    return first.done !== true && isObservation(first.value)
  },
  read: (document) => runsOfSpans('langfuse', Array.from(rowsIn(document), spanOf), document.root.position),
}

/** A row, and the trace that it stands in, where it stands in one. */
interface Row {
  readonly row: Cursor
  readonly trace?: string
}

function* rowsIn(document: ForeignDocument): Generator<Row, undefined> {
  const { root, isLines } = document
  const isList = isLines || Array.isArray(root.value)
  if (isList && firstItem(document) === undefined) return undefined
  for (const one of isList ? itemsAt(document) : [root]) {
    const list = [one.at('observations'), one.at('data'), one.at('trace').at('observations')].find(
      ({ value }) => Array.isArray(value) && value.length > 0,
    )
    const trace = one.at('id').maybeText ?? one.at('trace').at('id').maybeText
    for (const row of list?.items ?? [one])
      yield { row, ...(list === undefined || trace === undefined ? {} : { trace }) }
  }
  return undefined
}

function isObservation({ row, trace }: Row): boolean {
  if ((trace === undefined && !either(row, 'traceId').isThere) || !either(row, 'startTime').isThere) return false
  return /^[A-Z]+$/.test(row.at('type').maybeText ?? '') && row.at('id').isThere
}

/** A member in camel case, or with underscores. */
function either(row: Cursor, name: string): Cursor {
  const found = row.at(name)
  return found.isThere ? found : row.at(name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
}

function spanOf({ row, trace = '' }: Row): ForeignSpan {
  const id = row.map.at('id').maybeText
  const parent = either(row, 'parentObservationId').maybeText
  const startedMs = timeOf(either(row, 'startTime'))
  const endedMs = timeOf(either(row, 'endTime'))
  return {
    ...(id === undefined ? {} : { id }),
    trace: either(row, 'traceId').maybeText ?? trace,
    // Tables have an empty text for none.
    ...(parent === undefined || parent === '' ? {} : { parent }),
    name: row.at('name').maybeText ?? '',
    ...(startedMs === undefined ? {} : { startedMs }),
    ...(endedMs === undefined ? {} : { endedMs }),
    attributes: attributesIn(row.at('metadata')),
    events: [],
    ...(row.at('level').maybeText === 'ERROR' ? { error: either(row, 'statusMessage').maybeText ?? 'error' } : {}),
    told: toldOf(row),
  }
}

/** The attributes of the span that an observation was made of: a map of them, or each under its own name. */
function attributesIn(metadata: Cursor): Attributes {
  const value = jsonOr(metadata.value)
  if (!isFields(value)) return new Map()
  const inner = attributesOf(jsonOr(value['attributes']))
  const flat = Object.entries(value).filter(([name]) => name.startsWith(prefix))
  return new Map([...flat.map(([name, one]) => [name.slice(prefix.length), one] as const), ...inner])
}

const prefix = 'attributes.'

function toldOf(row: Cursor): SpanAttributes {
  const type = row.at('type').maybeText
  const model = either(row, 'providedModelName').maybeText ?? row.at('model').maybeText
  const calls = either(row, 'toolCalls').value
  const usage = jsonOr(either(row, 'usageDetails').value ?? row.at('usage').value)
  // `SPAN` says nothing: tools of older clients are exported as that, too.
  const kind = type === 'SPAN' || type === 'EVENT' ? undefined : kindOf(type)
  const answer = toolAnswer(row.at('output').value)
  const isTool = kind === undefined && answer.name !== undefined && answer.name === row.at('name').maybeText
  if (kind === 'tool' || isTool)
    return {
      kind: 'tool',
      input: row.at('input').value,
      output: answer.result,
      ...(answer.callId === undefined ? {} : { callId: answer.callId }),
    }
  return {
    ...(kind === undefined ? {} : { kind }),
    input: row.at('input').value,
    output: row.at('output').value,
    ...(model === undefined ? {} : { model }),
    ...(Array.isArray(calls) && calls.length > 0 ? { calls: calls.map(jsonOr) } : {}),
    ...usageOf(usage),
  }
}
