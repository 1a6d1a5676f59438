import { readFileSync } from 'node:fs'
import { HarvestError, neutralLine } from '../../errors/index.ts'
import type { ControlData, ControlDifference } from '../../jobs/index.ts'
import type { Tape } from '../../tape/index.ts'
import { branchTape } from './branch-tape.ts'
import type { Grader } from './grading.ts'
import type { MadeForks } from './make.ts'

/** The unchanged run of today's code: what branches are compared with. */
export interface ControlRun {
  readonly data: ControlData
  /** The tape itself where today's code does as recorded. */
  readonly run: Tape
}

/** Puts the unchanged run together from what its process said of it. */
export function controlRun(data: ControlData, tape: Tape): ControlRun {
  return { data, run: data.branch === undefined ? tape : branchTape(data.branch, tape) }
}

/** The number that a recorded step has in the unchanged run. */
export function numberIn({ leftOut }: ControlData, step: number): number {
  return step - leftOut.filter((other) => other < step).length
}

/**
 * The grader with what it calls the unchanged run: that of the recorded one where they are the same and its end was seen.
 *
 * @throws HarvestError `HARVEST_BUDGET_USED` when its grade is not paid for
 */
export async function gradedBeside<G extends Grader | undefined>(
  grader: G,
  { control: { data, run }, interrupted }: Pick<MadeForks, 'control' | 'interrupted'>,
): Promise<G> {
  const { outcome, branch, digest } = data
  if (grader === undefined || outcome === undefined) return grader
  const text = branch ?? readFileSync(run.source, 'utf8')
  const fork = { outcome, branch: text, fingerprint: digest, prefix: { steps: 0, isExact: true } }
  const [recorded = 'ungraded'] = await grader.grade([{ fork, branch: run }], interrupted)
  if (HarvestError.is(recorded, 'HARVEST_CLI_INTERRUPTED')) return { ...grader, recorded: 'ungraded' }
  // Nothing is another grade than one that is not known.
  if (HarvestError.is(recorded)) throw recorded
  return { ...grader, recorded }
}

/** The pins of a what-if, for `--json`. */
export function pinsJson({ digest: recorded }: Tape, { digest, differs }: Pick<ControlData, 'digest' | 'differs'>) {
  return { pins: { recorded, accepted: digest }, alreadyDiffers: differs ?? null }
}

/** Says that today's code is not the recorded code, and where that first shows. */
export function controlLine({ step, what }: ControlDifference): string {
  const place = step === undefined ? 'at its end' : `at step ${step}`
  return `compared with today's code: it already differs from the recording ${place} (${neutralLine(what, 100)})`
}
