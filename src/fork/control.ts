import type { HarvestError } from '../errors/index.ts'
import { type GreenSteps, replayTape, standInKeys, verdictOf } from '../replay/index.ts'
import type { ReplayOptions, ReplayResult } from '../match/types.ts'
import { type Step, stepsOf, type Tape, type TapeEvent } from '../tape/index.ts'
import { accessOf } from './access.ts'
import { stepsAsMade } from './branch.ts'
import { stepBehind } from './branch-recorder.ts'
import { firstDifferenceOf } from './control-difference.ts'
import { type ControlSubject, controlRefused, controlTooSlow } from './control-refusal.ts'
import { forkTape } from './fork.ts'
import type { ControlData, ControlDifference, FinishedJob } from '../jobs/job.ts'
import { type OutsideState, outsideState } from './outside-state.ts'
import type { ForkOptions, ForkResult } from './plan.ts'
import { runDigest } from './run-digest.ts'
import { timeLimit } from './time-limit.ts'

/**
 * A recorded run as today's code does it, with nothing changed: what a what-if is compared with. Code that changed since
 * the run was recorded, and was accepted, is no effect of anything that is tried out on it.
 */
export interface Control {
  /**
   * The tape with the questions and the outcome of today's code and the recorded answers. Steps keep their numbers. The tape
   * itself when today's code asks and ends as recorded.
   */
  readonly tape: Tape
  /** The `n` of recorded steps that today's code leaves out. */
  readonly leftOut: ReadonlySet<number>
  /** The unchanged run: branches are compared with it. The tape itself when they are the same. */
  readonly run: Pick<Tape, 'events' | 'close'>
  /** The unchanged run as the file of a branch; absent: it is the recorded one. */
  readonly branch?: string
  /** Where it first differs from the recording; absent: nowhere. */
  readonly differs?: ControlDifference
  /** Digest of its trace and outcome. */
  readonly digest: string
  /** Git commit of the code that ran; absent where git does not know. */
  readonly commit?: string
  /** How it ended, encoded; absent: as recorded, where that was seen. */
  readonly outcome?: FinishedJob['outcome']
  /** The replay of it. */
  readonly replayed: ReplayResult
  /** What all runs of its process share, once it had ended. */
  readonly outside: OutsideState
}

/** What a command learns of a control. */
export function controlData(tape: Tape, { digest, commit, differs, branch, leftOut, outcome }: Control): ControlData {
  const steps = stepsOf(tape)
  return {
    digest,
    leftOut: steps.flatMap(({ n }, index) => (leftOut.has(n) ? [index + 1] : [])),
    ...(commit === undefined ? {} : { commit }),
    ...(differs === undefined ? {} : { differs }),
    ...(branch === undefined ? {} : { branch }),
    ...(outcome === undefined ? {} : { outcome }),
  }
}

type Agent = (input: unknown) => unknown

export interface ControlOptions extends Pick<ForkOptions, 'signal' | 'hangMs'> {
  /** Milliseconds the runs may take. Default 120000. */
  readonly timeoutMs?: number
  /** The agent, loaded afresh for every run. */
  load(): Promise<Agent>
  /** As the case of the tape is replayed. Default none. */
  readonly replay?: Omit<ReplayOptions, 'signal'>
  /** Changed questions that were accepted or proven, and at which steps. Default none. */
  accepted?(run: ReplayResult): GreenSteps
  /** Whether the case of the tape is green with this replay, problems and all. Default: with a problem it is not. */
  isGreen?(run: ReplayResult): boolean
  /** What the case of the tape does not accept besides changed questions. Default nothing. */
  difference?(run: ReplayResult): HarvestError | undefined
  /** The case of the tape, for the commands of a refusal. */
  readonly caseId?: string
  /** The case is of a run that went wrong. Default false. */
  readonly isKnownBad?: boolean
  /** The agent that was named, where another one made the run. */
  readonly otherAgent?: ControlSubject['otherAgent']
  /** Git commit of the code that runs. */
  readonly commit?: string
}

/**
 * Replays a tape unchanged under today's code, offline and for free.
 *
 * @throws HarvestError `HARVEST_CONTROL` when today's code leaves the tape, or asks a model a question that was not
 *   accepted: a changed run then has nothing to be compared with
 */
export async function controlOf(tape: Tape, options: ControlOptions): Promise<Control> {
  const { timeoutMs = 120_000, signal = new AbortController().signal } = options
  using limit = timeLimit({ timeoutMs, signal })
  const takeBack = standInKeys(tape)
  const control = await replayUnchanged(tape, { ...options, signal: limit.signal })
    .catch((error: unknown) => {
      throw limit.isOver ? controlTooSlow(subjectOf(tape, options), timeoutMs, error) : error
    })
    .finally(takeBack)
  return { ...control, outside: outsideState() }
}

async function replayUnchanged(tape: Tape, options: ControlOptions): Promise<Omit<Control, 'outside'>> {
  const { load, replay = {}, accepted, isGreen, difference, signal, hangMs, commit } = options
  const code = commit === undefined ? {} : { commit }
  const given = { ...(signal === undefined ? {} : { signal }), ...(hangMs === undefined ? {} : { hangMs }) }
  const run = await replayTape(tape, await load(), { ...replay, ...given })
  const about = subjectOf(tape, options)
  // In another order everything that is asked has its answer all the same.
  const problem = run.problems.find(({ code }) => code !== 'HARVEST_ORDER')
  // A case may say that a tool call is left out now: its reviewer accepted that.
  if (problem !== undefined && isGreen?.(run) !== true) throw controlRefused(about, { problem, run })
  const { unproven } = verdictOf(run, accepted?.(run))
  if (unproven.length > 0) throw controlRefused(about, { unproven, difference: difference?.(run) })
  if (isRecorded(run)) {
    const same = { tape, leftOut: new Set<number>(), run: tape, digest: runDigest(run), ...code, replayed: run }
    // How it ended was not seen: what grades runs goes by how this one ends.
    if (tape.close?.outcome.status !== 'unknown') return same
    return { ...same, outcome: { status: run.outcome.status, value: run.redactedOutcome } }
  }
  const fork = await forkTape(
    tape,
    await load(),
    { keep: 0, tail: { from: 'tape', serve: 'reworded' }, chance: 'recorded' },
    { ...given, ...accessOf(replay) },
  )
  const [lost] = fork.problems
  if (lost !== undefined) throw controlRefused(about, { problem: lost, run })
  const { tape: now, text } = fork.branch
  const differs = firstDifferenceOf(run, now)
  return {
    tape: asAskedNow(tape, fork),
    leftOut: new Set(run.unused.map(({ n }) => n)),
    run: now,
    branch: text,
    ...(differs === undefined ? {} : { differs }),
    digest: runDigest(run),
    ...code,
    replayed: run,
    outcome: { status: fork.outcome.status, value: fork.redactedOutcome },
  }
}

function subjectOf(tape: Tape, { caseId, isKnownBad, otherAgent }: ControlOptions): ControlSubject {
  return {
    tape,
    ...(caseId === undefined ? {} : { caseId }),
    isKnownBad: isKnownBad === true,
    ...(otherAgent === undefined ? {} : { otherAgent }),
  }
}

/** Byte for byte: nothing has to stand in the place of the recording. */
function isRecorded({ problems, drift, comparison, transcoded }: ReplayResult): boolean {
  const { identical, served, relaxed, outcomeEqual } = comparison
  const isSame = problems.length === 0 && drift.length === 0 && transcoded.length === 0
  return isSame && identical === served && relaxed === 0 && outcomeEqual !== false
}

/** The tape, where each question is the one that today's code asks in its place. */
function asAskedNow(tape: Tape, { branch, comparison }: ForkResult): Tape {
  const now = new Map<TapeEvent, Step>()
  for (const event of stepsAsMade(branch.tape)) {
    const recorded = stepBehind(event)
    if (recorded !== undefined && questionOf(recorded) !== questionOf(event)) now.set(recorded, asked(recorded, event))
  }
  const { close } = branch.tape
  const isOtherEnd = comparison.outcomeEqual === false && tape.close !== undefined && close !== undefined
  if (now.size === 0 && !isOtherEnd) return tape
  return {
    ...tape,
    events: tape.events.map((event) => now.get(event) ?? event),
    ...(isOtherEnd ? { close: { ...tape.close, outcome: close.outcome } } : {}),
  }
}

function questionOf(step: Step): string {
  return step.kind === 'exchange'
    ? JSON.stringify([step.method, step.url, step.request.body])
    : JSON.stringify([step.name, step.args])
}

/** The recorded step with another question. */
function asked(recorded: Step, live: Step): Step {
  if (recorded.kind === 'exchange' && live.kind === 'exchange') {
    const { method, url, request } = live
    return { ...recorded, method, url, request }
  }
  return recorded.kind !== 'exchange' && live.kind !== 'exchange' ? { ...recorded, args: live.args } : recorded
}
