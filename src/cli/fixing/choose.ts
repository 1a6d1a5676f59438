import type { Case } from '../../cases/index.ts'
import { blockedIn, toAllow } from '../../live/off-tape.ts'
import type { CommandInput } from '../command.ts'
import { finerAnswer, isRuledOut, smallest } from '../finer-answer.ts'
import { describeRate } from '../live.ts'
import { typedAgain } from '../typed-again.ts'
import { countRuns, evidenceOf, type FixCount, runsThatShow, shareShown, usualFix } from '../../blame/fix-control.ts'
import type { FixAnswer, FixRun } from '../../blame/fix-task.ts'
import { HarvestError, neutralLine } from '../../errors/index.ts'
import { withoutSteps } from '../../errors/steps.ts'
import { counted } from '../../errors/words.ts'
import type { NextStep } from '../next-steps.ts'
import { stepsToAnswer } from './to-answer.ts'

/** The run that becomes the tape of the case, and how many took its way. */
export interface Choice {
  readonly index: number
  readonly run: FixRun
  readonly count: FixCount
  /** Good runs that did the same. */
  readonly alike: number
}

function stepText({ about, command }: NextStep): string {
  return `${about}: ${command}`
}

/** Whose runs are chosen from, and what lets more of them end. */
interface ChosenFor {
  readonly kase: Case
  readonly given: Pick<CommandInput, 'value'>
  readonly steps: readonly NextStep[]
}

/**
 * The good run that most good runs are like; of several the first. One that left its tape counts, and is not chosen.
 *
 * @throws HarvestError `HARVEST_FIX_NOT_GOOD` unless more runs are good than not, and one of them ended on its tape
 */
export function chooseRun(answer: FixAnswer, chosenFor: ChosenFor): Choice {
  const { runs } = answer
  const good = runs.flatMap((run, index) => (run.grade === 'ok' ? [{ run, index }] : []))
  const whole = good.filter(({ run }) => run.isOffTape !== true)
  const ways = [...Map.groupBy(whole, ({ run }) => run.fork.fingerprint).values()]
  const [way] = ways.sort((a, b) => b.length - a.length)
  const [chosen] = way ?? []
  if (chosen === undefined || good.length * 2 <= runs.length) throw notGood(answer, chosenFor)
  return { ...chosen, count: countRuns(runs), alike: way?.length ?? 0 }
}

/**
 * A model is right by chance as well. Runs whose models were asked as recorded say how often.
 *
 * @throws HarvestError `HARVEST_FIX_NOT_SHOWN` unless these are right less often, by more than chance explains
 */
export function requireShown(
  { isControlled, gradedBy: by, runs, controls }: FixAnswer,
  { kase, steps }: Pick<ChosenFor, 'kase' | 'steps'>,
): void {
  if (!isControlled) return
  const { fixed, asRecorded, chance, isShown } = evidenceOf(runs, controls)
  if (isShown) return
  const { unjudged } = asRecorded
  const isAsGood = (asRecorded.ok + unjudged) * runs.length >= fixed.ok * controls.length
  // Were all that is not known in favour of the fix.
  const isSettled = isRuledOut(
    { hits: fixed.ok + fixed.unjudged, runs: runs.length },
    { hits: asRecorded.ok, runs: controls.length },
  )
  throw new HarvestError('HARVEST_FIX_NOT_SHOWN', {
    what:
      isAsGood && unjudged === 0
        ? `Without the fix the runs end well too (${countText(asRecorded)}), and nothing was written`
        : `The fix is not shown to make the difference, and nothing was written`,
    where: {
      case: kase.id,
      'graded by': neutralLine(by, 200),
      'with the fix': `${fixed.ok} of ${fixed.graded} ok${unjudgedText(fixed.unjudged)}`,
      'asked as recorded': `${asRecorded.ok} of ${asRecorded.graded} ok${unjudgedText(unjudged)}`,
      'by chance': `so great a difference has probability ${chance.toPrecision(2)}`,
      ...(isSettled ? {} : powerFacts(runs.length)),
      ...(isSettled ? { 'with more runs': `hardly more: a fix of ${smallest} or more is ruled out (95 %)` } : {}),
    },
    why:
      isAsGood && unjudged === 0
        ? 'The model was right by chance this time, or it is not the change that fixes it.'
        : 'Runs without the fix that end well, or may, have to be too few for chance.',
    fix: [
      ...[...steps, ...(isSettled ? [] : [moreRuns(runs.length)])].map(stepText),
      'once you looked at the runs above and fixed the agent further: the same command',
      `to write it although it is not shown: ${typedAgain({ without: 'none' })}`,
    ],
  })
}

/** At least twice as many: each look at more runs costs some of the chance that is allowed. */
function moreRuns(runs: number): NextStep {
  const enough = runsThatShow()
  return 2 * runs <= enough ? finerAnswer(runs, enough) : finerAnswer(runs)
}

/** What so few runs can show; `undefined` where they show most fixes. */
export function powerText(runs: number): string | undefined {
  const enough = runsThatShow()
  if (runs >= enough) return undefined
  const of = (many: number): string => `${Math.round(100 * shareShown(many))} of 100`
  return `${runs} of either kind show ${of(runs)} fixes that raise the share of good runs from ${usualFix.before} to ${usualFix.after}; --runs ${enough} shows ${of(enough)}`
}

function powerFacts(runs: number): Readonly<Record<string, string>> {
  const text = powerText(runs)
  return text === undefined ? {} : { 'so many runs': text }
}

function notGood(answer: FixAnswer, { kase, given, steps }: ChosenFor): HarvestError {
  const { gradedBy: by, refused, runs } = answer
  // What has no grade says nothing of the agent.
  const { ok, graded, unjudged } = countRuns(runs)
  const isRight = ok * 2 > runs.length
  const [reason] = runs.flatMap(({ because }) => (because === undefined ? [] : [withoutAdvice(because)]))
  const messages = runs.flatMap(({ fork }) => fork.problems.map(({ message }) => message))
  const next = [
    ...new Set(messages.flatMap((message) => blockedIn(message) ?? []).map(toAllow)),
    ...[...stepsToAnswer(answer, given, false), ...steps].map(({ about, command }) => `${about}: ${command}`),
  ]
  return new HarvestError('HARVEST_FIX_NOT_GOOD', {
    what: isRight
      ? `The fixed agent makes the right calls in ${ok} of ${counted(graded, 'run')}, but none ends on the tape`
      : graded === 0
        ? 'No run of the fixed agent could be judged, and nothing was written'
        : `The fixed agent is right in ${ok} of ${counted(graded, 'run')}, and nothing was written`,
    where: {
      case: kase.id,
      'graded by': neutralLine(by, 200),
      ...(graded === 0 ? {} : { right: describeRate(ok, graded, unjudged) }),
      ...(unjudged === 0 ? {} : { 'not judged': `${unjudged} of ${runs.length}` }),
      ...(refused.length === 0 ? {} : { 'no answer': refusedText(refused) }),
    },
    ...(isRight ? { why: 'A run that left its tape is not whole, so nothing was written.' } : {}),
    ...(reason === undefined ? {} : { detail: reason.replace(/^/gm, '  ') }),
    fix: next.length > 0 ? next : ['once you looked at the runs above and fixed the agent further: the same command'],
  })
}

/** So many calls are shown. */
const mostCalls = 3

function refusedText(refused: FixAnswer['refused']): string {
  const shown = refused.slice(0, mostCalls).map(({ text }) => text)
  return [...shown, ...(refused.length > mostCalls ? [`and ${refused.length - mostCalls} more`] : [])].join('; ')
}

/** `2 of 3`, and how many runs beside these have no grade. */
export function countText({ ok, graded, unjudged }: FixCount): string {
  return `${ok} of ${graded}${unjudgedText(unjudged)}`
}

export function unjudgedText(unjudged: number): string {
  return unjudged === 0 ? '' : `, ${unjudged} not judged`
}

/** What a run was stopped by; what to do about it in a fix is another matter. */
function withoutAdvice(message: string): string {
  return withoutSteps(message)
    .replaceAll(/^\(HARVEST_\w+\)\n?/gm, '')
    .trim()
}
