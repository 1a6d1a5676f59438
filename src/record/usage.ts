import {
  costOf,
  isPriced,
  isUnderWay,
  NamesToFind,
  onlyModelNamed,
  type ModelResponse,
  type PriceTable,
  readMcpCall,
  readModelCall,
  reportedUsage,
  type Usage,
  type UsageSource,
} from '../providers/index.ts'
import type { ExchangeEvent } from '../tape/index.ts'

/** What one exchange used and asked for. */
export interface Metered {
  /** Of a model call: the model the agent named, or the one that answered. */
  readonly model?: string
  readonly usage?: Usage
  readonly costUsd?: number
  /** Names of tools the model asked for, or the tool an MCP server was asked to run. */
  readonly tools: readonly string[]
  /** What an answered model call did not tell: its tokens, or what its model costs. */
  readonly missing?: 'tokens' | 'price'
  /** Id of the answer, where the provider keeps it. */
  readonly keptAs?: string
  /** Id of an answer asked for before, of which this tells more: its tokens count once. */
  readonly moreOf?: string
  /** Nothing was asked: an answer that is kept was looked at. */
  readonly isPoll?: true
  /** The provider is still at it: the tokens are reported later. */
  readonly isUnderWay?: true
}

/**
 * Reads an exchange for what it used.
 *
 * The only module of this room that reads providers. It is loaded when an option needs it, so that a recorder without
 * budget, outliers and watch list does not pay for it; see `load-meter.ts`.
 *
 * @returns `undefined` when the exchange is neither a model call nor a call of an MCP tool
 */
export function meter(event: ExchangeEvent, prices: PriceTable | undefined): Metered | undefined {
  const mcp = readMcpCall(event)
  if (mcp !== undefined) return { tools: [mcp.name] }
  const call = countsOnly.test(event.url) ? undefined : readModelCall(event)
  if (call === undefined) return undefined
  const { request, response, keptAs, moreOf, isPoll } = call
  const model = request.model || response?.model || 'unknown'
  const tools = response?.toolCalls.map(({ name }) => name) ?? []
  const usage = response?.usage
  const kept = { ...(keptAs && { keptAs }), ...(moreOf && { moreOf }), ...(isPoll && { isPoll }) }
  const about = { model, tools, ...kept }
  if (usage === undefined) {
    const isLater = keptAs !== undefined && response !== undefined && willTellMore(response)
    if (isLater) return { ...about, isUnderWay: true }
    return { ...about, ...(isRefused(event) || isPoll ? {} : { missing: 'tokens' }) }
  }
  const costUsd = costOf(usage, model, prices) ?? (response?.model && costOf(usage, response.model, prices))
  return { ...about, usage, ...(typeof costUsd === 'number' ? { costUsd } : { missing: 'price' as const }) }
}

/** An exchange as it was heard, of a run that is not written. */
export interface HeardExchange extends UsageSource {
  asHeard(): ExchangeEvent
}

/** As {@link meter}, of what was only heard: no more of it is read than it takes. */
export type HeardMeter = (heard: HeardExchange) => Metered | undefined

/** @param tools - names of those that matter; of others, not all may be named */
export function heardMeter(prices: PriceTable | undefined, tools: Iterable<string>): HeardMeter {
  const names = new NamesToFind(tools)
  return (heard) => {
    const reported = reportedUsage(heard, names)
    if (reported === undefined) return meter(heard.asHeard(), prices)
    const { model, usage } = reported
    const costUsd = costOf(usage, model, prices)
    if (costUsd !== undefined) return { model, usage, tools: none, costUsd }
    // The model that answered may have a price where the one that was asked for has none.
    const answeredBy = onlyModelNamed(heard.got)
    const mayBePriced = answeredBy === undefined || isPriced(answeredBy, prices)
    return mayBePriced ? meter(heard.asHeard(), prices) : { model, usage, tools: none, missing: 'price' }
  }
}

const none: readonly string[] = []

/** A run that waits for its tools tells what it used when it has ended. */
function willTellMore(response: ModelResponse): boolean {
  return isUnderWay(response) || response.finish === 'requires_action'
}

/** Endpoints that count the tokens of a call which is not made. */
const countsOnly = /\/count_tokens(?:\?|$)|\/input_tokens(?:\?|$)|:countTokens(?:\?|$)/

/** Not answered at all, or with an error: nothing was used. What broke off half way used an unknown amount. */
function isRefused({ response }: ExchangeEvent): boolean {
  return response === undefined || response.status >= 400
}
