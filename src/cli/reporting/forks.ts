import { compareBranches } from '../../blame/index.ts'
import { HarvestError } from '../../errors/index.ts'
import { describeOutcome } from '../../report/describe.ts'
import { outcomeText } from '../../report/end.ts'
import type { Texts } from '../../report/view/texts.ts'
import type { ReportForks } from '../../report/view/types.ts'
import { seenFile } from '../../report/view/run-view.ts'
import { Branches } from '../../recordings/branches.ts'
import { readAnswers } from '../../recordings/index.ts'
import { readTape, type Tape } from '../../tape/index.ts'
import type { ForkJson } from '../commands/fork.ts'
import { changeLine } from '../forking/changes.ts'

/** Saved branches that are read. */
const mostSaved = 40

type View = ReportForks['branches'][number]

/** What forks of a tape came out as: those a command kept, and branches that were saved. Nothing is forked. */
export function forksOf(recordings: string, tape: Tape, texts: Texts): readonly ReportForks[] {
  const answers = readAnswers(recordings, tape.source, 'fork', tape.digest)
  const plans = answers.map(({ answer }) => planView(answer as unknown as ForkJson, texts))
  const known = new Set(plans.flatMap(({ branches }) => branches.map(({ file }) => file?.split('/').at(-1))))
  const saved = savedBranches(recordings, tape).filter(({ source }) => !known.has(seenFile(source).split('/').at(-1)))
  const groups = Map.groupBy(saved, ({ header }) => header.parent?.keep ?? 0)
  return [...plans, ...[...groups].map(([keep, list]) => savedPlan(keep, tape, list, texts))]
}

function planView(answer: ForkJson, texts: Texts): ReportForks {
  const { keep, tail, changed, gradedBy, judged, asRecorded, grades, interval, branches } = answer
  return {
    keep,
    gradedBy,
    judged,
    asRecorded,
    ...(grades === undefined ? {} : { grades: grades as Readonly<Record<string, number>> }),
    ...(interval === undefined ? {} : { interval }),
    changed: changed.map(changeLine),
    tail: tailText(tail),
    branches: branches.map(({ seed, grade, outcome, differs, saved }): View => {
      const first = differs?.first
      return {
        seed,
        grade,
        ...(saved === null ? {} : { file: seenFile(saved) }),
        ...(outcome === null
          ? {}
          : {
              outcome: texts.add(
                describeOutcome(
                  outcome.status === 'returned'
                    ? { status: 'returned', value: outcome.value }
                    : { status: 'threw', error: outcome.value },
                ),
              ),
            }),
        ...(first === undefined ? {} : { first: firstView(first, texts) }),
        ...(differs === null ? {} : { trace: differs.trace.same }),
      }
    }),
  }
}

type First = NonNullable<ReturnType<typeof compareBranches>[number]['first']>

function firstView(first: First, texts: Texts): NonNullable<View['first']> {
  const before = first.before ?? 'not there'
  const after = first.kind === 'missing' ? 'not there' : first.after
  return { step: first.step, before: texts.add(before), after: texts.add(after) }
}

function tailText(tail: ForkJson['tail']): string {
  switch (tail.from) {
    case 'tape':
      return 'the tape answers where the same is asked'
    case 'reference':
      return 'a reference run answers'
    case 'script':
      return 'a script answers'
    case 'live':
      return `models are asked, ${tail.tools === 'live' ? 'tools run for real' : 'tools answer from the tape'}`
    default:
      return tail satisfies never
  }
}

function savedBranches(recordings: string, tape: Tape): readonly Tape[] {
  let files: readonly string[]
  try {
    files = new Branches(recordings).of(tape.source)
  } catch (error) {
    // Without an inbox nothing was saved.
    if (HarvestError.is(error)) return []
    throw error
  }
  return files.slice(0, mostSaved).flatMap((file) => {
    try {
      return [readTape(file)]
    } catch (error) {
      // A damaged branch is no branch; `ls` names it.
      if (HarvestError.is(error)) return []
      throw error
    }
  })
}

function savedPlan(keep: number, tape: Tape, saved: readonly Tape[], texts: Texts): ReportForks {
  const compared = compareBranches(tape, saved)
  const ends = compared.map(({ outcome }) => outcome.same)
  return {
    keep,
    gradedBy: null,
    judged: saved.length,
    asRecorded: ends.includes(null) ? null : ends.filter(Boolean).length,
    changed: [],
    tail: 'the agent ran on (saved branches)',
    branches: saved.map(({ header, close, source }, index): View => {
      const { first, trace } = compared[index] ?? {}
      return {
        seed: header.id.slice(-12),
        grade: null,
        file: seenFile(source),
        ...(close === undefined ? {} : { outcome: texts.add(outcomeText(close.outcome)) }),
        ...(first === undefined ? {} : { first: firstView(first, texts) }),
        ...(trace === undefined ? {} : { trace: trace.same }),
      }
    }),
  }
}
