import { isDeepStrictEqual } from 'node:util'
import type { Interval } from '../../stats/index.ts'
import { HarvestError, neutralLine } from '../../errors/index.ts'
import type { Spent } from '../../live/index.ts'
import type { ControlData, FinishedJob } from '../../jobs/index.ts'
import { changedQuestions, stepsText } from '../../replay/index.ts'
import { type Json, outcomeNotCompared } from '../../tape/index.ts'
import { describeOutcome } from '../../report/describe.ts'
import type { JobOutcome } from '../../jobs/run.ts'
import { saidText, spentBy, withLost } from '../live.ts'
import { askedNone } from '../../live/unreached.ts'
import { areTooMany } from '../../blame/lost-forks.ts'
import { isRuledOut, smallest } from '../finer-answer.ts'
import { chanceBetween, isShown } from './beside.ts'
import type { Hits } from './branches.ts'

/** What became of the outcome of the unchanged run. */
export interface PatchAnswer {
  /** `null`: unknown. */
  readonly survives: boolean | null
  /** Why that is unknown, or what came instead. */
  readonly because: string
  readonly outcome?: FinishedJob['outcome']
  readonly trace?: readonly Json[]
  readonly traceChanged?: boolean
  /** Of live runs. */
  readonly rate?: LiveRate
  /** Of live runs without the change, drawn in pairs with them. */
  readonly beside?: LiveRate & {
    /** How likely so great a difference is by chance; `null` when one of the two could not be judged. */
    readonly chance: number | null
  }
  readonly spent?: Spent
  /** What kept live runs from being judged. */
  readonly lost?: readonly string[]
}

export interface LiveRate {
  readonly survived: number
  readonly runs: number
  readonly undecided: number
  readonly interval?: Interval
  /** In how many of `runs` the agent asked for what is changed; absent: its input is. */
  readonly met?: number
}

/** The unchanged run of today's code. */
export interface PatchControl extends FinishedJob {
  readonly control: ControlData
}

/** @throws what kept the unchanged run from being made, such as HARVEST_CONTROL */
export function requireControl(run: JobOutcome | undefined): PatchControl {
  if (run === undefined || HarvestError.is(run)) throw run ?? new TypeError('the job has no answer')
  const { control } = run
  if (control === undefined) throw new TypeError('the job was no control')
  return { ...run, control }
}

/** The result of a replay with the change, beside the one without. */
export function replayed(run: JobOutcome | undefined, unchanged: PatchControl): PatchAnswer {
  if (run === undefined || HarvestError.is(run)) throw run ?? new TypeError('the job has no answer')
  // Steps it no longer asks for leave nothing open: it had an answer to all that it asked.
  const problem = run.report.problems.find(({ code }) => code !== 'HARVEST_UNUSED')
  if (problem !== undefined) {
    return {
      survives: null,
      because: `With this change the agent does what is not on the tape; what would have come of it, only its models know.\n\n${problem.message}`,
    }
  }
  // What is asked otherwise without the change as well was accepted.
  const known = new Set(unchanged.report.drift.map(({ key }) => key))
  const open = run.report.drift.filter(({ policy, key }) => policy === 'unproven' && !known.has(key))
  const asked = changedQuestions(open)
  if (asked.length > 0) {
    const parts = asked.map(({ part, steps, words }) => `  ${neutralLine(part)}, ${stepsText(steps)}: ${words}`)
    return {
      survives: null,
      because: `With this change a model is asked something else; what it would answer is not on the tape.\n\n${parts.join('\n')}`,
    }
  }
  const traceChanged = !isDeepStrictEqual(run.trace, unchanged.trace)
  return { ...judged(run, unchanged), outcome: run.outcome, trace: run.trace, traceChanged }
}

function judged(run: FinishedJob, unchanged: PatchControl): Pick<PatchAnswer, 'survives' | 'because'> {
  const survives = survivesIn(run, unchanged)
  if (survives === null)
    return { survives, because: `The outcome is ${outcomeNotCompared}; the run now ${describeEnd(run)}` }
  return { survives, because: survives ? 'Outcome unchanged.' : `The run now ${describeEnd(run)}` }
}

/** Whether a run ends as the unchanged one; `null`: an import did not see how it ended. */
function survivesIn(run: FinishedJob, { control }: PatchControl): boolean | null {
  const { outcomeEqual } = run.report.comparison
  if (control.outcome === undefined || outcomeEqual === null) return outcomeEqual
  return isDeepStrictEqual(endOf(run.outcome), endOf(control.outcome))
}

/** Where an error was made says nothing about what it is. */
function endOf({ status, value }: FinishedJob['outcome']): readonly Json[] {
  const { $type, name = null, message = null } = (value ?? {}) as { readonly [key: string]: Json }
  return $type === 'error' ? [status, name, message] : [status, value]
}

function describeEnd({ outcome: { status, value } }: FinishedJob): string {
  return describeOutcome(status === 'returned' ? { status, value } : { status, error: value })
}

/**
 * How live runs ended, with the change and, sampled in pairs, without.
 *
 * @param of - the changed steps, each an `n` of the tape; absent: the input of the run is changed
 */
export function live(
  changed: readonly JobOutcome[],
  controls: readonly JobOutcome[],
  unchanged: PatchControl,
  of?: readonly number[],
): PatchAnswer {
  const met = of === undefined ? undefined : changed.filter((run) => isJudged(run, unchanged) && meets(run, of)).length
  const rate = { ...rateOf(changed, unchanged, true), ...(met === undefined ? {} : { met }) }
  const beside = rateOf(controls, unchanged, false)
  const spent = spentBy([...changed, ...controls])
  const chance = rate.runs === 0 || beside.runs === 0 ? null : chanceBetween(hitsOf(rate), hitsOf(beside))
  const common = { rate, beside: { ...beside, chance }, spent, lost: lostReasons([...changed, ...controls]) }
  if (rate.runs === 0)
    return { survives: null, because: `No live run could be judged.\n\n${lostText(changed)}`, ...common }
  const some =
    met === undefined || met === 0 || met === rate.runs ? '' : ` ${met} of the first asked for what is changed.`
  const counts = `${rate.survived} of ${rate.runs} live runs end so; without the change, sampled in pairs, ${beside.survived} of ${beside.runs}.${some}`
  if (beside.runs === 0)
    return { survives: null, because: `${counts} So nothing can be compared.\n\n${lostText(controls)}`, ...common }
  const [arm] = [changed, controls].filter((ended, at) =>
    areTooMany((at === 0 ? rate : beside).undecided, ended.length),
  )
  if (arm !== undefined)
    return { survives: null, because: `${counts} Too many others could not be judged.\n\n${lostText(arm)}`, ...common }
  if (met === 0)
    return { survives: null, because: `${counts} No run with the change asked for what is changed.`, ...common }
  const isLess = rate.survived * beside.runs < beside.survived * rate.runs
  if (isShown({ chance, forks: controls.length }) === true && isLess)
    return { survives: false, because: counts, ...common }
  // Those that were lost end as makes the difference larger.
  const worst = [
    { hits: beside.survived + beside.undecided, runs: controls.length },
    { hits: rate.survived, runs: changed.length },
  ] as const
  const isMost = rate.survived * 2 >= changed.length
  if (isMost && isRuledOut(...worst)) return { survives: true, because: counts, ...common }
  const why = isMost
    ? `No effect of the change is shown, and one of ${smallest} or more is not ruled out (95 %).`
    : 'Runs without the change do no better, as far as these show: it may be the model that changed.'
  return { survives: null, because: `${counts} ${why}`, ...common }
}

function rateOf(ended: readonly JobOutcome[], unchanged: PatchControl, isChanged: boolean): LiveRate {
  const ends = ended.flatMap((run) => endIn(run, unchanged, isChanged) ?? [])
  const survived = ends.filter(Boolean).length
  const runs = ends.length
  const undecided = ended.length - runs
  const hasInterval = runs > 0 && !areTooMany(undecided, ended.length)
  return {
    survived,
    runs,
    undecided,
    ...(hasInterval ? { interval: withLost(survived, runs, undecided) } : {}),
  }
}

function hitsOf({ survived, runs, undecided }: LiveRate): Hits {
  return { hits: survived, runs, lost: undecided }
}

function isJudged(run: JobOutcome, unchanged: PatchControl): boolean {
  return endIn(run, unchanged, true) !== undefined
}

function meets(run: JobOutcome, steps: readonly number[]): boolean {
  return !HarvestError.is(run) && steps.some((n) => run.answeredFrom?.includes(n) === true)
}

/** Whether a live run ended as the unchanged one; `undefined`: it cannot be judged. */
function endIn(run: JobOutcome, unchanged: PatchControl, isChanged: boolean): boolean | undefined {
  if (HarvestError.is(run) || run.report.problems.length > 0) return undefined
  // With the change the agent may need no model any more.
  if (run.unreached !== undefined && !(isChanged && run.unreached.because === askedNone)) return undefined
  return survivesIn(run, unchanged) ?? undefined
}

/** Codes of problems, and why a model could not be asked. */
function lostReasons(ended: readonly JobOutcome[]): readonly string[] {
  const reasons = ended.flatMap((run) => {
    if (HarvestError.is(run)) return [run.code]
    return run.unreached === undefined ? run.report.problems.map(({ code }) => code) : [run.unreached.because]
  })
  return [...new Set(reasons)]
}

/** Why the first run that was not judged was not. */
function lostText(ended: readonly JobOutcome[]): string {
  const [text = ''] = ended.flatMap((run) => {
    if (HarvestError.is(run)) return [run.message]
    return run.unreached === undefined ? run.report.problems.map((one) => one.message) : [saidText(run.unreached)]
  })
  return text
}
