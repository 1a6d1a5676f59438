import { canonicalJson, readModelCall } from '../../providers/index.ts'
import { originOf } from '../../match/address.ts'
import { firstDifference } from '../../match/difference.ts'
import { type Json, type Outcome, stepsOf, type Tape } from '../../tape/index.ts'
import { argsByKey } from '../../trace/args.ts'
import { compareTraces, type ExpectedTrace, type Trace, type TraceComparison, traceOf } from '../../trace/index.ts'
import { outcomeText } from '../end.ts'
import { comparableCuts } from './cuts.ts'
import { compareSteps, type StepRow } from './steps.ts'

/**
 * What sets two runs apart, in one word: the first of these that fits. `tool sequence`: other tools, or in another
 * causal order. `arguments`: the same tools with other arguments. `number of calls`: the same tool calls, and more or
 * fewer model calls or other steps around them. `other requests`: the same in all of that, and more or fewer requests to
 * servers that run no model, such as one for a token. `text only`: what was said or answered. Times, ids and addresses
 * are no difference.
 */
export type DiffClass = (typeof diffClasses)[number]
const diffClasses = ['tool sequence', 'arguments', 'number of calls', 'other requests', 'text only', 'same'] as const

/** How two runs differ. `a` is the first named, `b` the second. */
export interface RunDiff {
  readonly class: DiffClass
  readonly outcome: OutcomeDiff
  /** The tool calls of `b` against those of `a`, arguments and all. */
  readonly trace: TraceComparison
  readonly callCounts: readonly [a: number, b: number]
  readonly steps: readonly StepRow[]
  /** Values that were cut and count as the same though nothing is known of what was left out. Absent: none. */
  readonly inPart?: number
}

/** How two runs ended. */
export interface OutcomeDiff {
  /** `null`: not compared, because an import did not see one of them. */
  readonly same: boolean | null
  readonly a: string
  readonly b: string
  /** Where two return values first differ, such as `refunded`; the path is empty when they are texts. */
  readonly at?: { readonly path: string; readonly a: string; readonly b: string }
}

/** Compares two runs. Both sides count alike: nothing is expected of either. */
export function compareRuns(one: Tape, other: Tape): RunDiff {
  const { a, b, inPart } = comparableCuts(one, other)
  const [traceA, traceB] = [traceOf(a.events), traceOf(b.events)]
  const wanted = asExpected(traceA)
  const trace = compareTraces(wanted, traceB, { args: 'exact' })
  const isSameSequence = trace.equal || compareTraces(wanted, traceB, { args: 'ignore' }).equal
  const steps = compareSteps(a, b)
  const outcome = withInputs(compareOutcomes(a.close?.outcome, b.close?.outcome), a, b)
  const isSameText =
    outcome.same !== false && steps.every(({ differences }) => differences.every(({ isText }) => !isText))
  const lonely = steps.filter((row) => row.a === undefined || row.b === undefined)
  const isSameNumber = lonely.every(asideIn(a, b))
  const holds = [!isSameSequence, !trace.equal, !isSameNumber, lonely.length > 0, !isSameText, true]
  return {
    class: diffClasses[holds.indexOf(true)] ?? 'same',
    outcome,
    trace,
    callCounts: [traceA.layers.flat().length, traceB.layers.flat().length],
    steps,
    ...(inPart === 0 ? {} : { inPart }),
  }
}

/**
 * Tells steps that are requests to servers other than those that run the models. There is no such step without a model
 * call.
 */
function asideIn(a: Tape, b: Tape): (row: StepRow) => boolean {
  const [left, right] = [stepsOf(a), stepsOf(b)]
  const origins = new Set(
    [...left, ...right].flatMap((step) =>
      step.kind === 'exchange' && readModelCall(step) !== undefined ? [originOf(step.url)] : [],
    ),
  )
  return (row) => {
    const step = row.a === undefined ? right[(row.b ?? 0) - 1] : left[row.a - 1]
    return row.kind === 'http' && step?.kind === 'exchange' && origins.size > 0 && !origins.has(originOf(step.url))
  }
}

function asExpected({ layers }: Trace): ExpectedTrace {
  return { layers: layers.map((layer) => layer.map(({ name, args }) => ({ name, args: argsByKey(args) }))) }
}

/** Two runs that end alike, of one input, may have made something else of it. */
function withInputs(outcome: OutcomeDiff, a: Tape, b: Tape): OutcomeDiff {
  const [left, right] = [a.close?.input, b.close?.input]
  const isOneInput = canonicalJson(a.header.input ?? null) === canonicalJson(b.header.input ?? null)
  if (outcome.same !== true || left === undefined || right === undefined || !isOneInput) return outcome
  const at = firstDifference(left.left ?? a.header.input, right.left ?? b.header.input, 'input')
  return at === undefined ? outcome : { ...outcome, same: false, at: { path: at.path, a: at.recorded, b: at.live } }
}

function compareOutcomes(a: Outcome | undefined, b: Outcome | undefined): OutcomeDiff {
  const texts = {
    a: a === undefined ? 'truncated' : outcomeText(a),
    b: b === undefined ? 'truncated' : outcomeText(b),
  }
  if (a?.status === 'unknown' || b?.status === 'unknown') return { same: null, ...texts }
  const same = canonicalJson((a ?? null) as Json) === canonicalJson((b ?? null) as Json)
  const at = a?.status === 'returned' && b?.status === 'returned' ? firstDifference(a.value, b.value) : undefined
  if (same || at === undefined) return { same, ...texts }
  return { same, ...texts, at: { path: at.path, a: at.recorded, b: at.live } }
}
