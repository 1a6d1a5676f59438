import { jsonOr } from './body.ts'
import type { Cursor } from './cursor.ts'
import { firstItem, type ForeignDocument, type ForeignFormat, itemsAt } from './document.ts'
import { attributesOf, isFields } from './meaning.ts'
import { timeOf } from './moments.ts'
import { type ForeignSpan, type SpanAttributes, kindOf } from './spans.ts'
import { toolAnswer } from './messages.ts'
import { runsOfSpans } from './trace-runs.ts'
import { usageOf } from './usage.ts'

/**
 * Runs of LangSmith: a list, one for each line, `runs` of its API, one run with `child_runs`, or the batches that its
 * clients post, in which a run is sent in two parts.
 *
 * @see https://github.com/langchain-ai/langsmith-sdk, js/src/schemas.ts
 */
export const langsmith: ForeignFormat = {
  name: 'langsmith',
  recognises: (document) => isRun(partsIn(document)[Symbol.iterator]().next().value),
  read(document) {
    const runs = new Map<string, Run>()
    for (const part of partsIn(document)) addRun(part, undefined, runs)
    return runsOfSpans('langsmith', Array.from(runs.values(), spanOf), document.root.position)
  },
}

function* partsIn(document: ForeignDocument): Generator<Cursor, undefined> {
  const { root, isLines } = document
  const isList = isLines || Array.isArray(root.value)
  if (isList && firstItem(document) === undefined) return undefined
  for (const one of isList ? itemsAt(document) : [root]) {
    const lists = ['post', 'patch', 'runs'].filter((name) => Array.isArray(one.at(name).value))
    if (lists.length === 0) yield one
    for (const name of lists) yield* one.at(name).items
  }
  return undefined
}

function isRun(run: Cursor | undefined): boolean {
  if (run === undefined) return false
  return run.at('run_type').maybeText !== undefined && (run.at('id').isThere || run.at('dotted_order').isThere)
}

/** A run put together of its parts; later ones win. */
interface Run {
  readonly fields: Map<string, Cursor>
  readonly parent: string | undefined
}

/** Runs inside of runs, each put behind the one around it. */
function addRun(part: Cursor, parent: string | undefined, runs: Map<string, Run>): void {
  const id = part.map.at('id').maybeText ?? idIn(part.at('dotted_order')) ?? `#${runs.size}`
  const run = runs.get(id) ?? { fields: new Map<string, Cursor>(), parent }
  runs.set(id, run)
  for (const [name, value] of part.members) if (value.isThere) run.fields.set(name, value)
  const children = part.at('child_runs')
  if (Array.isArray(children.value)) for (const child of children.items) addRun(child, id, runs)
}

/** The last part of a dotted order is the time and the id of the run itself. */
function idIn(order: Cursor): string | undefined {
  return /Z([0-9a-f-]{36})$/i.exec(order.maybeText ?? '')?.[1]
}

function spanOf({ fields, parent }: Run): ForeignSpan {
  const text = (name: string): string | undefined => fields.get(name)?.maybeText
  const startedMs = timeOf(fields.get('start_time'))
  const endedMs = timeOf(fields.get('end_time'))
  const id = text('id') ?? (fields.has('dotted_order') ? idIn(fields.get('dotted_order')!) : undefined)
  const around = text('parent_run_id') ?? parent
  const error = text('error')
  return {
    ...(id === undefined ? {} : { id }),
    trace: text('trace_id') ?? '',
    ...(around === undefined ? {} : { parent: around }),
    name: text('name') ?? '',
    ...(startedMs === undefined ? {} : { startedMs }),
    ...(endedMs === undefined ? {} : { endedMs }),
    attributes: attributesOf(fields.get('extra')?.at('metadata').value),
    events: [],
    ...(error === undefined ? {} : { error }),
    told: toldOf(fields),
  }
}

function toldOf(fields: ReadonlyMap<string, Cursor>): SpanAttributes {
  const kind = kindOf(fields.get('run_type')?.maybeText) ?? 'other'
  const inputs = fields.get('inputs')
  const outputs = fields.get('outputs')
  const extra = fields.get('extra')
  if (kind !== 'model') {
    const { result, callId } = toolAnswer(outputs?.value)
    return { kind, input: argsOf(inputs?.value), output: result, ...(callId === undefined ? {} : { callId }) }
  }
  const params = extra?.at('invocation_params')
  const metadata = extra?.at('metadata')
  const model =
    params?.at('model').maybeText ??
    params?.at('model_name').maybeText ??
    inputs?.at('model').maybeText ??
    metadata?.at('ls_model_name').maybeText
  const provider = metadata?.at('ls_provider').maybeText
  const usage = [
    outputs?.at('usage_metadata').value,
    metadata?.at('usage_metadata').value,
    outputs?.at('llm_output').at('token_usage').value,
    outputs?.at('usage').value,
  ].find(isFields)
  return {
    kind,
    input: inputs?.value,
    output: outputs?.value,
    ...(model === undefined ? {} : { model }),
    ...(provider === undefined ? {} : { provider }),
    ...usageOf(usage),
  }
}

/** A tool of one text has it under `input`; JSON in it is what it was called with. */
function argsOf(inputs: unknown): unknown {
  if (!isFields(inputs)) return inputs
  const [only, ...more] = Object.keys(inputs)
  const inner = only === 'input' && more.length === 0 ? jsonOr(inputs['input']) : undefined
  return isFields(inner) ? inner : inputs
}
