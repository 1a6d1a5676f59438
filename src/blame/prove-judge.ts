import { ofAnswered } from './graded-use.ts'
import { type Case, expectedError, factsOfError } from '../cases/index.ts'
import { type ErrorCode, type HarvestError, neutralLine } from '../errors/index.ts'
import { type FinishedFork, hearModelCalls, type HeardCall } from '../fork/index.ts'
import { readModelCall } from '../providers/index.ts'
import type { CallEvent, Json, Tape, TapeEvent } from '../tape/index.ts'
import { sameButTexts, sameData } from '../live/same-data.ts'
import {
  type ArgsRule,
  compareTraces,
  matchOutcome,
  type MatchOptions,
  parseBaseline,
  renderBaseline,
  type Trace,
  traceOf,
} from '../trace/index.ts'
import { gradeFork } from './grade-task.ts'
import { gradeOfCalls, type Judging, type Oracle } from './oracle.ts'
import type { Grade } from './types.ts'

/** What one ask says about the agent. `lost`: nothing, for its model was not reached or the budget is spent. */
export type AskGrade = 'good' | 'bad' | 'ungraded' | 'lost'

/** What asks are judged by. */
export interface AskJudge {
  readonly tape: Tape
  readonly case: Case
  readonly match: MatchOptions
  /** Steps that are kept. */
  readonly keep: number
  /** What today's agent did on the recorded answers. */
  readonly events: readonly TapeEvent[]
  /** The function the case names, or its `ok` and `bad`. */
  readonly judging?: Judging
  readonly oracle?: Oracle
}

/** Why an ask says nothing: another time it may. */
const lost: ReadonlySet<string> = new Set<ErrorCode>([
  'HARVEST_BUDGET_USED',
  'HARVEST_BUDGET_PRICE',
  'HARVEST_FORK_MODEL_UNREACHABLE',
])

/**
 * Judges one ask. The function of the case says it, where it names one, or else its `ok` and `bad`. An ask that needs what is not on
 * the tape is then judged by the calls it made, where these decide by `ok` and `bad`. Else an ask is good when it ends as the case says,
 * with the calls of its baseline, compared by the keys of their arguments, with the data that those calls had on the
 * recorded answers, and with the recorded requests that change something at a service, in their order. A call that the
 * case does not make is bad, although the tape has no answer to it: it was made, no matter what would have followed.
 *
 * @param problems - those of the fork, as they were thrown
 * @param onLost - hears the model calls of a function that threw
 * @returns with the model calls of the function
 */
export async function gradeAsk(
  fork: FinishedFork,
  { events, problems }: { readonly events: readonly TapeEvent[]; readonly problems: readonly HarvestError[] },
  judge: AskJudge,
  onLost?: (calls: readonly HeardCall[]) => void,
): Promise<{ readonly grade: AskGrade; readonly because?: string; readonly calls?: readonly HeardCall[] }> {
  const [problem] = fork.problems
  if (problem !== undefined) {
    const because = problem.message
    // Three times what was recorded, and no end: this agent does not do as recorded.
    if (fork.problems.some(({ code }) => code === 'HARVEST_BUDGET_ASK')) return { grade: 'bad', because }
    if (fork.problems.some(({ code }) => lost.has(code))) return { grade: 'lost', because }
    const asked = problems[0]?.code === 'HARVEST_NOT_RECORDED' ? problems[0].facts.where?.['asked'] : undefined
    if (typeof asked !== 'string') return { grade: 'ungraded', because }
    const made = judge.judging && gradeOfCalls({ ...fork, events, tape: judge.tape }, judge.judging)
    if (made !== undefined)
      return { grade: asWanted(made, judge.case), because: `${problems[0]!.facts.what}: ${asked}` }
    const isOther = judge.oracle === undefined && isOtherCall(asked, events, judge)
    return isOther
      ? { grade: 'bad', because: `A call that the case does not make: ${asked}` }
      : { grade: 'ungraded', because: `${problems[0]!.facts.what}: ${asked}` }
  }
  const { case: kase, oracle, tape } = judge
  if (oracle !== undefined) {
    // Whom it asks is no part of the other ask, which may be under way.
    const { came: grade, calls } = await hearModelCalls(() => gradeFork(oracle, tape, fork.outcome, events), onLost)
    const { because: lost } = ofAnswered({ grade }, calls)
    if (lost !== undefined) return { grade: 'ungraded', because: lost, calls }
    if (grade === 'undefined' || grade === 'ungraded' || grade === 'timeout') return { grade: 'ungraded', calls }
    return { grade: asWanted(grade, kase), calls }
  }
  return { grade: endsAsSaid(fork, judge) && actsAsSaid(events, judge) ? 'good' : 'bad' }
}

/** A known-bad case is to stay as bad as it is. */
function asWanted(grade: Grade, { expect }: Case): 'bad' | 'good' {
  return (grade === 'ok') === (expect === 'pass') ? 'good' : 'bad'
}

function endsAsSaid({ outcome: live }: FinishedFork, { case: kase, tape }: AskJudge): boolean {
  const hasThrown = live.status === 'threw'
  if (kase.outcome === undefined) {
    const recorded = tape.close?.outcome.status
    return recorded === 'threw' ? hasThrown : !hasThrown
  }
  const wanted = hasThrown ? expectedError(kase.outcome) : kase.outcome
  return wanted !== undefined && matchOutcome(wanted, hasThrown ? factsOfError(live.value) : live.value).equal
}

function actsAsSaid(live: readonly TapeEvent[], { case: kase, match, events }: AskJudge): boolean {
  if (!callsAsSaid(traceOf(live), { case: kase, match, events })) return false
  const [was, now] = [writesIn(events), writesIn(live)]
  return was.length === now.length && was.every((write, i) => write === now[i])
}

function callsAsSaid(
  live: Trace,
  { case: { expected }, match, events }: Pick<AskJudge, 'case' | 'match' | 'events'>,
  isSame = sameData,
): boolean {
  if (expected !== undefined && !compareTraces(expected, live, { ...match, args: 'keys' }).equal) return false
  const replayed = traceOf(events)
  // What is spelled out counts: by a rule of the case for a tool no more than that rule looks at.
  const baseline = parseBaseline(renderBaseline(replayed, { ...match, args: 'exact' }))
  return compareTraces(baseline, live, byData(replayed, match, isSame)).equal
}

/** Whether the case does not make the wrapped call that was refused first, or makes fewer of them. */
function isOtherCall(asked: string, live: readonly TapeEvent[], judge: AskJudge): boolean {
  const { match } = judge
  // Others may be made as well.
  if (match.trace === 'superset') return false
  const refused = live.find(
    (event): event is CallEvent =>
      (event.kind === 'tool' || event.kind === 'retrieval') &&
      event.settled === undefined &&
      neutralLine(`${event.name}(${JSON.stringify(event.args)})`, 200) === asked,
  )
  if (refused === undefined) return false
  // What an agent does once it was refused says nothing.
  const upTo = traceOf(live.filter(({ n }) => n <= refused.n))
  return !callsAsSaid(upTo, { ...judge, match: { ...match, trace: 'subset' } }, mayBeReworded)
}

/** Whether two arguments may say the same: they differ in texts at most. An id with a digit is data, and so is a number. */
function mayBeReworded(recorded: Json, live: Json): boolean {
  return sameButTexts(recorded, live, (was, is) => !(isId.test(was) && isId.test(is)))
}

const isId = /^(?=.*\d)[\w.:@/-]{1,256}$/

/** Texts are reworded by a model; numbers, flags, ids and the shape are data. What the case says of a tool counts more. */
function byData({ layers }: Trace, match: MatchOptions, isSame: typeof sameData): MatchOptions {
  if (match.args !== undefined && match.args !== 'keys') return match
  const names = new Set(layers.flat().map(({ name }) => name))
  const rules = [...names].map((name): [string, ArgsRule] => [name, match.tools?.[name] ?? isSame])
  return { ...match, tools: Object.fromEntries(rules) }
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
