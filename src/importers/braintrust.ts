import type { Cursor } from './cursor.ts'
import { firstItem, type ForeignDocument, type ForeignFormat, itemsAt } from './document.ts'
import { isFields } from './meaning.ts'
import { timeOf } from './moments.ts'
import { kindOf, type ForeignSpan, type SpanKind, type SpanAttributes } from './spans.ts'
import { runsOfSpans } from './trace-runs.ts'
import { usageOf } from './usage.ts'

/**
 * Rows of Braintrust: spans of its logs as a list, one for each line, under `events` or `rows`; a row with `_is_merge`
 * goes on from the one with its id. Also the shortened rows of its SDK's snapshots, which may leave ids, input and output
 * out.
 *
 * @see https://github.com/braintrustdata/braintrust-sdk, js/src/logger.ts
 */
export const braintrust: ForeignFormat = {
  name: 'braintrust',
  recognises: (document) => isRow(rowsIn(document)[Symbol.iterator]().next().value),
  read: (document) => runsOfSpans('braintrust', merged(rowsIn(document)).map(spanOf), document.root.position),
}

function* rowsIn(document: ForeignDocument): Generator<Cursor, undefined> {
  const { root, isLines } = document
  if (isLines || Array.isArray(root.value)) {
    if (firstItem(document) !== undefined) yield* itemsAt(document)
    return undefined
  }
  const list = [root.at('events'), root.at('rows')].find(({ value }) => Array.isArray(value))
  if (list !== undefined) yield* list.items
  else yield* nestedRows(root, 3)
  return undefined
}

/** Rows that stand as members of a map, by what they are about. */
function* nestedRows(at: Cursor, depth: number): Generator<Cursor> {
  if (at.at('span_id').isThere) yield at
  else if (at.isMap && depth > 0) for (const [, member] of at.members) yield* nestedRows(member, depth - 1)
}

function isRow(row: Cursor | undefined): boolean {
  if (row?.isMap !== true) return false
  if (row.at('span_id').isThere && row.at('root_span_id').isThere) return true
  // Rows of snapshots have neither ids nor times.
  const hasContent = ['has_input', 'output', 'metrics'].some((name) => Object.hasOwn(row.value as object, name))
  return (
    hasContent &&
    row.at('name').maybeText !== undefined &&
    row.at('metadata').isMap &&
    !row.at('id').isThere &&
    !row.at('attributes').isThere
  )
}

type Row = ReadonlyMap<string, Cursor>

/** Rows with what later ones of the same id add to their members. */
function merged(rows: Iterable<Cursor>): readonly Row[] {
  const byId = new Map<string, Map<string, Cursor>>()
  const list: Row[] = []
  for (const row of rows) {
    const id = row.at('id').maybeText
    const isMore = row.at('_is_merge').value === true
    const known = isMore && id !== undefined ? byId.get(id) : undefined
    const fields = known ?? new Map<string, Cursor>()
    for (const [name, value] of row.map.members) {
      const before = fields.get(name)
      if (!value.isThere) continue
      if (before?.isMap === true && value.isMap)
        for (const [key, inner] of value.members) fields.set(`${name}.${key}`, inner)
      fields.set(name, before?.isMap === true && value.isMap ? before : value)
    }
    if (known !== undefined) continue
    list.push(fields)
    if (id !== undefined) byId.set(id, fields)
  }
  return list
}

/** A member of a member, also one that came later. */
function inside(row: Row, name: string, key: string): Cursor | undefined {
  return row.get(`${name}.${key}`) ?? row.get(name)?.at(key)
}

function spanOf(row: Row): ForeignSpan {
  const id = row.get('span_id')?.maybeText
  const parents = row.get('span_parents')
  const parent = Array.isArray(parents?.value) ? parents.items[0]?.maybeText : undefined
  const startedMs = timeOf(inside(row, 'metrics', 'start'))
  const endedMs = timeOf(inside(row, 'metrics', 'end'))
  const error = row.get('error')
  return {
    ...(id === undefined ? {} : { id }),
    trace: row.get('root_span_id')?.maybeText ?? '',
    ...(parent === undefined ? {} : { parent }),
    // Its wrapper of Claude's agents says of a tool that it is one.
    name: (inside(row, 'span_attributes', 'name')?.maybeText ?? row.get('name')?.maybeText ?? '').replace(
      /^tool: /,
      '',
    ),
    ...(startedMs === undefined ? {} : { startedMs }),
    ...(endedMs === undefined ? {} : { endedMs }),
    attributes: new Map(),
    events: [],
    ...(error?.isThere === true ? { error: error.maybeText ?? JSON.stringify(error.value) } : {}),
    told: toldOf(row),
  }
}

function toldOf(row: Row): SpanAttributes {
  const input = row.get('input')?.value
  const kind = kindIn(row, input)
  const output = row.get('output')?.value
  if (kind !== 'model') return { kind, ...callOf(input), output }
  const model = inside(row, 'metadata', 'model')?.maybeText
  const provider = inside(row, 'metadata', 'provider')?.maybeText
  const metrics = Object.fromEntries(
    ['prompt_tokens', 'completion_tokens', 'prompt_cached_tokens'].map((key) => [
      key,
      inside(row, 'metrics', key)?.value,
    ]),
  )
  return {
    kind,
    input,
    output,
    ...(model === undefined ? {} : { model }),
    ...(provider === undefined ? {} : { provider }),
    ...usageOf(metrics),
  }
}

/** Where a row does not say, a model named in its metadata, or the options of a tool behind its arguments, tells. */
function kindIn(row: Row, input: unknown): SpanKind {
  const type = inside(row, 'span_attributes', 'type')?.maybeText ?? row.get('type')?.maybeText
  if (type !== undefined) return kindOf(type) ?? 'other'
  if (toolOptions(input) !== undefined) return 'tool'
  return inside(row, 'metadata', 'model')?.maybeText === undefined ? 'other' : 'model'
}

/** The Vercel AI SDK calls a tool with its arguments and options that name the call. */
function toolOptions(input: unknown): { readonly [key: string]: unknown } | undefined {
  const options: unknown = Array.isArray(input) && input.length === 2 ? input[1] : undefined
  return isFields(options) && typeof options['toolCallId'] === 'string' ? options : undefined
}

function callOf(input: unknown): Pick<SpanAttributes, 'input' | 'callId'> {
  const options = toolOptions(input)
  if (options !== undefined) return { input: (input as readonly unknown[])[0], callId: String(options['toolCallId']) }
  return { input: Array.isArray(input) && input.length === 1 ? (input as readonly unknown[])[0] : input }
}
