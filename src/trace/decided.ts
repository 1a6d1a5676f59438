import { canonicalJson, readModelCall, type ToolCall, type ToolResult, toolResultsIn } from '../providers/index.ts'
import type { ExchangeEvent } from '../tape/types.ts'
import { type ExecutedCall, type PlacedCall, settledAt } from './trace-of.ts'

interface Decided {
  readonly tool: ToolCall
  readonly exchange: ExchangeEvent
  /** Whether the response came to its end: a torn one decided nothing yet. */
  readonly isWhole: boolean
  executed?: ExecutedCall
}

/**
 * Joins the calls that ran with those that models asked for: each executed call learns which response asked for it,
 * and decided calls that nothing executed accounts for are added.
 */
export function decidedCalls(
  exchanges: readonly ExchangeEvent[],
  executed: readonly ExecutedCall[],
  wrapsTools: boolean,
): readonly PlacedCall[] {
  const decided = exchanges.flatMap(decisionsOf)
  const askedBy = account(executed, decided)
  const ran = executed.map((call, index) => ({ ...call, group: askedBy.get(call)?.exchange.n ?? -1 - index }))
  const answers = new Answers(exchanges)
  const only = decided
    .filter((decision) => decision.executed === undefined)
    .flatMap((decision) => {
      const answered = answers.to(decision)
      if (answered === undefined && (wrapsTools || !decision.isWhole)) return []
      return [place(decision, answered ?? answers.after(decision))]
    })
  return [...ran, ...only]
}

function decisionsOf(exchange: ExchangeEvent): readonly Decided[] {
  const response = readModelCall(exchange)?.response
  if (response === undefined) return []
  const isWhole = response.finish !== undefined || exchange.response?.end !== undefined
  return response.toolCalls.filter(({ builtIn }) => !builtIn).map((tool) => ({ tool, exchange, isWhole }))
}

function place({ tool, exchange }: Decided, answeredBy: number): PlacedCall {
  const { name, args } = tool
  const issued = settledAt(exchange)
  // Half a moment before the request that carries the answer: by then it had settled.
  const settled = answeredBy === Infinity ? Infinity : answeredBy - 0.5
  return { call: { name, args, n: exchange.n }, issued, settled: Math.max(settled, issued), group: exchange.n }
}

/**
 * Gives each executed call the decided one it ran: same name, issued after the model was asked; same arguments
 * first, then name alone; of several, the latest that is still free.
 */
function account(executed: readonly ExecutedCall[], decided: readonly Decided[]): ReadonlyMap<ExecutedCall, Decided> {
  const found = new Map<ExecutedCall, Decided>()
  for (const level of ['same arguments', 'name'] as const) {
    const free = new Map<string, Decided[]>()
    for (const decision of decided) {
      if (decision.executed !== undefined) continue
      for (const key of keysOf(decision.tool, level)) free.set(key, [...(free.get(key) ?? []), decision])
    }
    for (const call of executed) {
      if (found.has(call)) continue
      const candidates = free.get(keyOf(call, level)) ?? []
      const decision = latestFree(candidates, call.issued)
      if (decision === undefined) continue
      decision.executed = call
      found.set(call, decision)
    }
  }
  return found
}

/** The latest response before the call that still has a free one; in it, the first. */
function latestFree(candidates: readonly Decided[], issued: number): Decided | undefined {
  const last = candidates.findLast(({ exchange, executed }) => executed === undefined && exchange.n < issued)
  return candidates.find(({ exchange, executed }) => executed === undefined && exchange === last?.exchange)
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
  const mcp = [...new Set([name, ...endings])].filter((ending) => ending !== '').map((ending) => `mcp ${ending}${suffix}`)
  return [`wrapped ${name}${suffix}`, ...mcp]
}

/** Which model request carried the answer to a decided call. */
class Answers {
  readonly #requests: readonly number[]
  /** Per id or name: how many results of it each request carries. */
  readonly #byKey = new Map<string, { readonly request: number; count: number }[]>()

  constructor(exchanges: readonly ExchangeEvent[]) {
    const calls = exchanges.flatMap((exchange) => readModelCall(exchange) ?? [])
    this.#requests = calls.map(({ n }) => n)
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
    return (tool.id === undefined ? undefined : this.#first(`id ${tool.id}`, exchange.n)) ?? this.#first(`name ${tool.name}`, exchange.n)
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
