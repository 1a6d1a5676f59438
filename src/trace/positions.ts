import { at, isMap, parseJson, textAt } from '../json/canonical.ts'
import { ModelQuestions } from '../providers/counted.ts'
import { importedModelCall } from '../providers/imported-model-call.ts'
import {
  costOf,
  isUnderWay,
  type ModelCall,
  type PriceTable,
  readModelCall,
  toolResultsIn,
  type Usage,
} from '../providers/index.ts'
import { readRpc } from '../providers/rpc.ts'
import type { Amount, RunPosition } from '../rules/index.ts'
import { namedArgs } from '../tape/present-args.ts'
import { isStep } from '../tape/steps.ts'
import type { CallEvent, ExchangeEvent, Json, Moment, Tape, TapeEvent } from '../tape/types.ts'
import { placedCalls } from './trace-of.ts'

/** A moment before it is put in order and counted up. */
interface Draft extends Omit<RunPosition, 'issued' | 'tokens' | 'cost'> {
  readonly isIssue?: true
  /** Of a model's answer: what to count, and under which question. */
  readonly spent?: Spent
}

/**
 * A run as rules see it: each call and each question to a model when it was issued and when it was answered, what models
 * asked for, messages, marks and the end, in the one order of the tape. Calls of tools that nothing wraps are known from
 * what models asked for and were answered.
 *
 * @param prices - looked in before the list prices, for the cost so far
 */
export function positionsOf(
  { header, events, close }: Pick<Tape, 'header' | 'events' | 'close'>,
  prices: PriceTable = {},
): readonly RunPosition[] {
  const inOrder = [...events].sort((one, other) => one.n - other.n)
  const numbers = new Map(inOrder.filter(isStep).map(({ n }, index) => [n, index + 1]))
  const drafts = [
    ...inOrder.flatMap((event) => [...positionsIn(event, numbers.get(event.n)), ...importedPositions(header, event)]),
    ...decidedPositions(inOrder, numbers),
  ]
  // At one moment an answer comes before what it leads to: sorting keeps the order they were listed in.
  drafts.sort((one, other) => one.n - other.n)
  if (close !== undefined) {
    const { outcome } = close
    const isOver = outcome.status === 'returned'
    drafts.push({
      kind: 'end',
      n: close.n,
      atMs: close.at,
      phase: isOver ? 'ok' : 'fails',
      ...(isOver && outcome.value !== undefined ? { result: outcome.value } : {}),
      ...('error' in outcome ? { error: errorText(outcome.error) } : {}),
    })
  }
  return countedUp(drafts, header.agent, prices)
}

function positionsIn(event: TapeEvent, step: number | undefined): readonly Draft[] {
  switch (event.kind) {
    case 'tool':
    case 'retrieval':
    case 'value':
      return callPositions(event, { step: step! })
    case 'exchange':
      return exchangePositions(event, { step: step! })
    case 'message': {
      const { n, at: atMs, from, to, body } = event
      return [{ kind: 'message', n, atMs, from, to, text: textOf(body) }]
    }
    case 'state':
      // A rule asks of it as of a mark: `mark cart(total > 100)`.
      return [{ kind: 'mark', n: event.n, atMs: event.at, name: event.name, args: event.data }]
    case 'mark': {
      const { n, at: atMs, name, data } = event
      return [{ kind: 'mark', n, atMs, name, ...(data === undefined ? {} : { args: data }) }]
    }
    default:
      return []
  }
}

type Numbered = Pick<RunPosition, 'step'>

function callPositions(
  { n, at: atMs, name, args, settled, sync, result, error }: CallEvent,
  of: Numbered,
): readonly Draft[] {
  const call = { ...of, kind: 'call', name, args: namedArgs(args) } as const
  const issued: Draft = { ...call, n, atMs, phase: 'called', isIssue: true }
  const moment = settled ?? (sync === true ? ([n, atMs] as const) : undefined)
  if (moment === undefined) return [issued]
  const answer =
    error === undefined
      ? { phase: 'ok' as const, ...(result === undefined ? {} : { result }) }
      : { phase: 'fails' as const, error: errorText(error) }
  return [issued, { ...call, ...answered(moment, atMs), ...answer }]
}

function answered([n, at]: Moment, since: number): Pick<Draft, 'n' | 'atMs' | 'tookMs'> {
  return { n, atMs: at, tookMs: at - since }
}

function exchangePositions(event: ExchangeEvent, of: Numbered): readonly Draft[] {
  const model = readModelCall(event)
  if (model !== undefined) return modelPositions(event, model, of)
  const rpc = readRpc(event)
  if (rpc?.tool === undefined) return []
  const { name, args } = rpc.tool
  const call = { ...of, kind: 'call', name, args } as const
  const issued: Draft = { ...call, n: event.n, atMs: event.at, phase: 'called', isIssue: true }
  const end = endOf(event)
  if (end === undefined) return [issued]
  const hasFailed = rpc.error !== undefined || rpc.result === undefined
  const said = rpc.error?.message || (rpc.result === undefined ? event.error?.message : textOf(rpc.result))
  const answer = hasFailed
    ? { phase: 'fails' as const, ...(said === undefined ? {} : { error: said }) }
    : { phase: 'ok' as const, result: plainResult(rpc.result!) }
  return [issued, { ...call, ...answered(end, event.at), ...answer }]
}

/** What an MCP tool answered: its structured content, else its one text, as a value where it is JSON. */
function plainResult(result: Json): Json {
  const structured = at(result, 'structuredContent')
  if (structured !== undefined) return structured
  const content = at(result, 'content')
  const [only, ...more] = Array.isArray(content) ? (content as readonly Json[]) : []
  const text = more.length === 0 ? textAt(only, 'text') : undefined
  return text === undefined ? result : (parseJson(text) ?? text)
}

function modelPositions(
  event: ExchangeEvent,
  { request, response, isPoll, ...call }: ModelCall,
  of: Numbered,
): readonly Draft[] {
  const issued: Draft = { ...of, kind: 'model', n: event.n, atMs: event.at, phase: 'called', isIssue: true }
  const end = endOf(event)
  if (end === undefined) return [issued]
  const hasFailed = response === undefined || response.error !== undefined || (event.response?.status ?? 0) >= 400
  const isRefused = response === undefined || (response.usage === undefined && (event.response?.status ?? 0) >= 400)
  const answer: Draft = {
    ...of,
    kind: 'model',
    ...answered(end, event.at),
    phase: hasFailed ? 'fails' : 'ok',
    ...(response === undefined ? {} : { text: response.text || (response.refusal ?? '') }),
    ...(event.error === undefined ? {} : { error: `${event.error.name}: ${event.error.message}` }),
    ...(isRefused
      ? {}
      : {
          spent: {
            call: { ...call, request },
            models: [request.model, response.model ?? ''],
            usage: response.usage,
            isLater: isPoll === true || isUnderWay(response),
          },
        }),
  }
  const asks = (response?.toolCalls ?? []).map(
    ({ name, args }): Draft => ({ ...of, kind: 'asks', n: end[0], atMs: end[1], name, args }),
  )
  return [issued, answer, ...asks]
}

/** When the agent had the answer: with the last bytes, or with the error. */
function endOf({ response, error, aborted }: ExchangeEvent): Moment | undefined {
  const last = response?.chunks.at(-1)
  return last === undefined ? (response?.end ?? error?.moment ?? aborted) : [last[0], last[1]]
}

/** An imported trace has a mark for each model call, and what the model said as a message. */
function importedPositions(header: Tape['header'], event: TapeEvent): readonly Draft[] {
  const { n, at: atMs } = event
  if (header.imported !== undefined && event.kind === 'message' && event.from === 'model')
    return [{ kind: 'model', n, atMs, phase: 'ok', text: textOf(event.body) }]
  const told = importedModelCall(header, event)
  if (told === undefined) return []
  const { model, answered: by = '', usage, isError } = told
  const spent = isError && usage === undefined ? {} : { spent: { models: [model, by], usage, isLater: false } }
  return [{ kind: 'model', n, atMs, phase: isError ? 'fails' : 'called', ...spent }]
}

/** Calls that models asked for and that nothing recorded ran: their results stand in the next question. */
function decidedPositions(events: readonly TapeEvent[], numbers: ReadonlyMap<number, number>): readonly Draft[] {
  const exchanges = events.filter((event) => event.kind === 'exchange')
  const models = new Map(exchanges.flatMap((event) => (readModelCall(event) === undefined ? [] : [[event.n, event]])))
  const results = new Map<number, Map<string, Json>>()
  return placedCalls(events).flatMap(({ call: { name, args, n }, issued, settled, id }): readonly Draft[] => {
    const asking = models.get(n)
    if (asking === undefined) return []
    const end = endOf(asking)
    const call = { step: numbers.get(n)!, kind: 'call', name, args } as const
    const atMs = end?.[1] ?? asking.at
    const first: Draft = { ...call, n: issued, atMs, phase: 'called', isIssue: true }
    // Half a moment before the question that brings the answer.
    const bringing = settled === Infinity ? undefined : models.get(Math.ceil(settled))
    if (bringing === undefined) return [first]
    const carried = results.get(bringing.n) ?? resultsOf(bringing)
    results.set(bringing.n, carried)
    const result = (id === undefined ? undefined : carried.get(`id ${id}`)) ?? carried.get(`name ${name}`)
    const answer = result === undefined ? {} : { result }
    return [first, { ...call, ...answered([settled, bringing.at], atMs), phase: 'ok', ...answer }]
  })
}

/** Of several results of one id or name, the last: it is the one this question was asked for. */
function resultsOf(exchange: ExchangeEvent): Map<string, Json> {
  const found = new Map<string, Json>()
  for (const { id, name, result } of toolResultsIn(readModelCall(exchange)!.request)) {
    const value = typeof result === 'string' ? (parseJson(result) ?? result) : result
    if (id !== undefined) found.set(`id ${id}`, value)
    if (name !== undefined) found.set(`name ${name}`, value)
  }
  return found
}

interface Spent {
  /** Absent: counted by itself. */
  readonly call?: Pick<ModelCall, 'n' | 'keptAs' | 'moreOf' | 'request'>
  /** Asked and answering. */
  readonly models: readonly string[]
  readonly usage: Usage | undefined
  /** Without usage, a later look brings it. */
  readonly isLater: boolean
}

/** What is used so far; of a question that is answered in several parts, what came last. */
class Sums {
  readonly #questions = new ModelQuestions()
  readonly #tokens = new Map<number, number | undefined>()
  readonly #cost = new Map<number, number | undefined>()

  add({ call, models, usage, isLater }: Spent, n: number, prices: PriceTable): void {
    const question = call === undefined ? n : this.#questions.of(call)
    if (usage === undefined && (isLater || this.#tokens.has(question))) return
    const { inputTokens, outputTokens } = usage ?? {}
    const isKnown = inputTokens !== undefined || outputTokens !== undefined
    this.#tokens.set(question, isKnown ? (inputTokens ?? 0) + (outputTokens ?? 0) : undefined)
    const [cost] = models.flatMap((model) => (model === '' ? [] : (costOf(usage, model, prices) ?? [])))
    this.#cost.set(question, cost)
  }

  get now(): { readonly tokens: Amount; readonly cost: Amount } {
    return { tokens: sumOf(this.#tokens), cost: sumOf(this.#cost) }
  }
}

function sumOf(parts: ReadonlyMap<number, number | undefined>): Amount {
  let known = 0
  let isWhole = true
  for (const part of parts.values()) {
    known += part ?? 0
    isWhole &&= part !== undefined
  }
  return { known, isWhole }
}

function countedUp(drafts: readonly Draft[], agent: string, prices: PriceTable): readonly RunPosition[] {
  const sums = new Sums()
  let issued = 0
  let now = sums.now
  return drafts.map(({ isIssue, spent, ...position }) => {
    if (isIssue) issued++
    if (spent !== undefined) {
      sums.add(spent, position.n, prices)
      now = sums.now
    }
    return { ...position, agent, issued, ...now }
  })
}

/** `TypeError: order is undefined`, where it is a recorded error. */
function errorText(error: Json): string {
  if (!isMap(error) || error['$type'] !== 'error') return textOf(error)
  return `${textAt(error, 'name') ?? 'Error'}: ${textAt(error, 'message') ?? ''}`
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
