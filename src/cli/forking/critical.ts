import { type Grade } from '../../blame/index.ts'
import { neutralLine } from '../../errors/index.ts'
import { counted } from '../../errors/words.ts'
import type { ControlDifference } from '../../jobs/index.ts'
import type { Screen } from '../../report/output.ts'
import { fisherExact, newcombe } from '../../stats/index.ts'
import type { Alternative, decisionsOf } from './alternatives.ts'
import type { BranchSummary } from './branches.ts'
import { controlLine } from './control.ts'
import type { Grader } from './grading.ts'
import { differenceText } from './print.ts'

/** A decision of a model and the result of its alternatives. */
export interface DecisionReport {
  readonly step: number
  readonly decided: string
  /**
   * `critical`: an alternative gets another grade (by its calls where it left the tape), or, without an oracle, ends otherwise. `same`: none of those judged
   * does. `unknown`: none could be judged, or live runs end otherwise there without any change as well.
   */
  readonly verdict: 'critical' | 'same' | 'unknown'
  /**
   * How many more of its alternatives end otherwise than of the runs that keep the decision, -1 to 1, with the interval of that
   * difference; absent where none could be judged. Runs of the tape keep it in one way: that counts as one run.
   */
  readonly effect?: { readonly value: number; readonly low: number; readonly high: number }
  /** Live runs that keep the decision, drawn alternately with the alternatives: how many end otherwise. */
  readonly beside?: { readonly judged: number; readonly other: number }
  readonly tried: readonly {
    readonly instead: string
    readonly outcome: 'other' | 'as recorded' | 'off tape' | 'not judged'
    readonly grade?: Grade
    /** The first difference, or the code of what kept it from being judged or from its end on the tape. */
    readonly because: string
  }[]
}

/**
 * Which decisions matter, as far as their alternatives were tried: the one with the largest effect first.
 *
 * @param recorded - the grade of the unchanged run
 * @param controls - of a live tail: for each alternative a run that keeps the decision
 */
export function reportDecisions(
  decisions: ReturnType<typeof decisionsOf>,
  alternatives: readonly Alternative[],
  branches: readonly BranchSummary[],
  recorded: Grade | undefined,
  controls: readonly BranchSummary[] = [],
): readonly DecisionReport[] {
  const all = alternatives.map((alternative, index) => ({
    alternative,
    branch: branches[index],
    control: controls[index],
  }))
  const count = (runs: readonly Tried[]): Count => ({
    judged: runs.filter(({ outcome }) => outcome !== 'not judged').length,
    other: runs.filter((run) => isOther(run, recorded)).length,
  })
  const reports = decisions.map(({ step, decided }): DecisionReport => {
    const own = all.filter(({ alternative }) => alternative.step === step)
    const tried = own.map(({ alternative: { instead }, branch }) => outcomeOf(instead, branch))
    const kept = own.flatMap(({ control }) => (control === undefined ? [] : [outcomeOf('', control)]))
    const beside = kept.length === 0 ? undefined : count(kept)
    return {
      step,
      decided,
      verdict: verdictOf(count(tried), beside),
      tried,
      ...effectOf(count(tried), beside),
      ...(beside === undefined ? {} : { beside }),
    }
  })
  return reports.toSorted((a, b) => (b.effect?.value ?? -2) - (a.effect?.value ?? -2))
}

function effectOf(tried: Count, kept: Count = { judged: 1, other: 0 }): Pick<DecisionReport, 'effect'> {
  if (tried.judged === 0 || kept.judged === 0) return {}
  const [first, second] = [tried, kept].map(({ judged, other }) => ({ hits: other, runs: Math.max(judged, other) }))
  if (first === undefined || second === undefined) return {}
  return { effect: { value: first.hits / first.runs - second.hits / second.runs, ...newcombe(first, second) } }
}

/** The alternative that is graded as good where the run is not: that of the largest effect. */
export function bestAlternative(
  decisions: readonly DecisionReport[],
  recorded: Grade | undefined,
): { readonly step: number; readonly instead: string } | undefined {
  if (recorded === undefined || recorded === 'ok') return undefined
  for (const { step, tried } of decisions) {
    const good = tried.find(({ grade }) => grade === 'ok')
    if (good !== undefined) return { step, instead: good.instead }
  }
  return undefined
}

type Tried = DecisionReport['tried'][number]
type Count = NonNullable<DecisionReport['beside']>

function isOther({ outcome, grade }: Tried, recorded: Grade | undefined): boolean {
  return recorded === undefined
    ? outcome === 'other'
    : grade !== undefined && grade !== 'ungraded' && grade !== recorded
}

/** Where runs that keep the decision end otherwise as well, only a difference that chance does not make is one. */
function verdictOf(tried: Count, kept: Count | undefined): DecisionReport['verdict'] {
  if (tried.other === 0) return tried.judged === 0 ? 'unknown' : 'same'
  if (kept === undefined || (kept.other === 0 && kept.judged > 0)) return 'critical'
  if (kept.judged === 0) return 'unknown'
  const hits = ({ other, judged }: Count) => ({ hits: other, runs: Math.max(judged, other) })
  return fisherExact(hits(tried), hits(kept)) <= 0.05 ? 'critical' : 'unknown'
}

function outcomeOf(instead: string, branch: BranchSummary | undefined): DecisionReport['tried'][number] {
  const { compared, grade, problems = [] } = branch ?? {}
  if (compared === undefined) {
    const because = problems[0]?.code ?? ''
    // Graded by the calls it made.
    return grade === undefined
      ? { instead, outcome: 'not judged', because }
      : { instead, outcome: 'off tape', grade, because }
  }
  const because = compared.first === undefined ? 'the same run' : differenceText(compared.first)
  if (compared.outcome.same === null)
    return {
      instead,
      outcome: 'not judged',
      because: 'the import did not see the outcome',
      ...(grade === undefined ? {} : { grade }),
    }
  const outcome = compared.outcome.same ? 'as recorded' : 'other'
  return { instead, outcome, because, ...(grade === undefined ? {} : { grade }) }
}

/** Prints the decisions, the alternatives of each, and what was not tried. */
export function printDecisions(
  decisions: readonly DecisionReport[],
  {
    grader,
    differs,
  }: {
    readonly grader?: Pick<Grader, 'by' | 'recorded'> | undefined
    readonly differs?: ControlDifference | undefined
  },
  screen: Screen,
): void {
  if (differs !== undefined) screen.line(`${controlLine(differs)}\n`)
  const whose = differs === undefined ? 'the recorded run' : "today's code unchanged"
  if (grader !== undefined) screen.line(`graded by ${neutralLine(grader.by, 120)}; ${whose} is ${grader.recorded}\n`)
  for (const { step, decided, verdict, tried, beside, effect } of decisions) {
    const size =
      effect === undefined
        ? ''
        : `, effect ${signed(effect.value)} (95 %: ${signed(effect.low)} to ${signed(effect.high)})`
    const judged = tried.filter(({ outcome }) => outcome !== 'not judged').length
    const far = verdict === 'same' && judged < tried.length ? `, judged ${judged} of ${tried.length}` : ''
    screen.line(`${screen.paint('bold', `step ${step}  ${titles[verdict]}${far}`)}${size}`)
    screen.line(`  the model decided: ${neutralLine(decided, 110)}`)
    if (tried.length === 0) screen.line('  no alternative to try: the model called no tool')
    for (const one of tried) screen.line(`  ${triedLine(one)}`)
    if (beside !== undefined) screen.line(`  ${besideLine(tried, beside)}`)
  }
  const named = (verdict: DecisionReport['verdict']): string =>
    decisions.flatMap((one) => (one.verdict === verdict ? [`${one.step}`] : [])).join(', ') || 'none'
  screen.line(`\n${screen.paint('bold', `critical: ${named('critical')}`)}`)
  screen.line(`no judged alternative changes the ${grader === undefined ? 'outcome' : 'grade'}: ${named('same')}`)
  screen.line(`nothing could be judged: ${named('unknown')}`)
  const left = decisions.flatMap(({ tried }) => tried.filter(({ outcome }) => outcome === 'not judged'))
  if (left.length > 0)
    screen.line(
      `not judged: ${left.length} of ${counted(decisions.flatMap(({ tried }) => tried).length, 'alternative')}`,
    )
  const best = bestAlternative(decisions, grader?.recorded)
  if (best !== undefined) screen.line(`best alternative: step ${best.step}, ${neutralLine(best.instead, 90)}`)
  screen.line('not tried: values and texts the run does not know, other answers of tools')
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`
}

function besideLine(tried: DecisionReport['tried'], { judged, other }: Count): string {
  const changed = tried.filter(({ outcome }) => outcome !== 'not judged').length
  const counts = `${changed} alternatives; beside them, with the decision kept, ${other} of ${judged} live runs end otherwise`
  return other === 0 ? counts : `${counts}: that is no effect of the decision`
}

function triedLine({ instead, outcome, grade, because }: DecisionReport['tried'][number]): string {
  const graded = grade === undefined ? '' : `, ${grade}`
  return `${neutralLine(instead, 90)}: ${words[outcome]}${graded}${because === '' ? '' : ` (${neutralLine(because, 140)})`}`
}

const titles: Readonly<Record<DecisionReport['verdict'], string>> = {
  critical: 'critical',
  same: 'not critical, as far as was tried',
  unknown: 'unknown',
}

const words: Readonly<Record<DecisionReport['tried'][number]['outcome'], string>> = {
  other: 'another outcome',
  'as recorded': 'the same outcome',
  'off tape': 'graded by calls made before it left the tape',
  'not judged': 'not judged',
}
