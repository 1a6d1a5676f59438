import { HarvestError, shellWord } from '../errors/index.ts'
import { wordDiff } from '../errors/word-diff.ts'
import { installInterceptors, refusalOfLoaded } from '../seam/intercept/index.ts'
import { copyOutput } from '../seam/output.ts'
import { seamState } from '../seam/source.ts'
import { requireGrade } from '../tape/grade.ts'
import type { Outcome, Tape } from '../tape/index.ts'
import { standInKeys } from '../match/keys.ts'
import type { NotCompared } from '../match/redacted.ts'
import { encodedEnd, resultOf } from './replay.ts'
import { ReplayRun } from './run.ts'
import { describeThrown, type GreenSteps, type RunVerdict, verdictFrom, verdictOf } from './run-verdict.ts'
import { describeEvent } from '../match/step.ts'
import type { SharedRequest, TranscodedStep, UnansweredCall } from '../match/types.ts'
import type { Drift, Escape, UninstrumentedIo, ByteComparison, ReplayOptions, ReplayResult } from '../match/types.ts'

/** What a replayed program leaves behind, as data: its process is gone. */
export interface ProgramReport {
  readonly tape: string
  readonly problems: readonly { readonly code: string; readonly message: string }[]
  readonly drift: readonly Drift[]
  readonly escapes: readonly Escape[]
  /** What it did around the seam and was let through, such as files it changed. */
  readonly listed: readonly UninstrumentedIo[]
  readonly unused: readonly string[]
  readonly ranForReal: readonly string[]
  /** Values the tape has placeholders for and the agent brought in itself. */
  readonly notCompared: readonly NotCompared[]
  /** Answers that were asked for in another form than recorded. */
  readonly transcoded: readonly TranscodedStep[]
  /** Requests answered with what the recording process had already. */
  readonly shared: readonly SharedRequest[]
  /** What no recorded answer fits. */
  readonly unanswered: readonly UnansweredCall[]
  readonly comparison: ByteComparison
  /** Parts of the outcome that are not as recorded: `exit code`, `stdout`, `stderr`. */
  readonly outcomeDiffers: readonly string[]
  /** What the agent threw, in one line; absent when it returned. */
  readonly threw?: string
  readonly verdict: WrittenVerdict
}

/** A verdict that can leave its process. */
export interface WrittenVerdict extends Omit<RunVerdict, 'differences'> {
  readonly differences: readonly { readonly code: string; readonly message: string }[]
}

/** Makes everything this process does one replay of `tape`; `done` is called, synchronously, when the process ends. */
export function replayProgram(
  tape: Tape,
  options: ReplayOptions,
  done: (report: ProgramReport) => void,
  accepted: GreenSteps = new Map(),
): void {
  requireGrade(tape.header, options.strict ? 'verify' : 'replay')
  installInterceptors()
  // For good: the process is the replay.
  standInKeys(tape)
  const output = copyOutput()
  const run = new ReplayRun(tape, { ...options, program: true }, (error) => {
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  })
  seamState().processRun = run.root
  run.gate.kick()
  process.on('exit', (code) => {
    seamState().processRun = undefined
    run.begun.askNow()
    run.finish()
    run.conclude()
    const live = { code, stdout: run.redactor.text(output.stdout()), stderr: run.redactor.text(output.stderr()) }
    const outcomeDiffers = differences(tape.close?.outcome, live)
    const isEqual = tape.close?.outcome.status === 'unknown' ? null : outcomeDiffers.length === 0
    const outcome = { status: 'returned', value: undefined } as const
    const result = resultOf(run, outcome, encodedEnd(run, outcome, isEqual))
    const found = [...result.problems, ...(result.problems.length === 0 ? programDifference(tape, live) : [])]
    const verdict = written(verdictFrom(result, found, accepted))
    done({ ...reportOf(result), outcomeDiffers, verdict })
  })
  const refused = refusalOfLoaded(run.root)
  if (refused) run.giveUp(refused as HarvestError)
}

/** The part of a result that can leave its process. */
export function reportOf(result: ReplayResult, accepted: GreenSteps = new Map()): ProgramReport {
  const { tape, problems, drift, escapes, listed, unused, ranForReal, notCompared, transcoded, comparison } = result
  return {
    tape: tape.header.id,
    problems: problems.map(({ code, message }) => ({ code, message })),
    drift,
    escapes,
    listed,
    unused: unused.map(describeEvent),
    ranForReal,
    notCompared,
    transcoded,
    shared: result.shared ?? [],
    unanswered: result.unanswered ?? [],
    comparison,
    outcomeDiffers: comparison.outcomeEqual === false ? ['answer of the agent'] : [],
    ...(result.outcome.status === 'threw' ? { threw: describeThrown(result) } : {}),
    verdict: written(verdictOf(result, accepted)),
  }
}

function written({ differences, ...rest }: RunVerdict): WrittenVerdict {
  return { ...rest, differences: differences.map(({ code, message }) => ({ code, message })) }
}

/** What a program writes to stdout and the code it exits with are its outcome; stderr is where it logs. */
function programDifference(
  tape: Tape,
  live: { readonly code: number; readonly stdout: string },
): readonly HarvestError[] {
  const recorded = tape.close?.outcome
  if (recorded?.status !== 'exited') return []
  const isCode = recorded.code === live.code
  if (isCode && (recorded.stdout ?? '') === live.stdout) return []
  return [
    new HarvestError('HARVEST_OUTCOME', {
      what: isCode
        ? 'The stdout of the program differs from the recording'
        : 'The exit code of the program differs from the recording',
      where: { tape: tape.header.id, ...(isCode ? {} : { recorded: String(recorded.code), now: String(live.code) }) },
      ...(isCode ? { detail: `  changed  ${wordDiff(recorded.stdout ?? '', live.stdout)}` } : {}),
      fix: [`to see the recorded run: npx vitest-harvest show ${shellWord(tape.header.id)}`],
    }),
  ]
}

function differences(
  recorded: Outcome | undefined,
  live: { readonly code: number; readonly stdout: string; readonly stderr: string },
): readonly string[] {
  if (recorded?.status === 'unknown') return []
  if (recorded?.status !== 'exited') return ['the tape does not say how the program ended']
  return [
    ...(recorded.code === live.code ? [] : [`exit code: recorded ${recorded.code}, now ${live.code}`]),
    ...((recorded.stdout ?? '') === live.stdout ? [] : ['stdout']),
    ...((recorded.stderr ?? '') === live.stderr ? [] : ['stderr']),
  ]
}
