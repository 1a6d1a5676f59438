import { ModelQuestions } from '../providers/counted.ts'
import {
  canonicalJson,
  isUnderWay,
  type ModelCall,
  readModelCall,
  type ToolCall,
  type ToolResult,
  toolResultsIn,
} from '../providers/index.ts'
import type { ExchangeEvent } from '../tape/types.ts'
import { type ExecutedCall, type PlacedCall, settledAt } from './placed.ts'

interface Decided {
  readonly tool: ToolCall
  readonly exchange: ExchangeEvent
  /** Whether the response ended: a torn one decided nothing yet. */
  readonly isWhole: boolean
  executed?: ExecutedCall
}

/** Of one decision of a model, by what it says: how often it ran, and how often nothing was seen to run. */
type Ran = ReadonlyMap<string, { readonly ran: number; readonly unseen: number }>

/** Which calls that models asked for were seen to run. */
export function ranCalls(exchanges: readonly ExchangeEvent[], executed: readonly ExecutedCall[]): Ran {
  const decided = decisionsOf(exchanges)
  account(executed, decided)
  const groups = Map.groupBy(decided, said)
  return new Map(
    [...groups].map(([key, group]) => {
      const ran = group.filter((decision) => decision.executed !== undefined).length
      return [key, { ran, unseen: group.length - ran }]
    }),
  )
}

const neverAsked = { ran: 0, unseen: 0 }

function said({ tool: { id = '', name, args } }: Decided): string {
  return `${id} ${name}(${canonicalJson(args)})`
}

/**
 * Joins the calls that ran with those that models asked for: each executed call learns which response asked for it,
 * and decided calls that nothing executed accounts for are added.
 *
 * @param recorded - of a replay: those of its tape. What ran then and is not seen to run now is no call, even where the model hears of a result
 */
export function decidedCalls(
  exchanges: readonly ExchangeEvent[],
  executed: readonly ExecutedCall[],
  { wrapsTools, recorded }: { readonly wrapsTools: boolean; readonly recorded?: () => Ran },
): readonly PlacedCall[] {
  const decided = decisionsOf(exchanges)
  const askedBy = account(executed, decided)
  const ran = executed.map((one, index): PlacedCall => {
    const asked = askedBy.get(one)
    return { ...one, group: one.askedBy ?? asked?.exchange.n ?? -1 - index, ...idOf(asked) }
  })
  const answers = new Answers(exchanges)
  const unseen = new Map<string, number>()
  // In most runs each call that was asked for runs: then the tape is not read again.
  let before: Ran | undefined
  const isLeftOut = (decision: Decided): boolean => {
    if (recorded === undefined) return false
    before ??= recorded()
    const key = said(decision)
    const { ran, unseen: notSeen } = before.get(key) ?? neverAsked
    const count = (unseen.get(key) ?? 0) + 1
    unseen.set(key, count)
    return ran > 0 && count > notSeen
  }
  const only = decided
    .filter((decision) => decision.executed === undefined && !isLeftOut(decision))
    .flatMap((decision) => {
      const answered = answers.to(decision)
      if (answered === undefined && (wrapsTools || !decision.isWhole)) return []
      return [place(decision, answered ?? answers.after(decision))]
    })
  return [...ran, ...only]
}

/** A call that several answers to one question tell of, as the polls of a run do, is one: of the first answer that is whole. */
function decisionsOf(exchanges: readonly ExchangeEvent[]): readonly Decided[] {
  const questions = new ModelQuestions()
  const told = new Map<string, Decided>()
  const decided = new Set<Decided>()
  for (const exchange of exchanges) {
    const call = readModelCall(exchange)
    if (call === undefined) continue
    const question = questions.of(call)
    for (const decision of decisionsIn(exchange, call)) {
      const key = `${question} ${decision.tool.id}`
      const before = decision.tool.id === undefined ? undefined : told.get(key)
      // Within one answer two calls may have the same id, from models that number them.
      const isAgain = before !== undefined && before.exchange !== exchange
      if (isAgain && (before.isWhole || !decision.isWhole)) continue
      if (isAgain) decided.delete(before)
      told.set(key, decision)
      decided.add(decision)
    }
  }
  return [...decided]
}

function decisionsIn(exchange: ExchangeEvent, { response }: ModelCall): readonly Decided[] {
  if (response === undefined) return []
  const hasFinished = response.finish !== undefined && !isUnderWay(response)
  const isWhole = hasFinished || exchange.response?.end !== undefined
  return response.toolCalls.filter(({ builtIn }) => !builtIn).map((tool) => ({ tool, exchange, isWhole }))
}

function place({ tool, exchange }: Decided, answeredBy: number): PlacedCall {
  const { name, args } = tool
  const issued = settledAt(exchange)
  // Half a moment before the request that carries the answer: by then it had settled.
  const settled = answeredBy === Infinity ? Infinity : answeredBy - 0.5
  return {
    call: { name, args, n: exchange.n },
    issued,
    settled: Math.max(settled, issued),
    group: exchange.n,
    ...idOf({ tool }),
  }
}

function idOf(decided: Pick<Decided, 'tool'> | undefined): { readonly id?: string } {
  return decided?.tool.id === undefined ? {} : { id: decided.tool.id }
}

/**
 * Gives each executed call the decided one it ran: same name, issued after the model was asked; same arguments
 * first, then name alone; of several responses the latest, in it the first that is still free.
 */
function account(executed: readonly ExecutedCall[], decided: readonly Decided[]): ReadonlyMap<ExecutedCall, Decided> {
  const found = new Map<ExecutedCall, Decided>()
  for (const level of ['same arguments', 'name'] as const) {
    const waiting = new Map<string, Waiting>()
    for (const decision of decided) {
      if (decision.executed !== undefined) continue
      for (const key of keysOf(decision.tool, level)) {
        const line = waiting.get(key) ?? { decisions: [], arrived: 0, open: [] }
        line.decisions.push(decision)
        waiting.set(key, line)
      }
    }
    for (const call of executed) {
      if (found.has(call)) continue
      const decision = takeLatest(waiting.get(keyOf(call, level)), call.issued)
      if (decision === undefined) continue
      decision.executed = call
      found.set(call, decision)
    }
  }
  return found
}

/** Decided calls of one key in the order of their responses, and those whose response came, by response. */
interface Waiting {
  readonly decisions: Decided[]
  arrived: number
  readonly open: Decided[][]
}

/** The first free decision of the latest response asked for before the call. Asked in order of `issued`: linear. */
function takeLatest(line: Waiting | undefined, issued: number): Decided | undefined {
  if (line === undefined) return undefined
  for (let next = line.decisions[line.arrived]; next !== undefined && next.exchange.n < issued; ) {
    const last = line.open.at(-1)
    if (last?.[0]?.exchange === next.exchange) last.push(next)
    else line.open.push([next])
    next = line.decisions[++line.arrived]
  }
  for (let group = line.open.at(-1); group !== undefined; group = line.open.at(-1)) {
    // A decision stands in the lines of several keys: another one may have taken it.
    const free = group.findIndex(({ executed }) => executed === undefined)
    const [decision] = free === -1 ? [] : group.splice(0, free + 1).slice(-1)
    if (group.length === 0 || decision === undefined) line.open.pop()
    if (decision !== undefined) return decision
  }
  return undefined
}

type Level = 'same arguments' | 'name'

function keyOf({ call, mcp }: ExecutedCall, level: Level): string {
  const key = level === 'name' ? call.name : `${call.name}(${canonicalJson(call.args)})`
  return mcp ? `mcp ${key}` : `wrapped ${key}`
}

/**
 * Frameworks put the server's name before an MCP tool's (`files__read`, `files_read`, `mcp__files__read`): a decided
 * name stands for each of its endings. With a single separator only when the arguments agree as well.
 */
function keysOf({ name, args }: ToolCall, level: Level): readonly string[] {
  const separators = level === 'name' ? /__|[.:/]/g : /__|[._:/-]/g
  const endings = [...name.matchAll(separators)].map(({ index, 0: separator }) => name.slice(index + separator.length))
  const suffix = level === 'name' ? '' : `(${canonicalJson(args)})`
  const mcp = [...new Set([name, ...endings])]
    .filter((ending) => ending !== '')
    .map((ending) => `mcp ${ending}${suffix}`)
  return [`wrapped ${name}${suffix}`, ...mcp]
}

/** Which model request carried the answer to a decided call. */
class Answers {
  readonly #requests: readonly number[]
  /** Per id or name: how many results of it each request carries. */
  readonly #byKey = new Map<string, { readonly request: number; count: number }[]>()

  constructor(exchanges: readonly ExchangeEvent[]) {
    const calls = exchanges.flatMap((exchange) => readModelCall(exchange) ?? [])
    // A look at an answer that is there already is no sign that anything was answered.
    this.#requests = calls.filter(({ isPoll }) => !isPoll).map(({ n }) => n)
    for (const { n, request } of calls) {
      for (const result of toolResultsIn(request)) this.#count(result, n)
    }
  }

  #count({ id, name }: ToolResult, request: number): void {
    const key = id === undefined ? `name ${name ?? ''}` : `id ${id}`
    const counts = this.#byKey.get(key) ?? []
    this.#byKey.set(key, counts)
    const last = counts.at(-1)
    if (last?.request === request) last.count++
    else counts.push({ request, count: 1 })
  }

  /** `n` of the first later request that carries more results of this id (or name) than the asking request did. */
  to({ tool, exchange }: Decided): number | undefined {
    return (
      (tool.id === undefined ? undefined : this.#first(`id ${tool.id}`, exchange.n)) ??
      this.#first(`name ${tool.name}`, exchange.n)
    )
  }

  #first(key: string, asked: number): number | undefined {
    const counts = this.#byKey.get(key) ?? []
    const before = counts.find(({ request }) => request === asked)?.count ?? 0
    return counts.find(({ request, count }) => request > asked && count > before)?.request
  }

  /** `n` of the next model request after a response, or `Infinity`. */
  after({ exchange }: Decided): number {
    const end = settledAt(exchange)
    return this.#requests.find((n) => n > end) ?? Infinity
  }
}
