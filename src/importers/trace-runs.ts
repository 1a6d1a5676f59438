import { jsonOr } from './body.ts'
import { uncapturedIn } from './capture.ts'
import { callCap } from './limits.ts'
import { meaningOf } from './conventions.ts'
import { defined, filledBy, type Meaning } from './meaning.ts'
import { type TextPosition, refusal } from './refusal.ts'
import type { ForeignSpan, SpanFormat } from './spans.ts'
import { readOwn, readOwnRun } from './own-spans.ts'
import { readMessages } from './messages.ts'
import type { ForeignCall, ForeignModelCall, ForeignStep, ForeignRecording } from './types.ts'

/**
 * The runs that spans tell of: one for each trace, in the order in which traces begin in the file.
 *
 * Model calls, tools and retrievers become steps; agents, chains and requests over HTTP are passed over. Instruments on
 * several levels tell of one call more than once: of model calls inside each other the innermost stand, with what only the
 * outer one tells where there is one inner one; a tool directly inside a tool of the same name is the same call.
 *
 * @throws HarvestError `HARVEST_IMPORT_TOO_LARGE`
 */
export function runsOfSpans(
  format: SpanFormat,
  spans: readonly ForeignSpan[],
  place: TextPosition,
): readonly ForeignRecording[] {
  const traces = Map.groupBy(spans, ({ trace = '' }) => trace)
  return [...traces].map(([trace, list]): ForeignRecording => {
    const tellers = standingIn(list)
    const steps = tellers.map(stepOf)
    const uncaptured = openTelemetry.has(format) ? uncapturedIn(tellers) : undefined
    if (steps.length > callCap) throw refusal('HARVEST_IMPORT_TOO_LARGE', place, `more than ${callCap} calls`)
    return {
      format,
      ...(trace === '' ? {} : { name: trace }),
      exchanges: [],
      steps,
      ...readOwnRun(list),
      ...defined({ uncaptured }),
    }
  })
}

/** Formats whose spans are those of an instrumentation, and not of a backend's own SDK. */
const openTelemetry: ReadonlySet<SpanFormat> = new Set(['otlp', 'otel-spans', 'jaeger'])

/** Spans that tell something inside each other; agents that call agents nest to a tenth of it. */
const nestingCap = 256

/** A span that becomes a step, or is taken up in one. */
interface Teller {
  readonly span: ForeignSpan
  meaning: Meaning
  /** The nearest span around it that tells something. */
  readonly outer?: Teller
  /** How many tell something around it. */
  readonly depth: number
  /** Model calls inside of it that have none inside themselves. */
  leaves: number
  /** Named by another one. */
  isDropped: boolean
  /** The span that stands for it, when it was dropped. */
  stand?: Teller
}

/** What becomes a step each. */
function standingIn(spans: readonly ForeignSpan[]): readonly Teller[] {
  const tellers = tellersOf(spans)
  mergeModels(tellers)
  mergeTools(tellers)
  return tellers.filter(({ isDropped }) => !isDropped)
}

/** Each span once, by its id: exporters that try again send it twice. Parents stand before what is inside of them. */
function tellersOf(spans: readonly ForeignSpan[]): readonly Teller[] {
  const byId = new Map<string, ForeignSpan>()
  for (const span of spans) if (span.id !== undefined && !byId.has(span.id)) byId.set(span.id, span)
  const own = spans.filter((span) => span.id === undefined || byId.get(span.id) === span)
  const known = new Map<ForeignSpan, Teller | undefined>()
  for (const span of own) {
    // From the outermost one that is not known yet; a circle of parents ends where it closes.
    const chain: ForeignSpan[] = []
    const seen = new Set<ForeignSpan>()
    for (let at: ForeignSpan | undefined = span; at !== undefined && !known.has(at) && !seen.has(at); ) {
      chain.push(at)
      seen.add(at)
      at = at.parent === undefined ? undefined : byId.get(at.parent)
    }
    for (const one of chain.reverse()) {
      const parent = one.parent === undefined ? undefined : byId.get(one.parent)
      const around = parent === undefined ? undefined : known.get(parent)
      const meaning = meaningOf(one)
      const tells = meaning.kind !== undefined && meaning.kind !== 'other'
      const depth = (around?.depth ?? -1) + 1
      // Deeper than any agent nests: what comes below counts as beside it.
      const outer = around === undefined || depth > nestingCap ? {} : { outer: around }
      known.set(
        one,
        tells
          ? { span: one, meaning, ...outer, depth: depth > nestingCap ? 0 : depth, leaves: 0, isDropped: false }
          : around,
      )
    }
  }
  return own.flatMap((span) => {
    const teller = known.get(span)
    return teller?.span === span ? [teller] : []
  })
}

function mergeModels(tellers: readonly Teller[]): void {
  const models = tellers.filter(isModel)
  const around = new Set(models.flatMap(({ outer }) => (outer !== undefined && isModel(outer) ? [outer] : [])))
  const leaves = models.filter((teller) => !around.has(teller))
  for (const leaf of leaves) for (const outer of modelsAround(leaf)) outer.leaves++
  for (const leaf of leaves)
    for (const outer of modelsAround(leaf)) {
      outer.isDropped = true
      if (outer.leaves === 1) leaf.meaning = filledBy(leaf.meaning, outer.meaning)
    }
}

function isModel({ meaning }: Teller): boolean {
  return meaning.kind === 'model'
}

function* modelsAround(leaf: Teller): Generator<Teller> {
  for (let at = leaf.outer; at !== undefined && isModel(at); at = at.outer) yield at
}

function mergeTools(tellers: readonly Teller[]): void {
  for (const inner of tellers) {
    const { meaning } = inner
    // Of three levels of one call the middle one may be dropped already.
    const outer = inner.outer === undefined ? undefined : standFor(inner.outer)
    if (meaning.kind !== 'tool' || outer?.meaning.kind !== 'tool' || outer.meaning.name !== meaning.name) continue
    inner.isDropped = true
    inner.stand = outer
    outer.meaning = filledBy(outer.meaning, meaning)
  }
}

/** The id of the tool call around a step. */
function parentOf({ outer }: Teller): { readonly parent?: string } {
  for (let at = outer; at !== undefined; at = at.outer) {
    const stands = standFor(at)
    if (!isModel(stands) && stands.span.id !== undefined) return { parent: stands.span.id }
  }
  return {}
}

function standFor(teller: Teller): Teller {
  let at = teller
  while (at.stand !== undefined) at = at.stand
  return at
}

function stepOf(teller: Teller): ForeignStep {
  const { meaning, span } = teller
  const timed = timesOf(span)
  return meaning.kind === 'model'
    ? { ...modelStep(meaning, span), ...timed, ...parentOf(teller) }
    : { ...callStep(meaning, span), ...timed, ...parentOf(teller) }
}

function timesOf(span: ForeignSpan): { readonly startedMs?: number; readonly tookMs?: number } {
  const { startedMs, endedMs } = span
  const { isOpen, isUntimed } = readOwn(span)
  if (startedMs === undefined || isUntimed) return {}
  if (isOpen) return { startedMs }
  // Clocks can be set back while a span is open.
  return { startedMs, ...(endedMs === undefined ? {} : { tookMs: Math.max(0, endedMs - startedMs) }) }
}

/** The Vercel AI SDK writes every answer of a tool as JSON: a text stands in quotes. */
function unquoted(value: unknown): unknown {
  if (typeof value !== 'string' || !/^".*"$/s.test(value)) return value
  try {
    return JSON.parse(value) as unknown
  } catch {
    // The quotes are its own.
    return value
  }
}

function callStep({ kind, name, input, output, callId }: Meaning, { id, error, ...span }: ForeignSpan): ForeignCall {
  const own = readOwn(span)
  const result = own.result ?? unquoted(jsonOr(output))
  return {
    kind: kind === 'retrieval' ? 'retrieval' : 'tool',
    name: name ?? span.name,
    args: own.args ?? jsonOr(input),
    ...(result === undefined || (result === null && error !== undefined) ? {} : { result }),
    ...(error === undefined ? {} : { error }),
    ...(own.thrown === undefined ? {} : { thrown: own.thrown }),
    ...(callId === undefined ? {} : { callId }),
    ...(id === undefined ? {} : { id }),
  }
}

function modelStep(meaning: Meaning, { error }: ForeignSpan): ForeignModelCall {
  const { asked, answered, provider, inputTokens, outputTokens, cachedTokens, cacheWriteTokens } = meaning
  const said = readMessages(meaning.output)
  const beside = readMessages(meaning.calls)
  const text = said
    .map((one) => one.text)
    .filter((one) => one !== '')
    .join('\n')
  const finish = meaning.finish ?? said.find((one) => one.finish !== undefined)?.finish
  const calls = said.flatMap((one) => one.calls)
  const usage = defined({ inputTokens, outputTokens, cachedTokens, cacheWriteTokens })
  const messages = withSystem(meaning)
  return {
    kind: 'model',
    ...defined({ asked, answered, provider, finish, error }),
    ...(messages === undefined ? {} : { messages }),
    ...(text === '' ? {} : { text }),
    toolCalls: calls.length > 0 ? calls : beside.flatMap((one) => one.calls),
    ...(Object.keys(usage).length === 0 ? {} : { usage }),
  }
}

function withSystem({ system, input }: Meaning): unknown {
  if (system === undefined || system === null) return input
  const content = jsonOr(system)
  return [{ role: 'system', content }, ...[jsonOr(input)].flat()]
}
