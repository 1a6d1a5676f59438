import { anything, checkOptions, oneOf, type OptionShape, type OptionsOf } from '../errors/options.ts'
import { requireNoSlowRule } from '../privacy/index.ts'
import { canonicalJson } from '../providers/index.ts'
import {
  agentRan,
  closeIdleConnections,
  currentWork,
  forgetRuns,
  installInterceptors,
  refusalOfLoaded,
  watchOutside,
} from '../seam/intercept/index.ts'
import { isAsyncGenerator, isUnreadResponse } from '../seam/shape.ts'
import { seamState } from '../seam/source.ts'
import { requireGrade } from '../tape/grade.ts'
import { encodeFor, encodeValue, keepBody, type Json, type Outcome, type Tape } from '../tape/index.ts'
import { presentValue } from '../tape/present.ts'
import { checkDrift } from '../match/drift-option.ts'
import { checkHosts } from '../match/hosts-option.ts'
import * as problem from '../playback/problems.ts'
import { outsideAnswers } from './outside-answers.ts'
import { withRecordedParts } from './hidden-parts.ts'
import { lastTurns } from './last-turns.ts'
import { lateTurns } from './late-timers.ts'
import { ReplayRun, type RunSettings } from './run.ts'
import { isSameError } from './same-error.ts'
import { isRefusal } from './run-body.ts'
import { readYields } from './yields.ts'
import { linkTimeOut } from './time-out.ts'
import { type ReplayOptions, type ReplayResult, type RunOutcome, matchLevels } from '../match/types.ts'

/** Takes over clock, network, children and random sources for replayed runs. Call before agent code is loaded. */
export async function installReplay(): Promise<void> {
  installInterceptors()
  await Promise.resolve()
}

/**
 * Runs an agent from a tape: every answer it gets is the recorded one, in recorded order, on a virtual clock.
 *
 * Never throws for what the agent or the tape did: the result says it. Nothing leaves the process.
 *
 * @param agent - called with the recorded input
 * @throws HarvestError `HARVEST_REPLAY_OPTION` for an option or mode this version does not know, `HARVEST_TAPE_GRADE`
 */
export async function replayTape<T>(
  tape: Tape,
  agent: (input: unknown) => T | PromiseLike<T>,
  options: ReplayOptions = {},
): Promise<ReplayResult<T>> {
  checkReplayOptions(options)
  requireGrade(tape.header, options.strict ? 'verify' : 'replay')
  installInterceptors()
  closeIdleConnections()
  const ended = Promise.withResolvers<never>()
  const run = new ReplayRun(tape, options as RunSettings, (error) => ended.reject(error))
  const abort = (): void =>
    void run.giveUp(problem.givenUp(run.place(), options.signal?.reason, undefined, run.awaited))
  if (options.signal?.aborted) abort()
  else options.signal?.addEventListener('abort', abort, { once: true })
  const unwatch = watchOutside(Object.assign(run.root, { answers: outsideAnswers(tape, run) }))
  const refused = refusalOfLoaded(run.root)
  const outcome = await Promise.race([refused ? Promise.reject(refused) : attempt(run, agent), ended.promise]).then(
    (value): RunOutcome<T> => ({ status: 'returned', value }),
    (error: unknown): RunOutcome<T> => ({ status: 'threw', error }),
  )
  await letEnd(run, () => run.lostAwaits.hasThrown && run.isWaitedFor)
  await run.begun.askAll()
  // While it is still watched: what it started while it loaded belongs to no run.
  currentWork()?.end()
  unwatch()
  for (const name of agentRan()) run.passedOver(name)
  options.signal?.removeEventListener('abort', abort)
  if (outcome.status === 'threw') linkTimeOut(run, outcome.error)
  run.finish()
  run.conclude(isOwnError(run, outcome))
  // What it makes of it later is no part of what it returned: the recorder did not wait for that either.
  const end = endOfRun(run, outcome)
  const before = textOf(run, outcome)
  if ((options as RunSettings).late) await run.late.timers.fire(run)
  else await lastTurns(run, lateTurns)
  if (run.input.given.isChangedLate) run.late.changed('input')
  if (textOf(run, outcome) !== before) run.late.changed('return value')
  run.judgeLate()
  forgetRuns((other) => other.over)
  return resultOf(run, outcome, end)
}

/** Whether the agent threw where it returned when recorded, and not for what the replay refused. */
function isOwnError({ tape }: ReplayRun, outcome: RunOutcome): boolean {
  return outcome.status === 'threw' && tape.close?.outcome.status === 'returned' && !isRefusal(outcome.error)
}

/** How a run ended, as it was then. */
interface EndOfRun {
  readonly isEqual: boolean | null
  readonly redacted: Json
}

function endOfRun(run: ReplayRun, outcome: RunOutcome): EndOfRun {
  const recorded = run.tape.close?.outcome
  const encode = (value: unknown): Json => run.encodeAs(value, () => endOf(recorded), run.encodeEnd(value))
  return encodedEnd(run, outcome, compareOutcome(encode, recorded, outcome))
}

/** @param isEqual - whether it ended as recorded; `null`: that is unknown */
export function encodedEnd(run: ReplayRun, outcome: RunOutcome, isEqual: boolean | null): EndOfRun {
  const encode = (): Json => run.encodeEnd(outcomeOf(outcome))
  run.compareValues(undefined, undefined, () => ({ outcome: encode() }))
  return { isEqual, redacted: encode() }
}

function textOf({ tape }: ReplayRun, outcome: RunOutcome): string {
  return JSON.stringify(encodeFor(tape.header.flags, outcomeOf(outcome)))
}

async function attempt<T>(run: ReplayRun, agent: (input: unknown) => T | PromiseLike<T>): Promise<T> {
  const given = run.input.forAgent(agent)
  run.gate.kick()
  const value = await seamState().runs.run(run.root, async () => {
    try {
      return await answerOf(run, () => agent(given))
    } finally {
      run.input.given.ended()
    }
  })
  await run.bodiesEnded()
  await letEnd(run, () => run.isWaitedFor)
  return value
}

async function answerOf<T>(run: ReplayRun, agent: () => T | PromiseLike<T>): Promise<T> {
  let returned: T
  try {
    returned = await agent()
  } catch (error) {
    run.lostAwaits.threw(run.gate)
    throw error
  }
  if (isUnreadResponse(returned)) return readOut(returned)
  run.hasYielded = isAsyncGenerator(returned)
  const value = run.hasYielded ? await readOut(returned, run.tape.close?.outcome) : returned
  run.lostAwaits.returned(run.gate)
  return value
}

/**
 * What the agent returned, a response with its body read and an async generator with its pieces: a recorded run ends when that was
 * read, and so do all others. A response is made again, for a body can be read only once.
 */
export async function readOut<T>(value: T, recorded?: Outcome): Promise<T> {
  if (isAsyncGenerator(value)) return (await readYields(value, recorded)) as T
  if (!isUnreadResponse(value)) return value
  const body = await value.arrayBuffer()
  const again = new Response(body, value)
  keepBody(again, new Uint8Array(body))
  return again as T
}

/** Requests made just before the answer are still on their way to the interceptors, or their bodies are: they are part of the run. */
async function letEnd(run: ReplayRun, isDue = (): boolean => false): Promise<void> {
  run.gate.ends()
  await lastTurns(run, 20, () => isDue() || !run.begun.isEmpty)
}

/** What the recorded run returned or threw. */
function endOf(outcome: Outcome | undefined): readonly Json[] {
  if (outcome?.status === 'threw') return [outcome.error]
  return outcome?.status === 'returned' && outcome.value !== undefined ? [outcome.value] : []
}

/** What there is to say about a run that is over. */
export function resultOf<T>(run: ReplayRun, outcome: RunOutcome<T>, end: EndOfRun): ReplayResult<T> {
  const { gate, draws, tape } = run
  const { isEqual: outcomeEqual, redacted: redactedOutcome } = end
  requireNoSlowRule(tape)
  if (outcomeEqual === true) run.noteHidden(run.hidden.ofOutcome(outcome))
  // What left out a step left out its headers too.
  if (run.problems.length === 0 && run.unused.length === 0) run.notCompared.push(...run.hidden.headerNames())
  run.notCompared.push(...run.hidden.order(run.steps.length))
  run.notCompared.push(...run.hidden.statesOf(run.states.notHeld))
  if (run.hasYielded) run.notCompared.push(...run.hidden.orderOfPieces(run.steps))
  run.notCompared.push(...run.hidden.ofShared(run.shared))
  run.notCompared.push(...run.reads.notCompared(run.steps))
  const shared = run.allShared()
  const states = run.states.changed(run.ran)
  return {
    tape,
    outcome,
    problems: run.problems,
    drift: run.changes.together(run.drift),
    escapes: run.outside.escapes,
    listed: run.outside.listed,
    unused: run.unused.map((step) => step.event),
    transcoded: run.transcoded,
    ...(shared.length === 0 ? {} : { shared }),
    ranForReal: [...new Set(run.ranForReal)],
    notCompared: run.notCompared,
    ...(run.notRevived.length === 0 ? {} : { notRevived: run.notRevived }),
    ...(run.refused.length === 0 ? {} : { unanswered: run.refused }),
    events: run.events,
    redactedOutcome,
    ...(states.length > 0 && { states }),
    comparison: {
      recorded: run.steps.length,
      served: run.steps.filter((step) => step.served).length,
      covered: run.steps.filter((step) => step.taken && !step.served).length,
      identical: run.identical,
      deliveries: gate.deliveries,
      relaxed: gate.relaxed,
      timersFired: gate.timersFired,
      drawsServed: draws.served,
      drawsMissed: draws.missed,
      outcomeEqual,
      messages: run.messages.compared(run.ran),
      marks: run.marks.compared(run.ran),
      states: run.states.compared(run.ran),
    },
  }
}

function outcomeOf(outcome: RunOutcome): unknown {
  return outcome.status === 'returned' ? outcome.value : outcome.error
}

/** Whether a run ended as recorded; `null` where it is unknown how the recorded one ended. */
export function compareOutcome(
  encode: (value: unknown) => Json,
  recorded: Outcome | undefined,
  live: RunOutcome,
): boolean | null {
  if (recorded?.status === 'unknown') return null
  return recorded !== undefined && isSameOutcome(encode, recorded, live)
}

/** Whether a run ended as recorded. */
export function isSameOutcome(encode: (value: unknown) => Json, recorded: Outcome, live: RunOutcome): boolean {
  if (recorded.status !== live.status) return false
  if (live.status === 'returned') {
    if (recorded.status !== 'returned') return false
    // `null` is a value: of old tapes alone, one that has none returned `undefined`.
    const { value = encodeValue(undefined) } = recorded
    const now = withRecordedParts(value, encode(live.value))
    return canonicalJson(presentValue(value)) === canonicalJson(presentValue(now))
  }
  return recorded.status === 'threw' && isSameError(recorded.error, encode(live.error))
}

const replayOptions: OptionsOf = { owner: 'replay', code: 'HARVEST_REPLAY_OPTION' }
const shape: OptionShape = {
  drift: anything,
  redacted: oneOf(['report', 'fail']),
  escapes: oneOf(['error', 'report']),
  serve: oneOf(matchLevels),
  ...among('signal', 'constants', 'allow', 'hosts', 'strict', 'messages', 'marks', 'states', 'tools'),
}
/** Options of our own callers, which no message names. */
const inner = among('hangMs', 'ungated', 'sites', 'late', 'onAsked', 'onSent', 'onDrift', 'before')

function among(...names: readonly string[]): OptionShape {
  return Object.fromEntries(names.map((name) => [name, anything]))
}

function checkReplayOptions(options: ReplayOptions): void {
  const named = Object.fromEntries(Object.entries(options).filter(([name]) => !Object.hasOwn(inner, name)))
  checkOptions(replayOptions, named, shape)
  checkHosts(replayOptions, options.hosts)
  checkDrift(replayOptions, options.drift)
}
