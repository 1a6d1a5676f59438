import { neutralLine } from '../errors/index.ts'
import { readMcpCall, readModelCall, type ToolCall } from '../providers/index.ts'
import type { CallEvent, ExchangeEvent, Json, Outcome, Step } from '../tape/index.ts'

/** A step in words, for people and for programs. */
export interface StepSummary {
  /** 1-based. */
  readonly number: number
  /** `n` of the event on the tape. */
  readonly n: number
  /** What it was: a model call, an MCP call, another request, or the kind of a wrapped call. */
  readonly kind: 'model' | 'mcp' | 'http' | CallEvent['kind']
  /** Model id, name of the function, or method and address. */
  readonly name: string
  /** What was asked: the last words of the prompt, or the arguments. */
  readonly asked?: string
  /** Tools the model asked for, as `lookup_order(order_id: "A1")`. */
  readonly toolCalls: readonly string[]
  /** What came back: text, a value, or an HTTP status. */
  readonly answer?: string
  readonly error?: string
  /** Milliseconds since the run began. */
  readonly atMs: number
  /** Milliseconds until the answer was complete; absent when it never was. */
  readonly tookMs?: number
  /** `file:line:column` in the agent's code. */
  readonly site?: string
}

/** A step as the tape holds it. Texts are whole and as recorded: whoever prints them makes them neutral. */
export function describeStep(step: Step, number: number): StepSummary {
  const { n, at: atMs, site } = step
  const common = { number, n, atMs, ...(site === undefined ? {} : { site }) }
  return step.kind === 'exchange' ? { ...common, ...exchange(step) } : { ...common, ...call(step) }
}

/** How a run ended, in one line. */
export function describeOutcome(outcome: Outcome): string {
  switch (outcome.status) {
    case 'returned':
      return outcome.value === undefined ? 'returned' : `returned ${compact(outcome.value)}`
    case 'threw':
      return `threw ${compact(outcome.error)}`
    case 'exited':
      return outcome.code === null
        ? `ended by ${neutralLine(outcome.signal ?? 'a signal')}`
        : `exit code ${outcome.code}`
    default:
      return outcome satisfies never
  }
}

/** A value on one line, neutral. */
export function compact(value: Json, max = 100): string {
  return neutralLine(JSON.stringify(value), max)
}

/** `820 ms`, `1.25 s`. */
export function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`
}

type Described = Omit<StepSummary, 'number' | 'n' | 'atMs' | 'site'>

function exchange(event: ExchangeEvent): Described {
  const { method, url, response, error, aborted, at } = event
  const end = response?.end ?? error?.moment ?? aborted
  const common = {
    ...(end === undefined ? {} : { tookMs: end[1] - at }),
    ...(error === undefined ? {} : { error: `${error.name}: ${error.message}` }),
    ...(error === undefined && aborted !== undefined ? { error: 'the client gave up' } : {}),
  }
  const model = readModelCall(event)
  if (model !== undefined) {
    const { request, response: answered } = model
    const asked = lastWords(request.messages)
    const failed = answered?.error === undefined ? {} : { error: answered.error }
    const answer = answered?.text === undefined || answered.text === '' ? {} : { answer: answered.text }
    return {
      kind: 'model',
      name: request.model,
      toolCalls: (answered?.toolCalls ?? []).map(signature),
      ...(asked === '' ? {} : { asked }),
      ...answer,
      ...failed,
      ...common,
    }
  }
  const status = response === undefined ? {} : { answer: `${response.status}` }
  const mcp = readMcpCall(event)
  if (mcp !== undefined)
    return { kind: 'mcp', name: mcp.name, asked: JSON.stringify(mcp.args), toolCalls: [], ...status, ...common }
  return { kind: 'http', name: `${method} ${url}`, toolCalls: [], ...status, ...common }
}

function call({ kind, name, args, result, error, settled, at }: CallEvent): Described {
  return {
    kind,
    name,
    asked: JSON.stringify(args),
    toolCalls: [],
    ...(result === undefined ? {} : { answer: JSON.stringify(result) }),
    ...(error === undefined ? {} : { error: JSON.stringify(error) }),
    ...(settled === undefined ? {} : { tookMs: settled[1] - at }),
  }
}

function signature({ name, args }: ToolCall): string {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return `${name}(${JSON.stringify(args)})`
  return `${name}(${Object.entries(args)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
    .join(', ')})`
}

/** The text of the last message that has any. */
function lastWords(messages: readonly Json[]): string {
  return messages.map(textOf).findLast((text) => text.trim() !== '') ?? ''
}

function textOf(value: Json | undefined): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value))
    return value
      .map(textOf)
      .filter((text) => text !== '')
      .join(' ')
  if (typeof value !== 'object' || value === null) return ''
  const parts = value as { readonly [key: string]: Json }
  return textOf(parts['content'] ?? parts['parts'] ?? parts['text'] ?? parts['output'])
}
