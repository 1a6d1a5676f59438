import { neutralLine } from '../errors/index.ts'
import { type ForkResult, stepBehind } from '../fork/index.ts'
import { canonicalJson, readMcpCall, readModelRequest } from '../providers/index.ts'
import { describeEnding } from '../replay/index.ts'
import { siteIn } from '../seam/caller.ts'
import {
  encodeValue,
  isStep,
  type Json,
  outcomeNotCompared,
  type Step,
  stepsOf,
  type Tape,
  type TapeEvent,
} from '../tape/index.ts'
import { matchOutcome } from '../trace/index.ts'
import { isCall } from './answers.ts'
import { kindNamed } from './kinds.ts'
import type { FaultSchedule } from './types.ts'

/**
 * What can become of an agent to whom faults happen, beside what is hoped for.
 *
 * - `crash`: it threw, and not the error of the fault itself
 * - `gave-up`: it threw the error of the fault: it says openly that it could not go on
 * - `hang`: it never answered
 * - `trace`: it called a tool again that had already done what it was asked for, or one that was never called, or it
 *   returned what it returned when recorded without having called a tool that was called then
 * - `outcome`: it returned something else
 * - `off-tape`: it asked for something without a recorded answer; how it would have gone on is unknown
 */
export type FailureClass = 'crash' | 'gave-up' | 'hang' | 'trace' | 'outcome' | 'off-tape'
export const failureClasses: readonly FailureClass[] = ['crash', 'gave-up', 'hang', 'trace', 'outcome', 'off-tape']

/** Giving up openly is no failure, and what is unknown is not one. */
export const defaultFailures: readonly FailureClass[] = ['crash', 'hang', 'trace', 'outcome']

/** How one run ended, and what the agent did, in words. */
export interface RunEnding {
  readonly class: 'survived' | FailureClass
  readonly said: string
}

export interface EndingOptions {
  /** The run without faults. Default: what was recorded. */
  readonly unchanged?: Pick<Tape, 'events'>
  /** What the return value has to hold, as in a case. Default: what was recorded. */
  readonly expected?: Json
  /**
   * What changes nothing and may be done again: names of tools, or method and address of a request; `get_*` stands for
   * many. Default none.
   */
  readonly reads?: readonly string[]
}

/** Says how a run with faults ended. */
export function endingOf(
  run: ForkResult,
  schedule: FaultSchedule,
  { unchanged, expected, reads = [] }: EndingOptions = {},
): RunEnding {
  const { outcome, redactedOutcome, problems, comparison } = run
  const tape = unchanged ?? run.tape
  // What an agent does after it got no answer at all says nothing of what it would have done.
  const left = problems.find(({ code }) => !hangs.has(code))
  if (left !== undefined) {
    const asked = left.facts.where?.['asked'] ?? left.facts.where?.['call'] ?? ''
    return { class: 'off-tape', said: asked === '' ? left.facts.what : `asked for ${neutralLine(asked, 160)}` }
  }
  const wrongCall = repeated(tape, run.events, { reads, isLate: lateIn(run.tape, schedule) })
  if (wrongCall !== undefined) return { class: 'trace', said: wrongCall }
  const [hang] = problems
  if (hang !== undefined) return { class: 'hang', said: hang.facts.what }
  if (outcome.status === 'threw') {
    if (comparison.outcomeEqual) return { class: 'survived', said: 'threw what it threw when recorded' }
    return { class: isOwnError(outcome.error, schedule) ? 'gave-up' : 'crash', said: describeError(run) }
  }
  // A case has values as a person wrote them, or as its tape has them: without secrets.
  const isExpected = (wanted: Json): boolean =>
    [encodeValue(outcome.value), redactedOutcome].some((value) => matchOutcome(wanted, value).equal)
  const isRight = expected === undefined ? comparison.outcomeEqual : isExpected(expected)
  const returned = `returned ${neutralLine(JSON.stringify(redactedOutcome), 160)}`
  if (isRight === null) return { class: 'outcome', said: `${returned}; the outcome was ${outcomeNotCompared}` }
  if (!isRight) return { class: 'outcome', said: returned }
  const leftOut = missing(tape, run.events)
  if (leftOut !== undefined) return { class: 'trace', said: leftOut }
  return { class: 'survived', said: 'returned what is expected' }
}

const hangs = new Set(['HARVEST_AGENT_TIMEOUT', 'HARVEST_RUN_ABORTED', 'HARVEST_CLOCK_SPIN'])

/** Something that was done more often than recorded, or by a tool that is not on the tape at all. */
function repeated(
  tape: Pick<Tape, 'events'>,
  events: readonly TapeEvent[],
  { reads, isLate }: { readonly reads: readonly string[]; isLate(step: Step): boolean },
): string | undefined {
  const before = effectsIn(tape.events)
  const known = new Set([...before.values()].flatMap(({ name, isTool }) => (isTool ? [name] : [])))
  for (const [effect, { count, name, isTool }] of effectsIn(events, isLate)) {
    if (known.size > 0 && isTool && !known.has(name))
      return `called ${neutralLine(name)}, which was never called when recorded`
    if (reads.some((read) => isNamed(name, read))) continue
    const recorded = before.get(effect)?.count ?? 0
    if (recorded > 0 && count > recorded)
      return `did ${neutralLine(effect, 160)} ${count} times, and ${recorded} when recorded`
  }
  return undefined
}

function isNamed(name: string, read: string): boolean {
  return read.endsWith('*') ? name.startsWith(read.slice(0, -1)) : name === read
}

function missing(tape: Pick<Tape, 'events'>, events: readonly TapeEvent[]): string | undefined {
  const now = effectsIn(events)
  for (const [effect, { isTool }] of effectsIn(tape.events))
    if (isTool && !now.has(effect)) return `returned the same, but never got an answer from ${neutralLine(effect, 160)}`
  return undefined
}

/** Something that was done for the agent. */
interface Effect {
  /** Of the tool, or method and address. */
  readonly name: string
  /** All of it, for people and to know it again. */
  readonly said: string
  readonly isTool: boolean
  /** Of all requests with this one, a service does the first. */
  readonly key?: string
}

/** Steps whose answer a schedule only delays: what an agent gives up waiting for is done all the same. */
function lateIn(tape: Pick<Tape, 'events'>, schedule: FaultSchedule): (step: Step) => boolean {
  const steps = stepsOf(tape)
  const late = new Set(schedule.filter(({ kind }) => isAnswered(kind)).map(({ step }) => steps[step - 1]))
  return (step) => late.has(stepBehind(step) ?? step)
}

function isAnswered(name: string): boolean {
  const kind = kindNamed(name)
  return kind.changes === 'answer' && kind.answers === true
}

/**
 * What was done, and how often each: calls that were answered and did not fail.
 *
 * @param isLate - whether the answer to a step was still to come when the agent gave it up. Default: it never was
 */
function effectsIn(
  events: readonly TapeEvent[],
  isLate: (step: Step) => boolean = () => false,
): ReadonlyMap<string, Effect & { readonly count: number }> {
  const effects = new Map<string, Effect & { readonly count: number }>()
  const once = new Set<string>()
  for (const event of events) {
    const effect = isStep(event) ? effectOf(event, isLate(event)) : undefined
    if (effect?.key !== undefined) {
      const place = `${effect.key} ${effect.said}`
      if (once.has(place)) continue
      once.add(place)
    }
    if (effect !== undefined) effects.set(effect.said, { ...effect, count: (effects.get(effect.said)?.count ?? 0) + 1 })
  }
  return effects
}

/** What a step did; `undefined` when it failed, or only asked: a model, a retriever, an address with GET. */
function effectOf(step: Step, isLate: boolean): Effect | undefined {
  // What happened inside a wrapped call is part of it.
  if (step.in !== undefined) return undefined
  if (isCall(step)) {
    const { kind, name, args, error, result } = step
    const isDone = error === undefined && (result !== undefined || isLate)
    return kind === 'tool' && isDone ? toolEffect(name, args) : undefined
  }
  const { response, error, aborted } = step
  const isToCome = isLate && response === undefined && (error === undefined || aborted !== undefined)
  if (!isToCome && (response === undefined || response.status >= 400)) return undefined
  const called = readMcpCall(step)
  if (called !== undefined) return toolEffect(called.name, called.args)
  const { method, url, request } = step
  const asksOnly = ['GET', 'HEAD', 'OPTIONS'].includes(method) || step.via === 'stdio'
  const body = typeof request.body === 'string' ? request.body : ''
  if (asksOnly || readModelRequest({ method, url, body }) !== undefined) return undefined
  const [, key] = request.headers.find(([name]) => /^(?:x-)?idempotency-key$/i.test(name)) ?? []
  return {
    name: `${method} ${url}`,
    said: `${method} ${url} ${body}`.trimEnd(),
    isTool: false,
    ...(key === undefined ? {} : { key }),
  }
}

function toolEffect(name: string, args: Json): Effect {
  return { name, said: `${name}(${canonicalJson(args)})`, isTool: true }
}

/** Whether an error, or one it was caused by, tells of a fault that was made. */
function isOwnError(error: unknown, schedule: FaultSchedule): boolean {
  const tells = new Set(schedule.flatMap(({ kind }) => kindNamed(kind).tells ?? []))
  return [...chainOf(error)].some((one) => [...tells].some((word) => isTold(one, word)))
}

function isTold(error: object, word: string | number): boolean {
  const { status, statusCode, code, name, message } = error as Readonly<Record<string, unknown>>
  const type = error.constructor.name
  if ([status, statusCode, code, name, type].includes(word)) return true
  return typeof word === 'string' && typeof message === 'string' && message.includes(word)
}

/** An error, its causes, and those of lists of errors; ten at most, for they can lead in circles. */
function* chainOf(error: unknown): Generator<object> {
  const waiting: unknown[] = [error]
  for (let seen = 0; seen < 10 && waiting.length > 0; seen++) {
    const one = waiting.shift()
    if (typeof one !== 'object' || one === null) continue
    yield one
    const { cause, errors } = one as { readonly cause?: unknown; readonly errors?: unknown }
    waiting.push(cause, ...(Array.isArray(errors) ? (errors as unknown[]) : []))
  }
}

function describeError(run: ForkResult): string {
  const { outcome } = run
  const site = outcome.status === 'threw' && outcome.error instanceof Error ? siteIn(outcome.error) : undefined
  return `${neutralLine(describeEnding(run), 166)}${site === undefined ? '' : ` at ${neutralLine(site)}`}`
}
