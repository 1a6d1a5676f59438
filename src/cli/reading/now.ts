import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { HarvestError, neutralLine, visible } from '../../errors/index.ts'
import type { FinishedJob } from '../../jobs/index.ts'
import { driftLine } from '../report.ts'
import type { FoundRun } from '../find.ts'
import { runJobs } from '../../jobs/run.ts'
import { isExact } from '../preflight.ts'
import { neutralLines, type Screen } from '../../report/output.ts'

/** What a replay of a tape does with the code as it is now. */
export interface Now {
  /** Every byte, read and answer is the recorded one. */
  readonly exact: boolean
  readonly verdict: FinishedJob['report']['verdict']['verdict']
  readonly drift: FinishedJob['report']['drift']
  readonly problems: FinishedJob['report']['problems']
  /** What else is other than on the tape, or than its case says: how the run ended, its calls. */
  readonly differences: FinishedJob['report']['verdict']['differences']
  readonly escapes: FinishedJob['report']['escapes']
}

/**
 * Replays a tape once in the project's Vitest.
 *
 * @throws HarvestError what kept the agent from running
 */
export async function replayNow({ file, case: found }: FoundRun): Promise<Now> {
  const own = found === undefined ? {} : { case: { file: resolve(found.file), text: readFileSync(found.file, 'utf8') } }
  const [run] = await runJobs([{ tape: resolve(file), ...own }])
  if (run === undefined || HarvestError.is(run)) throw run ?? new TypeError(`no answer for ${file}`)
  const { drift, problems, escapes } = run.report
  // A case says what was accepted; of a bare tape the replay alone does.
  const { verdict } = run.verdict ?? run.report.verdict
  return { exact: isExact(run), verdict, drift, problems, differences: differencesOf(run), escapes }
}

/** A case may accept what the tape does not have; where it does not, the tape says which part is another one. */
function differencesOf({ report, verdict: ofCase }: FinishedJob): Now['differences'] {
  const { problems, verdict } = report
  if ((ofCase ?? verdict).verdict !== 'different') return []
  const own = verdict.differences.filter(({ message }) => !problems.some((one) => one.message === message))
  const more = problems.length > 0 ? [] : (ofCase?.differences ?? [])
  return [...own, ...more.filter(({ code }) => !own.some((one) => one.code === code))]
}

const states = {
  same: 'follows the tape',
  different: 'does something else than on the tape',
  unproven: 'does as on the tape, but was asked something else: unproven',
} as const

// More of them are not read, and `--json` has all.
const shownDrift = 10

/** Prints what a replay does now: drift by class and place, what else is other, and what went wrong. */
export function printNow({ exact, verdict, drift, problems, differences, escapes }: Now, screen: Screen): void {
  screen.line()
  const state = problems.length > 0 ? 'diverges from the tape' : exact ? 'as recorded, bit for bit' : states[verdict]
  screen.line(`now  ${state}${drift.length === 0 ? '' : `; drift: ${driftLine(drift)}`}`)
  for (const { class: kind, stepNumber, path, recorded, live } of drift.slice(0, shownDrift)) {
    const place = path === '' ? '' : ` at ${neutralLine(path, 60)}`
    screen.line(`  step ${stepNumber}, ${kind}${place}`)
    screen.line(`    recorded  ${visible(neutralLine(recorded))}`)
    screen.line(`    now       ${visible(neutralLine(live))}`)
  }
  if (drift.length > shownDrift) screen.line(`  … and ${drift.length - shownDrift} more`)
  for (const { kind, target } of escapes) screen.line(`  escape: ${neutralLine(`${kind} ${target}`)}`)
  for (const { message } of [...differences, ...problems]) screen.line(`\n${neutralLines(message)}`)
}
