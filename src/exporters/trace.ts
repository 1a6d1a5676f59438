import type { ModelCall, Usage } from '../providers/index.ts'
import {
  type CallEvent,
  type ExchangeEvent,
  isSettled,
  type Json,
  stepsOf,
  type Step,
  type Tape,
  type TapeEvent,
} from '../tape/index.ts'
import { layered, type PlacedCall, placedCalls } from '../trace/index.ts'
import { countedCalls, endOf, missingTimes, modelCallOf, notesOn } from './facts.ts'
import { type ModelMark, readModelMark } from './model-mark.ts'
import { readRpc } from '../providers/rpc.ts'
import type { Exported, ExportOptions } from './types.ts'

/** The number of this form; it goes up when a field changes its meaning or goes away, not when one is added. */
const traceVersion = 1

/** A run as its tool calls in causal order, its model calls, and how it ended. */
interface TraceDocument {
  readonly harvestTrace: typeof traceVersion
  readonly tape: string
  readonly digest: string
  readonly agent: string
  /** Null: unknown. */
  readonly startedAt: string | null
  /** Null: unknown, or the tape is truncated. */
  readonly tookMs: number | null
  readonly commit: string | null
  readonly truncated: boolean
  /** What the recording the tape was imported from does not hold; empty for tapes of our own. */
  readonly missing: readonly string[]
  readonly input?: Json
  readonly outcome: object | null
  readonly models: readonly string[]
  readonly usage: Required<Usage> & { readonly modelCalls: number; readonly untold: number }
  readonly modelCalls: readonly object[]
  readonly calls: readonly object[]
  /** Positions in `calls`. */
  readonly layers: readonly (readonly number[])[]
}

/**
 * A run as plain JSON: the tool calls that count for a comparison, in layers, and what the models were asked for. Values
 * stand as on the tape.
 */
export function exportTrace(tape: Tape, options: ExportOptions): Exported {
  // Made when it is asked for: notes alone should cost nothing.
  function* pieces(): Generator<string> {
    yield `${JSON.stringify(documentOf(tape, options), undefined, 2)}\n`
  }
  return { pieces: pieces(), leftOut: [], notes: notesOn(tape) }
}

function documentOf(tape: Tape, { withContent }: ExportOptions): TraceDocument {
  const { header, close, digest } = tape
  const times = missingTimes(tape)
  const steps = new Map(stepsOf(tape).map((step) => [step.n, step]))
  const models = tape.events.flatMap((event) => readTold(event, tape))
  const placed = [...placedCalls(tape.events)].sort((a, b) => a.issued - b.issued)
  const positions = new Map(placed.map(({ call }, at) => [call, at]))
  const timing = { withContent, isTimed: !times.timings }
  return {
    harvestTrace: traceVersion,
    tape: header.id,
    digest,
    agent: header.agent,
    startedAt: times.start ? null : header.startedAt,
    tookMs: times.timings || close === undefined ? null : close.at,
    commit: header.pins.commit ?? null,
    truncated: close === undefined,
    missing: header.imported?.missing ?? [],
    ...(withContent && header.input !== undefined ? { input: header.input } : {}),
    outcome: close === undefined ? null : withContent ? close.outcome : { status: close.outcome.status },
    models: [...new Set(models.map(({ asked }) => asked))].filter((model) => model !== ''),
    usage: usageOf(countedIn(tape)),
    modelCalls: models.map((told) => told.write(timing)),
    calls: placed.map((one) => toolCall(one, steps.get(one.call.n), timing)),
    layers: layered(placed).map((layer) => layer.flatMap((call) => positions.get(call) ?? [])),
  }
}

/** A model call, and how it is written. */
interface Told {
  readonly asked: string
  write(telling: Telling): object
}

interface Telling {
  readonly withContent: boolean
  readonly isTimed: boolean
}

function readTold(event: TapeEvent, tape: Tape): readonly Told[] {
  const mark = readModelMark(event, tape)
  if (mark !== undefined) return [{ asked: mark.asked ?? '', write: (telling) => writeMark(mark, telling) }]
  const call = modelCallOf(event)
  if (event.kind !== 'exchange' || call === undefined) return []
  return [{ asked: call.request.model, write: (telling) => writeCall(event, call, telling) }]
}

/** What each model call used, as far as it is known; polls of one answer are one call. */
function countedIn(tape: Tape): readonly (Usage | undefined)[] {
  const marks = tape.events.flatMap((event) => readModelMark(event, tape) ?? [])
  return [...marks.map(({ usage }) => usage), ...countedCalls(tape).map(({ response }) => response?.usage)]
}

function usageOf(models: readonly (Usage | undefined)[]): TraceDocument['usage'] {
  const told = models.flatMap((usage) => usage ?? [])
  const sum = (read: (usage: Usage) => number | undefined): number =>
    told.reduce((total, usage) => total + (read(usage) ?? 0), 0)
  return {
    modelCalls: models.length,
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    cachedTokens: sum(({ cachedTokens }) => cachedTokens),
    cacheWriteTokens: sum(({ cacheWriteTokens }) => cacheWriteTokens),
    reasoningTokens: sum(({ reasoningTokens }) => reasoningTokens),
    untold: models.length - told.length,
  }
}

function writeCall(event: ExchangeEvent, { request, response, moreOf }: ModelCall, telling: Telling): object {
  const { withContent } = telling
  const { model, text, toolCalls = [], finish, usage, error } = response ?? {}
  return {
    event: event.n,
    dialect: request.dialect,
    ...(moreOf === undefined ? {} : { moreOf }),
    ...(request.model === '' ? {} : { asked: request.model }),
    ...(model === undefined ? {} : { answered: model }),
    ...timesOf(event, telling),
    ...(finish === undefined ? {} : { finish }),
    ...(error === undefined ? {} : { error }),
    ...(usage === undefined ? {} : { usage }),
    ...(withContent && text !== undefined && text !== '' ? { text } : {}),
    toolCalls: toolCalls.map(({ id, name, args, builtIn }) => ({
      ...(id === undefined ? {} : { id }),
      name,
      ...(withContent ? { args } : {}),
      ...(builtIn === true ? { builtIn } : {}),
    })),
  }
}

/** Of an imported trace. What was said stands in its messages; what was asked for, among the calls. */
function writeMark({ event, tookMs, error, ...told }: ModelMark, { withContent, isTimed }: Telling): object {
  return {
    event: event.n,
    ...told,
    ...(error === undefined ? {} : { error: withContent ? error : '_OTHER' }),
    ...(isTimed ? { atMs: event.at, ...(tookMs === undefined ? {} : { tookMs }) } : {}),
  }
}

/** A call of the trace: one that ran, or one a model asked for and nothing recorded ran. */
function toolCall({ call, group, id }: PlacedCall, step: Step | undefined, telling: Telling): object {
  const { withContent } = telling
  const { name, args, n, site } = call
  const isOnlyAsked = group === n
  return {
    event: n,
    name,
    kind: isOnlyAsked ? 'asked' : step?.kind === 'exchange' ? 'mcp' : (step?.kind ?? 'tool'),
    ...(id === undefined ? {} : { id }),
    ...(group < 0 ? {} : { askedBy: group }),
    ...(withContent ? { args } : {}),
    ...(isOnlyAsked || step === undefined ? {} : { ...answerOf(step, telling), ...timesOf(step, telling) }),
    ...(site === undefined ? {} : { site }),
  }
}

function answerOf(step: Step, telling: Telling): object {
  return step.kind === 'exchange' ? mcpAnswer(step, telling) : callAnswer(step, telling)
}

function mcpAnswer(event: ExchangeEvent, { withContent }: Telling): object {
  const { result, error } = readRpc(event) ?? {}
  const failure = error?.type ?? event.error?.code ?? event.error?.name
  return {
    ...(withContent && result !== undefined ? { result } : {}),
    ...(failure === undefined ? {} : { error: failure }),
    ...openOf(event),
  }
}

function callAnswer(event: CallEvent, { withContent }: Telling): object {
  const { result, error, yields } = event
  const answer = yields === undefined ? result : yields.map(([, , value]) => value)
  return {
    ...(withContent && answer !== undefined && error === undefined ? { result: answer } : {}),
    ...(error === undefined ? {} : { error: withContent ? error : true }),
    ...openOf(event),
  }
}

function openOf(step: Step): object {
  return isSettled(step) ? {} : { open: true }
}

function timesOf(step: Step, { isTimed }: Telling): object {
  if (!isTimed) return {}
  const end = endOf(step)
  return { atMs: step.at, ...(end === undefined ? {} : { tookMs: Math.round((end[1] - step.at) * 1000) / 1000 }) }
}
