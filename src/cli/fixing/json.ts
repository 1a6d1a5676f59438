import { evidenceOf } from '../../blame/fix-control.ts'
import type { FixAnswer, FixRun } from '../../blame/fix-task.ts'
import { here } from '../../errors/here.ts'
import type { PreparedFix } from '../../recordings/index.ts'
import type { Choice } from './choose.ts'
import type { Shown } from './shown.ts'

/** What came of a fix. */
interface FixEnd {
  readonly choice: Choice
  readonly shown: Shown
  readonly replacement: PreparedFix
  readonly isWritten: boolean
}

/** The runs of a fix, for `--json`. */
export function runsJson(id: string, answer: FixAnswer): object {
  const { runs, controls, refused: all, ...rest } = answer
  const textsOf = (calls: FixAnswer['refused']): readonly string[] => calls.map(({ text }) => text)
  const told = ({ fork, grade, because, refused, isReused }: FixRun) => ({
    grade,
    because: because ?? null,
    outcome: fork.outcome,
    spent: fork.spent,
    problems: fork.problems,
    refused: textsOf(refused),
    reused: isReused,
  })
  return { case: id, ...rest, refused: textsOf(all), runs: runs.map(told), controls: controls.map(told) }
}

/** The same, with what came of them. */
export function fixJson(answer: FixAnswer, { choice, shown, replacement, isWritten }: FixEnd): object {
  const { runs, controls, isControlled } = answer
  return {
    ...runsJson(replacement.content.id, answer),
    chance: isControlled ? evidenceOf(runs, controls).chance : null,
    chosen: choice.index,
    ok: choice.count.ok,
    graded: choice.count.graded,
    withFix: { verdict: 'same', exact: shown.isExact },
    withoutFix: shown.without ?? null,
    tried: shown.tried,
    written: isWritten ? { case: here(replacement.caseFile), tape: here(replacement.tapeFile) } : null,
    text: replacement.text,
  }
}
