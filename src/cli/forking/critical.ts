import { alphaOfLook } from '../../stats/index.ts'
import { type Grade, isGraded } from '../../blame/index.ts'
import { areTooMany } from '../../blame/lost-forks.ts'
import { neutralLine } from '../../errors/index.ts'
import { counted } from '../../errors/words.ts'
import type { ControlDifference } from '../../jobs/index.ts'
import type { Screen } from '../../report/output.ts'
import { newcombe } from '../../stats/index.ts'
import type { Alternative, decisionsOf } from './alternatives.ts'
import type { BranchSummary, Hits } from './branches.ts'
import { chanceBetween } from './beside.ts'
import { controlLine } from './control.ts'
import type { Grader } from './grading.ts'
import { describeRate } from '../live.ts'
import { differenceText } from './print.ts'

/** A decision of a model and the result of its alternatives. */
export interface DecisionReport {
  readonly step: number
  readonly decided: string
  /**
   * `critical`: an alternative gets another grade (by its calls where it left the tape); of live runs more than chance makes in 5 of 100 runs of the command, by Fisher's exact test of each step, the 5
   * divided among the steps. `same`: none of those judged does. `open`: some do, but chance may have made that. `unknown`:
   * none could be judged, or of live runs more than a fifth tell nothing.
   */
  readonly verdict: 'critical' | 'same' | 'open' | 'unknown'
  /**
   * How many more of its alternatives get another grade than of the runs that keep the decision, -1 to 1; absent where it is
   * unknown. With the interval of that difference for live runs: those of a tape end as they do, each time.
   */
  readonly effect?: { readonly value: number; readonly low?: number; readonly high?: number }
  /** Live runs that keep the decision, drawn in pairs with the alternatives: how many get another grade. */
  readonly beside?: { readonly judged: number; readonly other: number }
  readonly tried: readonly {
    readonly instead: string
    /** `not compared`: an import did not see the recorded one. */
    readonly outcome: 'other' | 'as recorded' | 'not compared' | 'off tape' | 'not judged'
    readonly grade?: Grade
    /** The first difference if any, {@link withoutGrade}, or the code of what kept it from being judged or from its end on the tape. */
    readonly because: string
  }[]
}

/**
 * Which decisions matter, as far as their alternatives were tried: the one with the largest effect first.
 *
 * @param recorded - the grade of the unchanged run: without one no alternative has another
 * @param controls - of a live tail: for each alternative a run that keeps the decision
 */
export function reportDecisions(
  decisions: ReturnType<typeof decisionsOf>,
  alternatives: readonly Alternative[],
  branches: readonly BranchSummary[],
  recorded: Grade,
  controls: readonly BranchSummary[] = [],
): readonly DecisionReport[] {
  const all = alternatives.map((alternative, index) => ({
    alternative,
    branch: branches[index],
    control: controls[index],
  }))
  const count = (runs: readonly Tried[]): Count => ({
    runs: runs.length,
    judged: runs.filter(isJudged).length,
    other: runs.filter((run) => isOther(run, recorded)).length,
  })
  // Each of them is a chance to be wrong: together they may be wrong as often as one.
  const compared = decisions.filter(({ step }) =>
    all.some(({ alternative, control }) => alternative.step === step && control !== undefined),
  ).length
  const reports = decisions.map(({ step, decided }): DecisionReport => {
    const own = all.filter(({ alternative }) => alternative.step === step)
    const tried = own.map(({ alternative: { instead }, branch }) => outcomeOf(instead, branch, recorded))
    const kept = own.flatMap(({ control }) => (control === undefined ? [] : [outcomeOf('', control, recorded)]))
    const beside = kept.length === 0 ? undefined : count(kept)
    const effect = effectOf(count(tried), beside)
    // What a model says when it is asked again is one alternative, however often it is asked.
    const resampled = tried.filter((_, index) => own[index]?.alternative.request.changes === undefined)
    const isLost = beside !== undefined && [count(tried), count(resampled), beside].some(hasLostTooMany)
    const verdict = verdictOf(count(tried), beside, { effect, isLost, compared })
    return {
      step,
      decided,
      verdict,
      tried,
      ...(effect === undefined || verdict === 'unknown' ? {} : { effect }),
      ...(beside === undefined ? {} : { beside: { judged: beside.judged, other: beside.other } }),
    }
  })
  return reports.toSorted((a, b) => (b.effect?.value ?? -2) - (a.effect?.value ?? -2))
}

/** `undefined`: nothing of one of them could be judged. */
function effectOf(tried: Count, kept: Count | undefined): DecisionReport['effect'] {
  if (tried.judged === 0) return undefined
  const first = rateOf(tried)
  if (kept === undefined) return { value: first.hits / first.runs }
  if (kept.judged === 0) return undefined
  const second = rateOf(kept)
  return { value: first.hits / first.runs - second.hits / second.runs, ...newcombe(first, second) }
}

function rateOf({ judged, other }: Omit<Count, 'runs'>): { readonly hits: number; readonly runs: number } {
  return { hits: other, runs: Math.max(judged, other) }
}

/** The alternative that is graded as good where the run is not: that of the largest effect. Of live runs luck made some good. */
export function bestAlternative(
  decisions: readonly DecisionReport[],
  grader: Pick<Grader, 'recorded' | 'takesAnyOther'>,
): { readonly step: number; readonly instead: string } | undefined {
  if (grader.recorded === 'ok' || grader.takesAnyOther) return undefined
  for (const { step, tried, beside, verdict } of decisions) {
    if (beside !== undefined && verdict !== 'critical') continue
    const good = tried.find(({ grade }) => grade === 'ok')
    if (good !== undefined) return { step, instead: good.instead }
  }
  return undefined
}

type Tried = DecisionReport['tried'][number]
type Count = NonNullable<DecisionReport['beside']> & { readonly runs: number }

function isJudged({ outcome }: Tried): boolean {
  return outcome !== 'not judged'
}

/** A grade without an outcome that could be compared is a grade. */
function lostOf({ runs, judged, other }: Count): number {
  return runs - Math.max(judged, other)
}

function hasLostTooMany(count: Count): boolean {
  return areTooMany(lostOf(count), count.runs)
}

function isOther({ grade }: Tried, recorded: Grade): boolean {
  return grade !== undefined && grade !== recorded
}

/** What live runs differ in is an effect only where chance is ruled out. */
function verdictOf(
  tried: Count,
  kept: Count | undefined,
  {
    effect,
    isLost,
    compared,
  }: { readonly effect: DecisionReport['effect']; readonly isLost: boolean; readonly compared: number },
): DecisionReport['verdict'] {
  const isShown =
    kept !== undefined && (effect?.value ?? 0) > 0 && chanceOf(tried, kept) * compared <= alphaOfLook(kept.runs)
  if (kept !== undefined && isLost) return isShown ? 'critical' : 'unknown'
  if (tried.other === 0) return tried.judged === 0 ? 'unknown' : 'same'
  return kept === undefined || isShown ? 'critical' : 'open'
}

/** How likely so great a difference is by chance; those that tell nothing ended as makes it smaller. */
function chanceOf(tried: Count, kept: Count): number {
  const hits = (count: Count): Hits => ({ hits: count.other, runs: count.runs - lostOf(count), lost: lostOf(count) })
  return chanceBetween(hits(tried), hits(kept))
}

const withoutGrade = 'no grade'

/** Without a grade of its own or of the unchanged run it is of no other grade, and of no equal one. */
function outcomeOf(
  instead: string,
  branch: BranchSummary | undefined,
  recorded: Grade,
): DecisionReport['tried'][number] {
  const { compared, grade: told, problems = [] } = branch ?? {}
  const grade = isGraded(told) && isGraded(recorded) ? told : undefined
  if (compared === undefined) {
    const because = problems[0]?.code ?? ''
    // Graded by the calls it made.
    return grade === undefined
      ? { instead, outcome: 'not judged', because }
      : { instead, outcome: 'off tape', grade, because }
  }
  if (grade === undefined) return { instead, outcome: 'not judged', because: withoutGrade }
  const { same } = compared.outcome
  const alike = same === null ? '' : 'the same run'
  const because = compared.first === undefined ? alike : differenceText(compared.first)
  const outcome = same === null ? 'not compared' : same ? 'as recorded' : 'other'
  return { instead, outcome, because, grade }
}

/** Prints the decisions, the alternatives of each, and what was not tried. */
export function printDecisions(
  decisions: readonly DecisionReport[],
  {
    grader,
    differs,
  }: {
    readonly grader: Pick<Grader, 'by' | 'recorded' | 'takesAnyOther'>
    readonly differs?: ControlDifference | undefined
  },
  screen: Screen,
): void {
  if (differs !== undefined) screen.line(`${controlLine(differs)}\n`)
  const whose = differs === undefined ? 'the recorded run' : "today's code unchanged"
  screen.line(`graded by ${neutralLine(grader.by, 120)}; ${whose} is ${grader.recorded}\n`)
  for (const { step, decided, verdict, tried, beside, effect } of decisions) {
    const judged = tried.filter(isJudged).length
    const far =
      (verdict === 'same' || (verdict === 'unknown' && judged > 0)) && judged < tried.length
        ? `, judged ${judged} of ${tried.length}`
        : ''
    screen.line(`${screen.paint('bold', `step ${step}  ${titles[verdict]}${far}`)}${effectText(effect)}`)
    screen.line(`  the model decided: ${neutralLine(decided, 110)}`)
    if (tried.length === 0) screen.line('  no alternative to try: the model called no tool')
    for (const one of tried) screen.line(`  ${triedLine(one)}`)
    const count = { judged, other: tried.filter((one) => isOther(one, grader.recorded)).length }
    if (judged > 0 || beside !== undefined) screen.line(`  ${countsLine(count, beside)}`)
  }
  const named = (verdict: DecisionReport['verdict'], all = decisions): string =>
    all.flatMap((one) => (one.verdict === verdict ? [`${one.step}`] : [])).join(', ') || 'none'
  const isSome = ({ tried }: DecisionReport): boolean => tried.some(isJudged)
  // Alternatives that were not tried or not judged may change the grade.
  const shown = named('critical')
  screen.line(`\n${screen.paint('bold', `critical: ${shown}${shown === 'none' ? ' shown' : ''}`)}`)
  screen.line(`no judged alternative changes the grade: ${named('same')}`)
  const isLive = decisions.some(({ beside }) => beside !== undefined)
  if (isLive) screen.line(`not shown: ${named('open')}`)
  const few = named('unknown', decisions.filter(isSome))
  if (few !== 'none') screen.line(`unknown, as more than a fifth of the runs tell nothing: ${few}`)
  screen.line(
    `nothing could be judged: ${named(
      'unknown',
      decisions.filter((one) => !isSome(one)),
    )}`,
  )
  const left = decisions.flatMap(({ tried }) => tried.filter(({ outcome }) => outcome === 'not judged'))
  const bare = left.filter(({ because }) => because === withoutGrade).length
  if (left.length > 0)
    screen.line(
      `not judged: ${left.length} of ${counted(decisions.flatMap(({ tried }) => tried).length, 'alternative')}${bare === 0 ? '' : `; ${bare} with no grade`}`,
    )
  const best = bestAlternative(decisions, grader)
  if (best !== undefined) screen.line(`best alternative: step ${best.step}, ${neutralLine(best.instead, 90)}`)
  screen.line('not tried: values and texts the run does not know, other answers of tools')
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`
}

function effectText(effect: DecisionReport['effect']): string {
  if (effect === undefined) return ''
  const { value, low, high } = effect
  const range = low === undefined || high === undefined ? '' : ` (95 %: ${signed(low)} to ${signed(high)})`
  return `, effect ${signed(value)}${range}`
}

/** Alternatives of a tape are counted, and no draws: each ends as it does, each time. */
function countsLine(tried: Omit<Count, 'runs'>, beside: DecisionReport['beside']): string {
  const { hits, runs } = rateOf(tried)
  if (beside === undefined) return `${hits} of ${runs} alternatives get another grade`
  const kept = rateOf(beside)
  return `of the alternatives ${describeRate(hits, runs)} get another grade; with the decision kept, sampled in pairs, ${describeRate(kept.hits, kept.runs)}`
}

function triedLine({ instead, outcome, grade, because }: DecisionReport['tried'][number]): string {
  const graded = grade === undefined ? '' : `, ${grade}`
  return `${neutralLine(instead, 90)}: ${words[outcome]}${graded}${because === '' ? '' : ` (${neutralLine(because, 140)})`}`
}

const titles: Readonly<Record<DecisionReport['verdict'], string>> = {
  critical: 'critical',
  same: 'not critical, as far as was tried',
  open: 'not shown',
  unknown: 'unknown',
}

const words: Readonly<Record<DecisionReport['tried'][number]['outcome'], string>> = {
  other: 'another outcome',
  'as recorded': 'the same outcome',
  'not compared': 'the outcome was not compared (the import did not see it)',
  'off tape': 'graded by calls made before it left the tape',
  'not judged': 'not judged',
}
