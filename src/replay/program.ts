import { installInterceptors } from '../seam/intercept/index.ts'
import { copyOutput } from '../seam/output.ts'
import { seamState } from '../seam/source.ts'
import { requireGrade } from '../tape/grade.ts'
import type { Outcome, Tape } from '../tape/index.ts'
import { standInKeys } from './keys.ts'
import type { NotCompared } from './redacted.ts'
import { resultOf } from './replay.ts'
import { ReplayRun } from './run.ts'
import { describeEvent } from './step.ts'
import type { Drift, Escape, Receipt, ReplayOptions, ReplayResult } from './types.ts'

/** What a replayed program leaves behind, as data: its process is gone. */
export interface ProgramReport {
  readonly tape: string
  readonly problems: readonly { readonly code: string; readonly message: string }[]
  readonly drift: readonly Drift[]
  readonly escapes: readonly Escape[]
  readonly unused: readonly string[]
  readonly ranForReal: readonly string[]
  /** Values the tape has placeholders for and the agent brought in itself. */
  readonly notCompared: readonly NotCompared[]
  readonly receipt: Receipt
  /** Parts of the outcome that are not as recorded: `exit code`, `stdout`, `stderr`. */
  readonly outcomeDiffers: readonly string[]
}

/** Makes everything this process does one replay of `tape`; `done` is called, synchronously, when the process ends. */
export function replayProgram(tape: Tape, options: ReplayOptions, done: (report: ProgramReport) => void): void {
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
    const result = resultOf(run, { status: 'returned', value: undefined }, outcomeDiffers.length === 0)
    done({ ...reportOf(result), outcomeDiffers })
  })
}

/** The part of a result that can leave its process. */
export function reportOf(result: ReplayResult): ProgramReport {
  const { tape, problems, drift, escapes, unused, ranForReal, notCompared, receipt } = result
  return {
    tape: tape.header.id,
    problems: problems.map(({ code, message }) => ({ code, message })),
    drift,
    escapes,
    unused: unused.map(describeEvent),
    ranForReal,
    notCompared,
    receipt,
    outcomeDiffers: receipt.outcomeEqual ? [] : ['answer of the agent'],
  }
}

function differences(
  recorded: Outcome | undefined,
  live: { readonly code: number; readonly stdout: string; readonly stderr: string },
): readonly string[] {
  if (recorded?.status !== 'exited') return ['the tape does not say how the program ended']
  return [
    ...(recorded.code === live.code ? [] : [`exit code: recorded ${recorded.code}, now ${live.code}`]),
    ...((recorded.stdout ?? '') === live.stdout ? [] : ['stdout']),
    ...((recorded.stderr ?? '') === live.stderr ? [] : ['stderr']),
  ]
}
