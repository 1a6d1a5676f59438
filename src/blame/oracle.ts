// Over 300 lines: every way to grade a run, beside each other.
import { type Case, expectedError, factsOfError } from '../cases/index.ts'
import { type ErrorFacts, HarvestError } from '../errors/index.ts'
import { isOpen, isUnreached, keptWaiting, unreachedFacts, unreachedIn } from '../live/unreached.ts'
import { isSameOutcome } from '../replay/replay.ts'
import type { RunOutcome } from '../match/types.ts'
import {
  type CallEvent,
  decodeValue,
  encodeFor,
  encodeValue,
  type Json,
  type Tape,
  type TapeClose,
  type TapeEvent,
} from '../tape/index.ts'
import { compareTraces, matchOutcome, positionsOf, traceOf } from '../trace/index.ts'
import { presentArgs } from '../tape/present.ts'
import { redactorForMessages, thrownText } from '../match/redact-message.ts'
import { type Expectation, isOfCall } from './expectation.ts'
import { waysToName } from './ways-to-name.ts'
import { type Grade, isGraded } from './types.ts'

/** What is known of a run that is to be graded. */
export interface GradedRun {
  readonly tape: Tape
  readonly outcome: RunOutcome
  readonly events: readonly TapeEvent[]
  /** Errors of the run itself, first one first. */
  readonly problems: readonly HarvestError[]
  /** As in `ReplayResult`. */
  readonly leftAt?: number
  readonly waitsForModel?: true
  /** Its time was up before it had answered. */
  readonly isTimedOut?: boolean
}

/** What is known of a run whose end says nothing. */
export type RunWithoutEnd = Pick<GradedRun, 'events' | 'leftAt' | 'tape'>

/** A run as a function that grades sees it. */
export interface OracleRun {
  /** What the agent returned. */
  readonly value?: unknown
  /** What it threw. */
  readonly error?: unknown
  /** Tool calls, wrapped or to MCP servers or only asked for by a model, in their order. */
  readonly trace: readonly { readonly name: string; readonly args: unknown }[]
  /** Wrapped tool calls that were made, with what came back. */
  readonly sideEffects: readonly SideEffect[]
  /** Messages between agents. */
  readonly messages: readonly { readonly from: string; readonly to: string; readonly body: unknown }[]
}

/** A wrapped tool call that was made. */
export interface SideEffect {
  readonly name: string
  readonly args: unknown
  readonly result?: unknown
  readonly error?: unknown
}

/** `true` is ok, `false` is bad, `undefined` is ungraded. */
export type OracleFunction = (run: OracleRun) => OracleAnswer | Promise<OracleAnswer>
export type OracleAnswer = boolean | undefined | Grade

/** Says how runs ended. */
export interface Oracle {
  /** What it goes by, for people and to know it again: `--bad refund(amount: 2500)`. */
  readonly about: string
  /** It runs code that may say otherwise of the same run. */
  readonly mayVary: boolean
  grade(run: GradedRun): Promise<GradeGiven>
  /** Of a run whose end was not seen, or that left its tape: by the calls it made, where these decide. */
  gradeCalls?(run: RunWithoutEnd): 'bad' | 'ok' | undefined
  /** Whether a run is good by the calls it made, no matter what follows them. */
  isGoodByCalls?(run: RunWithoutEnd): boolean
}

export interface GradeGiven {
  readonly grade: Grade
  /** Why there is no grade, when it is `undefined` or `ungraded`. */
  readonly because?: string
  /** What the provider said of that, not neutral yet. */
  readonly said?: string
}

/** A function that grades runs. */
export interface LoadedOracle {
  readonly name: string
  readonly judge: OracleFunction
  /** Real milliseconds that one grade may take. Default: no limit. */
  readonly timeoutMs?: number
}

/** What an oracle goes by. */
export type Judging =
  | { readonly by: 'case'; readonly case: Case }
  | { readonly by: 'expectations'; readonly ok: readonly Expectation[]; readonly bad: readonly Expectation[] }
  | ({ readonly by: 'function' } & LoadedOracle)
  /** The recorded run threw: a run that returns is ok. */
  | { readonly by: 'ending' }

/**
 * Makes an oracle. It looks at what the agent returned or threw and at the calls it made, never at the text of an answer
 * on the wire.
 *
 * - `undefined`: the run left its tape before it was free to
 * - `timeout`: it was given up by time, or hung, and not for a model that did not answer
 * - `ungraded`: it asked for what is not on the tape, its model could not be reached, or the oracle cannot say
 * - `crash`: it threw; but `bad` when the recorded run threw the same
 *
 * A run that went off its tape did make the calls it made up to there, the one that left it included: it is graded by them
 * where the oracle asks for calls alone. What it did behind that may come of the refusal, and counts for nothing.
 */
export function createOracle(judging: Judging): Required<Oracle> {
  return {
    about: describe(judging),
    mayVary: judging.by === 'function',
    async grade(run) {
      const broken = gradeOfProblems(run, judging)
      if (broken !== undefined) return broken
      return run.outcome.status === 'threw' ? gradeOfThrown(run, judging) : gradeOfReturned(run, judging)
    },
    gradeCalls: (run) => gradeOfCalls(run, judging),
    isGoodByCalls: (run) =>
      judging.by === 'expectations' && judging.bad.length === 0 && gradeOfCalls(run, judging) === 'ok',
  }
}

function describe(judging: Judging): string {
  switch (judging.by) {
    case 'case': {
      const { id, expect, outcome } = judging.case
      return `${expect === 'fail' ? 'not ' : ''}the ${outcome === undefined ? 'baseline' : 'outcome'} of case ${id}`
    }
    case 'expectations': {
      const words = (flag: string, list: readonly Expectation[]) => list.map(({ text }) => `${flag} ${text}`)
      return [...words('--ok', judging.ok), ...words('--bad', judging.bad)].join(' ')
    }
    case 'function':
      return `--oracle ${judging.name}`
    case 'ending':
      return 'the run returns'
  }
}

/** Codes of a run that was given up, or that waits for ever. */
const timeouts = new Set(['HARVEST_RUN_ABORTED', 'HARVEST_AGENT_TIMEOUT', 'HARVEST_CLOCK_SPIN'])

function gradeOfProblems(run: GradedRun, judging: Judging): GradeGiven | undefined {
  const { problems } = run
  const prefix = problems.find(({ code }) => code === 'HARVEST_FORK_PREFIX')
  if (prefix !== undefined) return { grade: 'undefined', because: reasonOf(prefix) }
  const budget = problems.find(({ code }) => code.startsWith('HARVEST_BUDGET_'))
  if (budget !== undefined) return { grade: 'ungraded', because: reasonOf(budget) }
  if (run.isTimedOut === true || problems.some(({ code }) => timeouts.has(code))) {
    const waited = keptWaiting(run)
    return waited === undefined ? { grade: 'timeout' } : { grade: 'ungraded', ...waited }
  }
  const [first] = problems
  if (first === undefined) return undefined
  const graded = first.code === 'HARVEST_NOT_RECORDED' ? gradeOffTape(run, judging) : undefined
  const offTape = problems.find(({ code }) => code === 'HARVEST_NOT_RECORDED')
  return graded ?? { grade: 'ungraded', because: reasonOf(offTape ?? first) }
}

/** By its calls, unless a model or a service had failed it before it left. What it still waited for then was left by that. */
function gradeOffTape(run: GradedRun, judging: Judging): GradeGiven | undefined {
  const grade = gradeOfCalls(run, judging)
  if (grade === undefined) return undefined
  const heard = untilLeft(run).filter((event) => event.kind !== 'exchange' || !isOpen(event))
  const lost = unreachedIn(heard, run.tape.events, false)
  return lost === undefined ? { grade } : { grade: 'ungraded', ...unreachedFacts(lost) }
}

function untilLeft({ events, leftAt = Number.POSITIVE_INFINITY }: RunWithoutEnd): readonly TapeEvent[] {
  return events.filter(({ n }) => n <= leftAt)
}

/**
 * Whether another try may give a grade: the run was not paid for, its model could not be reached, or the agent had no key.
 *
 * @param because - of a grade that is `ungraded`
 */
export function isPassing(because: string | undefined): boolean {
  return because !== undefined && (isUnreached(because) || /\(HARVEST_BUDGET_[A-Z]+\)$/.test(because))
}

function reasonOf({ code, facts }: HarvestError): string {
  const asked = facts.where?.['asked'] ?? facts.where?.['call']
  return `${facts.what}${asked === undefined ? '' : `: ${asked}`} (${code})`
}

/** Calls that were made are made, no matter what would have followed. */
export function gradeOfCalls(run: RunWithoutEnd, judging: Judging): 'bad' | 'ok' | undefined {
  if (judging.by !== 'expectations') return undefined
  const { tape } = run
  const events = untilLeft(run)
  const calls = callsOf(events)
  // A rule is about a run that ended: "at most once" is true of all that was cut off early enough.
  const isMade = (one: Expectation): boolean => {
    if (!isOfCall(one) || one.kind === 'value') return false
    return one.kind === 'call'
      ? one.isAmong(calls)
      : one.holds(positionsOf({ header: tape.header, events, close: endOf(events, null) }))
  }
  if (judging.bad.some(isMade)) return 'bad'
  return judging.ok.length > 0 && judging.ok.every(isMade) ? 'ok' : undefined
}

async function gradeOfThrown(run: GradedRun, judging: Judging): Promise<GradeGiven> {
  if (run.outcome.status !== 'threw') throw new TypeError('the run returned')
  const { close } = run.tape
  const isRecorded =
    close !== undefined && isSameOutcome((value) => encodeFor(run.tape.header.flags, value), close.outcome, run.outcome)
  const unreached = unreachedIn(run.events, run.tape.events, isRecorded)
  if (unreached !== undefined) return { grade: 'ungraded', ...unreachedFacts(unreached) }
  if (judging.by === 'function') {
    const answered = await ask(judging, run)
    if (answered !== undefined) return { grade: answered }
  }
  if (judging.by === 'case') {
    const { expect, outcome } = judging.case
    const wanted = outcome === undefined ? undefined : expectedError(outcome)
    const isExpected = wanted !== undefined && matchOutcome(wanted, factsOfError(encodeValue(run.outcome.error))).equal
    if (isExpected) return { grade: expect === 'pass' ? 'ok' : 'bad' }
  }
  return { grade: isRecorded ? 'bad' : 'crash' }
}

async function gradeOfReturned(run: GradedRun, judging: Judging): Promise<GradeGiven> {
  if (run.outcome.status !== 'returned') throw new TypeError('the run threw')
  const value = encodeValue(run.outcome.value)
  switch (judging.by) {
    case 'ending':
      return { grade: 'ok' }
    case 'case':
      return { grade: byCase(judging.case, value, run.events) ? 'ok' : 'bad' }
    case 'expectations': {
      const grade = byExpectations(judging, value, run)
      return grade === undefined ? { grade: 'ungraded', because: 'Neither --ok nor --bad fits the run' } : { grade }
    }
    case 'function': {
      const grade = await ask(judging, run)
      return grade === undefined ? { grade: 'ungraded', because: `${judging.name} cannot say` } : { grade }
    }
  }
}

/** What a known-bad case expects is the bad run: everything else is taken for better. */
function byCase({ expect, outcome, expected, match }: Case, value: Json, events: readonly TapeEvent[]): boolean {
  const isExpected =
    outcome === undefined
      ? expected !== undefined && compareTraces(expected, traceOf(events), match ?? {}).equal
      : matchOutcome(outcome, value).equal
  return (expect === 'pass') === isExpected
}

type ByExpectations = Extract<Judging, { readonly by: 'expectations' }>

function byExpectations({ ok, bad }: ByExpectations, value: Json, { tape, events }: GradedRun): Grade | undefined {
  const calls = callsOf(events)
  const fits = (one: Expectation): boolean => {
    switch (one.kind) {
      case 'value':
        return one.fits(value)
      case 'call':
        return one.isAmong(calls)
      case 'rule':
        return one.holds(positionsOf({ header: tape.header, events, close: endOf(events, value) }))
    }
  }
  if (bad.some(fits)) return 'bad'
  if (ok.length > 0 && ok.every(fits)) return 'ok'
  // With one of them alone everything it does not fit is the other.
  if (bad.length === 0) return 'bad'
  return ok.length === 0 ? 'ok' : undefined
}

/** The end of a run that returned, behind all that happened in it. */
function endOf(events: readonly TapeEvent[], value: Json): TapeClose {
  const moments = events.flatMap((event) => [
    [event.n, event.at] as const,
    ...('settled' in event && event.settled !== undefined ? [event.settled] : []),
  ])
  const n = 1 + moments.reduce((most, moment) => Math.max(most, moment[0]), 0)
  const at = moments.reduce((most, moment) => Math.max(most, moment[1]), 0)
  return { kind: 'close', n, at, events: events.length, outcome: { status: 'returned', value } }
}

function callsOf(events: readonly TapeEvent[]) {
  return traceOf(events)
    .layers.flat()
    .sort((a, b) => a.n - b.n)
}

const grades: readonly Grade[] = ['ok', 'bad', 'crash', 'timeout', 'undefined', 'ungraded']

async function ask(
  { name, judge, timeoutMs }: LoadedOracle,
  { outcome, events, tape }: GradedRun,
): Promise<Grade | undefined> {
  let answer: unknown
  try {
    const graded = judge({
      ...(outcome.status === 'returned' ? { value: outcome.value } : { error: outcome.error }),
      trace: callsOf(events).map(({ name: tool, args }) => ({ name: tool, args: decodeValue(args) })),
      sideEffects: events.flatMap((event) => (event.kind === 'tool' ? [sideEffectOf(event)] : [])),
      messages: events.flatMap((event) =>
        event.kind === 'message' ? [{ from: event.from, to: event.to, body: decodeValue(event.body) }] : [],
      ),
    })
    answer = await (timeoutMs === undefined ? graded : within(timeoutMs, Promise.resolve(graded)))
  } catch (cause) {
    throw new HarvestError(
      'HARVEST_ORACLE_THREW',
      {
        what: 'The oracle threw an error',
        where: { oracle: name, tape: tape.header.id, error: thrownText(cause, tape) },
        why: 'The oracle must grade every fork, including endings the recorded run never had.',
        fix: ['return undefined for a run it cannot grade'],
      },
      { cause },
    )
  }
  if (answer === tooLate)
    throw new HarvestError('HARVEST_ORACLE_TIMEOUT', {
      what: 'The oracle gave no grade in the time a run may take',
      where: { oracle: name, tape: tape.header.id, waited: `${(timeoutMs ?? 0) / 1_000} s` },
      why: 'A run without a grade says nothing, and the others would wait for it.',
      fix: ['return undefined for a run it cannot grade', 'to give it more time: --timeout 10m'],
    })
  if (answer === undefined) return undefined
  if (typeof answer === 'boolean') return answer ? 'ok' : 'bad'
  const grade = grades.find((one) => one === answer)
  if (grade !== undefined) return grade
  throw new HarvestError('HARVEST_ORACLE_ANSWER', {
    what: 'Invalid grade from the oracle',
    where: {
      oracle: name,
      answer: redactorForMessages(tape)(JSON.stringify(answer) ?? typeof answer),
      known: ['true', 'false', ...grades].join(', '),
    },
    fix: ['return true for a good run, false for a bad one, undefined when unknown'],
  })
}

/** In the place of an answer that did not come. */
const tooLate = Symbol('too late')

async function within<T>(timeoutMs: number, answer: Promise<T>): Promise<T | typeof tooLate> {
  const { promise, resolve } = Promise.withResolvers<typeof tooLate>()
  const timer = setTimeout(resolve, timeoutMs, tooLate)
  try {
    return await Promise.race([answer, promise])
  } finally {
    clearTimeout(timer)
  }
}

function sideEffectOf({ name, args, result, error }: CallEvent): SideEffect {
  return {
    name,
    args: decodeValue(presentArgs(args)),
    ...(result === undefined ? {} : { result: decodeValue(result) }),
    ...(error === undefined ? {} : { error: decodeValue(error) }),
  }
}

/** Single grades that were the grade of their run's majority, of all. */
export interface SelfAgreement {
  readonly same: number
  readonly of: number
}

/**
 * Refuses a question without an answer: what was to be blamed is no failure.
 *
 * @throws HarvestError `HARVEST_ORACLE_OK`, `HARVEST_ORACLE_UNGRADED`
 */
export function requireFailure(
  { grade, because }: GradeGiven,
  { about, agreement }: Pick<Oracle, 'about'> & { readonly agreement?: SelfAgreement },
  tape: Tape,
): void {
  if (isGraded(grade) && grade !== 'ok') return
  const where = {
    tape: tape.header.id,
    'graded by': about,
    grade: agreement === undefined ? grade : `${grade}, in ${agreement.same} of ${agreement.of} single grades`,
  }
  if (grade !== 'ok') throw noGrade(tape, where, because)
  throw new HarvestError('HARVEST_ORACLE_OK', {
    what: 'Nothing to blame: the oracle grades the recorded run `ok`',
    where,
    fix: [...waysToName(tape, true), 'to find the answers it depends on: --mutate, without --repairs'],
  })
}

/** That the recorded run has no grade that forks could be compared with. */
export function noGrade(tape: Tape, where: ErrorFacts['where'], why?: string): HarvestError {
  return new HarvestError('HARVEST_ORACLE_UNGRADED', {
    what: 'The oracle cannot grade the recorded run, so forks cannot be compared with it',
    ...(where === undefined ? {} : { where }),
    ...(why === undefined ? {} : { why }),
    fix: waysToName(tape),
  })
}
