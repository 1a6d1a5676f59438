import { type Case, expectedError, shapeOfError } from '../cases/index.ts'
import type { FinishedFork } from '../fork/index.ts'
import { readModelCall } from '../providers/index.ts'
import { type Tape, type TapeEvent } from '../tape/index.ts'
import { compareTraces, matchOutcome, type MatchOptions, traceOf } from '../trace/index.ts'
import { gradeFork } from './grade-task.ts'
import type { Oracle } from './oracle.ts'

/** What one ask says about the agent. `lost`: nothing, for its model was not reached or nobody may pay for it. */
export type AskGrade = 'good' | 'bad' | 'ungraded' | 'lost'

/** What asks are judged by. */
export interface AskJudge {
  readonly tape: Tape
  readonly case: Case
  readonly match: MatchOptions
  /** First step that was free to be asked anew. */
  readonly keep: number
  /** The function the case names. */
  readonly oracle?: Oracle
}

/** Why an ask says nothing: another time it may. */
const lost = /^HARVEST_(?:BUDGET_USED|BUDGET_PRICE|FORK_UNREACHED)$/

/**
 * Judges one ask. The function of the case says it, where it names one. Else an ask is good when it ends as the case says,
 * with the calls of its baseline, compared by the keys of their arguments, and with the recorded requests that change
 * something at a service, in their order.
 */
export async function gradeAsk(
  fork: FinishedFork,
  events: readonly TapeEvent[],
  judge: AskJudge,
): Promise<{ readonly grade: AskGrade; readonly because?: string }> {
  const [problem] = fork.problems
  if (problem !== undefined) {
    const because = problem.message
    // Three times what was recorded, and no end: this agent does not do as recorded.
    if (fork.problems.some(({ code }) => code === 'HARVEST_BUDGET_ASK')) return { grade: 'bad', because }
    if (fork.problems.some(({ code }) => lost.test(code))) return { grade: 'lost', because }
    return { grade: 'ungraded', because }
  }
  const { case: kase, oracle, tape } = judge
  if (oracle !== undefined) {
    const grade = await gradeFork(oracle, tape, fork.outcome, events)
    if (grade === 'undefined' || grade === 'ungraded' || grade === 'timeout') return { grade: 'ungraded' }
    // A known-bad case is to stay as bad as it is.
    return { grade: (grade === 'ok') === (kase.expect === 'pass') ? 'good' : 'bad' }
  }
  return { grade: endsAsSaid(fork, judge) && actsAsSaid(events, judge) ? 'good' : 'bad' }
}

function endsAsSaid({ outcome: live }: FinishedFork, { case: kase, tape }: AskJudge): boolean {
  const hasThrown = live.status === 'threw'
  if (kase.outcome === undefined) {
    const recorded = tape.close?.outcome.status
    return recorded === 'threw' ? hasThrown : !hasThrown
  }
  const wanted = hasThrown ? expectedError(kase.outcome) : kase.outcome
  return wanted !== undefined && matchOutcome(wanted, hasThrown ? shapeOfError(live.value) : live.value).equal
}

function actsAsSaid(events: readonly TapeEvent[], { case: kase, match, tape }: AskJudge): boolean {
  const expected = kase.expected
  const isTrace = expected === undefined || compareTraces(expected, traceOf(events), { ...match, args: 'keys' }).equal
  const [was, now] = [writesIn(tape.events), writesIn(events)]
  return isTrace && was.length === now.length && was.every((write, i) => write === now[i])
}

/** Requests that change something at a service, in their order; what wrapped functions did inside is theirs. */
function writesIn(events: readonly TapeEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.kind !== 'exchange' || event.in !== undefined || readModelCall(event) !== undefined) return []
    const { method, url } = event
    const isRead = method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
    return isRead ? [] : [`${method} ${url}`]
  })
}
