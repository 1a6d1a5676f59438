import { compareRuns, type RunDiff } from './compare.ts'
import { type FactRow, factRows, type Opened } from './facts.ts'
import { type Parting, partingOf, roleOf, type StepRole } from './roles.ts'
import type { StepRow } from './steps.ts'

/** What `diff --json` prints. */
export interface DiffJson extends Omit<RunDiff, 'trace' | 'callCounts' | 'steps'> {
  /** Files of the tapes. */
  readonly a: string
  readonly b: string
  readonly same: boolean
  /** Where the runs part; `null` when they do not. */
  readonly parts: Parting | null
  /** `role`: absent when the steps are the same. */
  readonly steps: readonly (StepRow & { readonly role?: StepRole })[]
  readonly trace: {
    readonly same: boolean
    readonly calls: RunDiff['callCounts']
    readonly first: NonNullable<RunDiff['trace']['first']> | null
    readonly differences: RunDiff['trace']['differences']
  }
  readonly facts: readonly FactRow[]
}

/** Two runs compared, for the terminal, for programs and for a report: what each of them shows is in here. */
export interface RunComparison {
  readonly answer: DiffJson
  /** The tool calls of each run, one a line. */
  readonly calls: readonly [a: string, b: string]
}

/** Compares two runs. */
export function compareOpened(a: Opened, b: Opened): RunComparison {
  const { trace, callCounts, steps, ...rest } = compareRuns(a.tape, b.tape)
  const answer = {
    a: a.tape.source,
    b: b.tape.source,
    same: trace.equal && rest.outcome.same !== false,
    ...rest,
    parts: partingOf(steps) ?? null,
    steps: steps.map((row) => {
      const role = roleOf(row)
      return role === undefined ? row : { ...row, role }
    }),
    trace: { same: trace.equal, calls: callCounts, first: trace.first ?? null, differences: trace.differences },
    facts: factRows(a, b),
  }
  return { answer, calls: [trace.expectedText, trace.actualText] }
}

/** What `diff --json` prints. */
export function diffJson(a: Opened, b: Opened): DiffJson {
  return compareOpened(a, b).answer
}
