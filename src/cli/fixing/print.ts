import { printedPath } from '../../errors/here.ts'
import { evidenceOf } from '../../blame/fix-control.ts'
import type { FixAnswer, FixRun } from '../../blame/fix-task.ts'
import type { Case } from '../../cases/index.ts'
import { neutral, neutralLine } from '../../errors/index.ts'
import { counted } from '../../errors/words.ts'
import type { PreparedFix } from '../../recordings/index.ts'
import { costText } from '../../live/said-spent.ts'
import { describeOutcome } from '../../report/describe.ts'
import { neutralLines, type Screen, table } from '../../report/output.ts'
import { gradingText } from '../blame/print.ts'
import { describeRate, describeSpent } from '../live.ts'
import { type Choice, countText, unjudgedText } from './choose.ts'
import type { Shown } from './shown.ts'

/** What the fixed agent does otherwise, and from where on. */
export function printPlan(kase: Case, answer: FixAnswer, screen: Screen): void {
  const { steps, keep, isOffline, changed, gradedBy, recorded } = answer
  screen.line(`${neutralLine(kase.id, 80)}: ${counted(steps, 'step')}, agent ${neutralLine(kase.agent, 60)}`)
  for (const change of changed.slice(0, 5)) screen.line(`changed: ${neutralLine(change, 160)}`)
  if (changed.length > 5) screen.line(`changed: … and ${changed.length - 5} more`)
  const replayed = keep === 0 ? 'no step' : keep === 1 ? 'step 1' : `steps 1 to ${keep}`
  screen.line(
    isOffline
      ? 'the recorded answers are enough: no model is asked'
      : `replayed: ${replayed}; the agent runs on from step ${keep + 1}`,
  )
  screen.line(`graded by ${neutralLine(gradedBy, 160)}; the recorded run is ${recorded}`)
}

/** A row for each run, and for each beside it. */
export function printRuns(
  { runs, controls, spent, grading }: Pick<FixAnswer, 'runs' | 'controls' | 'spent' | 'grading'>,
  tools: Parameters<typeof describeSpent>[1],
  screen: Screen,
): void {
  printTable(runs, screen)
  if (controls.length > 0) {
    screen.line('\nwithout the fix: the same, with models asked as recorded')
    printTable(controls, screen)
  }
  if (spent.modelCalls > 0) screen.line(describeSpent(spent, tools))
  if (grading !== undefined) screen.line(`of which ${gradingText(grading)}`)
}

function printTable(runs: readonly FixRun[], screen: Screen): void {
  const head = ['run', 'grade', 'ends', 'cost'].map((cell) => screen.paint('dim', cell))
  const rows = runs.map(({ fork, grade, isOffTape, refused, isReused }, at) => {
    const { status, value } = fork.outcome
    const [problem] = fork.problems
    // What a client throws where a limit or its model refused the call is not how the agent ends.
    const [call] = refused
    const ends =
      call !== undefined
        ? `nothing answers ${call.text}`
        : problem === undefined || isOffTape === true
          ? describeOutcome(status === 'returned' ? { status, value } : { status, error: value })
          : (problem.message.split('\n', 1)[0] ?? '')
    const { modelCalls, costUsd } = fork.spent
    const paid = costUsd === undefined ? `${modelCalls} calls` : costText(costUsd)
    const by = isOffTape === true ? ' by its calls' : ''
    return [`${at + 1}`, grade + by, neutralLine(ends, 60), isReused ? 'reused' : modelCalls === 0 ? 'none' : paid]
  })
  screen.line()
  screen.line(table([head, ...rows], [0]))
}

/** Which run was chosen, and how its case goes with the fix and without it. */
export function printShown(
  { index, count: { ok, graded, unjudged }, alike }: Choice,
  { answer, shown }: { readonly answer: FixAnswer; readonly shown: Shown },
  screen: Screen,
): void {
  // Where the recorded answers are enough, every run is the same.
  const { runs, controls, isControlled } = answer
  const rate = runs.some(({ fork }) => fork.spent.modelCalls > 0)
    ? describeRate(ok, graded, unjudged)
    : `${ok} of ${graded}`
  screen.line()
  screen.line(
    `${rate} ok${unjudgedText(unjudged)}; run ${index + 1} becomes the tape of the case${alike > 1 ? `, as ${alike} ran alike` : ''}`,
  )
  if (isControlled) {
    const { asRecorded, chance } = evidenceOf(runs, controls)
    screen.line(
      `asked as recorded ${countText(asRecorded)}; by chance so great a difference has probability ${chance.toPrecision(2)}`,
    )
  }
  screen.line(
    `with the fix:    ${screen.paint('green', 'green')}, replayed ${shown.isExact ? 'bit for bit' : 'with drift'}`,
  )
  const { without } = shown
  for (const { commit, about, because } of shown.tried)
    screen.line(`not shown at ${commit.slice(0, 10)} (${neutralLine(about)}): ${neutralLine(because, 120)}`)
  if (without === undefined) return
  const { commit, about, code, what, reproduces } = without
  screen.line(`without the fix: ${screen.paint('red', 'red')}, ${neutralLine(what, 100)} (${code})`)
  screen.line(
    `                 at ${commit.slice(0, 10)}, ${neutralLine(about)}${reproduces ? '; it still reproduces the incident' : ''}`,
  )
}

/** The case as it will read, beside how it reads now. */
export function printDifference({ caseFile, before, text, tapeFile, bytes }: PreparedFix, screen: Screen): void {
  const [old, next] = [before.trimEnd().split('\n'), text.trimEnd().split('\n')]
  screen.line()
  screen.line(screen.paint('bold', printedPath(caseFile)))
  for (const line of old) if (!next.includes(line)) screen.line(screen.paint('red', `- ${neutral(line)}`))
  for (const line of next) if (!old.includes(line)) screen.line(screen.paint('green', `+ ${neutral(line)}`))
  screen.line(screen.paint('bold', printedPath(tapeFile)))
  screen.line(neutralLines(`+ ${(bytes.length / 1024).toFixed(1)} KB`))
}
