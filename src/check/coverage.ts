import type { Case } from '../cases/index.ts'
import { isMap } from '../json/canonical.ts'
import { readModelCall, toolNames } from '../providers/index.ts'
import type { Tape } from '../tape/index.ts'
import { placedCalls, traceOf } from '../trace/index.ts'

/** A case with what it makes its agent do. */
export interface CoveredCase {
  readonly id: string
  readonly file: string
  readonly agent: string
  /** Calls, what follows what, decisions of models, services, how it ends, rules: one text each. */
  readonly does: ReadonlySet<string>
  /** Tools its models were offered. */
  readonly offered: ReadonlySet<string>
  /** Tools that were called, or asked for by a model. */
  readonly called: ReadonlySet<string>
  /** It guards one incident, with its values: no other case stands for it. */
  readonly isIncident: boolean
}

/** Reads what a case makes its agent do. Values of arguments do not count, their names do. */
export function coverageOf(kase: Case, { events, close }: Tape): CoveredCase {
  const { layers } = traceOf(events)
  const names = layers.map((layer) => layer.map(({ name }) => name))
  const calls = layers
    .flat()
    .map(({ name, args }) => `call ${name}(${isMap(args) ? Object.keys(args).sort().join() : ''})`)
  const follows = [['start'], ...names, ['end']].flatMap((layer, at, all) =>
    (all[at + 1] ?? []).flatMap((next) => layer.map((name) => `${name} before ${next}`)),
  )
  const exchanges = events.flatMap((event) =>
    event.kind === 'exchange' ? [{ event, model: readModelCall(event) }] : [],
  )
  const models = exchanges.flatMap(({ model }) => model ?? [])
  const decided = models.map(({ response }) => (response?.toolCalls ?? []).map(({ name }) => name))
  const decisions = decided.map((now, at) => {
    const before = at === 0 ? 'start' : (decided[at - 1] ?? []).join('+') || 'text'
    return `decides ${now.join('+') || 'text'} after ${before}`
  })
  const failures = events.flatMap((event) =>
    event.kind === 'tool' && event.error !== undefined ? [`${event.name} throws`] : [],
  )
  const services = exchanges
    .filter(({ model }) => model === undefined)
    .map(({ event: { method, url, response } }) => {
      return `${method} ${URL.parse(url)?.host ?? ''} answers ${response?.status ?? 'nothing'}`
    })
  const { lesson, history, oracle, ok, bad, rules = [], expect } = kase
  return {
    id: kase.id,
    file: kase.file,
    agent: kase.agent,
    does: new Set([
      `expect ${expect}`,
      ...calls,
      ...follows,
      ...decisions,
      ...failures,
      ...services,
      ...rules.map((rule) => `rule ${rule}`),
      ending(close),
    ]),
    offered: new Set(models.flatMap(({ request }) => request.tools.flatMap(toolNames))),
    called: new Set([...decided.flat(), ...placedCalls(events).map(({ call }) => call.name)]),
    isIncident: expect === 'fail' || [lesson, history, oracle, ok, bad].some((one) => one !== undefined),
  }
}

function ending(close: Tape['close']): string {
  const { outcome } = close ?? {}
  if (outcome?.status === 'returned')
    return `returns ${isMap(outcome.value) ? Object.keys(outcome.value).sort().join() : typeof outcome.value}`
  return `ends ${outcome?.status ?? 'unknown'}`
}

/** A case all of whose doing others do. */
export interface RedundantCase {
  readonly id: string
  readonly file: string
  /** Ids of the fewest other cases that do it, as far as a greedy search finds them. */
  readonly coveredBy: readonly string[]
}

/** Cases that can all go together: those that stay still do everything. The smallest go first. */
export function redundantCases(cases: readonly CoveredCase[]): readonly RedundantCase[] {
  return [...Map.groupBy(cases, ({ agent }) => agent).values()].flatMap((own) => {
    const order = own
      .filter(({ isIncident }) => !isIncident)
      .sort((a, b) => a.does.size - b.does.size || (a.id < b.id ? 1 : -1))
    const stay = new Set(own)
    for (const one of order) {
      stay.delete(one)
      if (!isCovered(one, [...stay])) stay.add(one)
    }
    return order
      .filter((one) => !stay.has(one))
      .map((one) => ({ id: one.id, file: one.file, coveredBy: coverOf(one, [...stay]) }))
  })
}

function isCovered({ does }: CoveredCase, others: readonly CoveredCase[]): boolean {
  return [...does].every((thing) => others.some((other) => other.does.has(thing)))
}

function coverOf(one: CoveredCase, others: readonly CoveredCase[]): readonly string[] {
  const left = new Set(one.does)
  const chosen: string[] = []
  const share = (other: CoveredCase): number => [...left].filter((thing) => other.does.has(thing)).length
  while (left.size > 0) {
    const best = others.reduce((most, other) => (share(other) > share(most) ? other : most))
    for (const thing of best.does) left.delete(thing)
    chosen.push(best.id)
  }
  return chosen
}

/** A tool that no case exercises. */
export interface IdleTool {
  readonly agent: string
  readonly tool: string
  /** Cases whose models were offered it. */
  readonly offeredIn: number
  /** Tapes of the inbox that call it. */
  readonly calledInInbox: number
}

/** Tools that models were offered in a case, or that production called, and that no case of the agent calls. */
export function idleTools(
  cases: readonly CoveredCase[],
  inbox: readonly { readonly agent?: string; readonly tools: readonly string[] }[],
): readonly IdleTool[] {
  const agents = [...new Set(cases.map(({ agent }) => agent))].sort()
  return agents.flatMap((agent) => {
    const own = cases.filter((one) => one.agent === agent)
    const fresh = inbox.filter((tape) => tape.agent === agent)
    const called = new Set(own.flatMap((one) => [...one.called]))
    const known = new Set([...own.flatMap((one) => [...one.offered]), ...fresh.flatMap(({ tools }) => tools)])
    return [...known]
      .filter((tool) => !called.has(tool))
      .sort()
      .map((tool) => ({
        agent,
        tool,
        offeredIn: own.filter(({ offered }) => offered.has(tool)).length,
        calledInInbox: fresh.filter(({ tools }) => tools.includes(tool)).length,
      }))
  })
}
