import { HarvestError } from '../errors/index.ts'
import { wordDiff } from '../errors/word-diff.ts'
import { installInterceptors } from '../seam/intercept/index.ts'
import { copyOutput } from '../seam/output.ts'
import { seamState } from '../seam/source.ts'
import { requireGrade } from '../tape/grade.ts'
import type { Outcome, Tape } from '../tape/index.ts'
import { standInKeys } from './keys.ts'
import type { NotCompared } from './redacted.ts'
import { resultOf } from './replay.ts'
import { ReplayRun } from './run.ts'
import { type RunVerdict, verdictFrom, verdictOf } from './run-verdict.ts'
import { describeEvent } from './step.ts'
import type { TranscodedStep } from './transcode.ts'
import type { Drift, Escape, Listed, Receipt, ReplayOptions, ReplayResult } from './types.ts'

/** What a replayed program leaves behind, as data: its process is gone. */
export interface ProgramReport {
  readonly tape: string
  readonly problems: readonly { readonly code: string; readonly message: string }[]
  readonly drift: readonly Drift[]
  readonly escapes: readonly Escape[]
  /** What it did around the seam and was let through, such as files it changed. */
  readonly listed: readonly Listed[]
  readonly unused: readonly string[]
  readonly ranForReal: readonly string[]
  /** Values the tape has placeholders for and the agent brought in itself. */
  readonly notCompared: readonly NotCompared[]
  /** Answers that were asked for in another form than recorded. */
  readonly transcoded: readonly TranscodedStep[]
  readonly receipt: Receipt
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
  accepted: ReadonlySet<string> = new Set(),
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
    run.finish()
    run.conclude()
    const live = { code, stdout: run.redactor.text(output.stdout()), stderr: run.redactor.text(output.stderr()) }
    const outcomeDiffers = differences(tape.close?.outcome, live)
    const isEqual = tape.close?.outcome.status === 'unknown' ? null : outcomeDiffers.length === 0
    const result = resultOf(run, { status: 'returned', value: undefined }, isEqual)
    const found = [...result.problems, ...(result.problems.length === 0 ? programDifference(tape, live) : [])]
    const verdict = written(verdictFrom(result, found, accepted))
    done({ ...reportOf(result), outcomeDiffers, verdict })
  })
}

/** The part of a result that can leave its process. */
export function reportOf(result: ReplayResult, accepted: ReadonlySet<string> = new Set()): ProgramReport {
  const { tape, problems, drift, escapes, listed, unused, ranForReal, notCompared, transcoded, receipt } = result
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
    receipt,
    outcomeDiffers: receipt.outcomeEqual === false ? ['answer of the agent'] : [],
    ...(result.outcome.status === 'threw' ? { threw: lineOf(result.outcome.error) } : {}),
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
        ? 'The program wrote something else to stdout than when this run was recorded'
        : 'The program exited with another code than when this run was recorded',
      where: { tape: tape.header.id, ...(isCode ? {} : { recorded: String(recorded.code), now: String(live.code) }) },
      ...(isCode ? { detail: `  changed  ${wordDiff(recorded.stdout ?? '', live.stdout)}` } : {}),
      fix: [`to see the recorded run: npx harvest show ${tape.header.id}`],
    }),
  ]
}

function lineOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
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
