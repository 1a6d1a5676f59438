import type { Case } from '../../cases/index.ts'
import { withReference } from '../known-runs.ts'
import { toolsHere, withUsualTools } from '../live-grading.ts'
import { finerAnswer, isRuledOut, smallest } from '../finer-answer.ts'
import { describeRate } from '../live.ts'
import { typedAgain } from '../typed-again.ts'
import { evidenceOf, runsThatShow, shareShown, usualFix } from '../../blame/fix-control.ts'
import type { FixAnswer, FixRun } from '../../blame/fix-task.ts'
import { isPassing } from '../../fork/kept-forks.ts'
import { HarvestError, neutralLine } from '../../errors/index.ts'
import { withoutSteps } from '../../errors/steps.ts'
import { counted } from '../../errors/words.ts'
import type { NextStep } from '../next-steps.ts'

/** The run that becomes the tape of the case, and how many took its way. */
export interface Choice {
  readonly index: number
  readonly run: FixRun
  readonly ok: number
  readonly graded: number
  /** Good runs that did the same. */
  readonly alike: number
}

function stepText({ about, command }: NextStep): string {
  return `${about}: ${command}`
}

/** Whose runs are chosen from, and what lets more of them end. */
interface ChosenFor {
  readonly kase: Case
  readonly recordings: string
  readonly gradedBy: string
  readonly steps: readonly NextStep[]
}

/**
 * The good run that most good runs are like; of several the first. One that left its tape counts, and is not chosen.
 *
 * @throws HarvestError `HARVEST_FIX_NOT_GOOD` unless more runs are good than not, and one of them ended on its tape
 */
export function chooseRun(runs: readonly FixRun[], { kase, recordings, gradedBy, steps }: ChosenFor): Choice {
  const good = runs.flatMap((run, index) => (run.grade === 'ok' ? [{ run, index }] : []))
  const whole = good.filter(({ run }) => run.isOffTape !== true)
  const ways = [...Map.groupBy(whole, ({ run }) => run.fork.fingerprint).values()]
  const [way] = ways.sort((a, b) => b.length - a.length)
  const [chosen] = way ?? []
  if (chosen === undefined || good.length * 2 <= runs.length)
    throw notGood(runs, good.length, { kase, recordings, gradedBy, steps })
  return { ...chosen, ok: good.length, graded: runs.length, alike: way?.length ?? 0 }
}

/**
 * A model is right by chance as well. Runs whose models were asked as recorded say how often.
 *
 * @throws HarvestError `HARVEST_FIX_NOT_SHOWN` unless these are right less often, by more than chance explains
 */
export function requireShown(
  { isControlled, runs, controls }: FixAnswer,
  { kase, gradedBy: by, steps }: ChosenFor,
): void {
  if (!isControlled) return
  const { ok, beside, chance, isShown } = evidenceOf(runs, controls)
  if (isShown) return
  const unjudged = controls.filter(({ grade }) => grade !== 'ok' && grade !== 'bad').length
  const isAsGood = beside * runs.length >= ok * controls.length
  const [fixed, asRecorded] = [`${ok} of ${runs.length}`, `${beside - unjudged} of ${controls.length}`]
  // Whichever way those ended that were not judged.
  const mayBeOk = runs.filter(({ grade }) => grade !== 'bad').length
  const isSettled = isRuledOut({ hits: mayBeOk, runs: runs.length }, { hits: beside - unjudged, runs: controls.length })
  throw new HarvestError('HARVEST_FIX_NOT_SHOWN', {
    what:
      isAsGood && unjudged === 0
        ? `Without the fix the runs end well too (${asRecorded}), and nothing was written`
        : `The fix is not shown to make the difference, and nothing was written`,
    where: {
      case: kase.id,
      'graded by': neutralLine(by, 200),
      'with the fix': `${fixed} ok`,
      'asked as recorded': `${asRecorded} ok${unjudged === 0 ? '' : `, ${unjudged} not judged`}`,
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

function notGood(
  runs: readonly FixRun[],
  good: number,
  { kase, recordings, gradedBy: by, steps }: ChosenFor,
): HarvestError {
  const offTape = runs.some(({ fork }) => fork.problems.some(({ code }) => code === 'HARVEST_NOT_RECORDED'))
  // What could not ask its model, or was not paid for, says nothing of the agent.
  const judged = runs.filter(({ fork }) => !fork.problems.some(({ code }) => isPassing(code))).length
  const isRight = good * 2 > runs.length
  const [reason] = runs.flatMap(({ because }) => (because === undefined ? [] : [withoutAdvice(because)]))
  return new HarvestError('HARVEST_FIX_NOT_GOOD', {
    what: isRight
      ? `The fixed agent makes the right calls in ${good} of ${runs.length} runs, but none ends on the tape`
      : judged === 0
        ? 'No run of the fixed agent could be judged, and nothing was written'
        : `The fixed agent is right in ${good} of ${counted(judged, 'run')}, and nothing was written`,
    where: {
      case: kase.id,
      'graded by': neutralLine(by, 200),
      ...(judged === 0 ? {} : { right: describeRate(good, judged) }),
      ...(judged === runs.length ? {} : { 'not judged': `${runs.length - judged} of ${runs.length}` }),
    },
    ...(isRight ? { why: 'A run that left its tape is not whole, so nothing was written.' } : {}),
    ...(reason === undefined ? {} : { detail: reason.replace(/^/gm, '  ') }),
    fix: [
      ...(offTape
        ? [
            `${withUsualTools('to answer its new calls')}: ${typedAgain({ tools: toolsHere() })}`,
            ...[withReference('to answer them from another run', kase, recordings)].map(stepText),
            `to run its tools for real, with their side effects: ${typedAgain({ tools: 'live' })}`,
          ]
        : []),
      ...steps.map(stepText),
      ...(offTape || steps.length > 0
        ? []
        : ['once you looked at the runs above and fixed the agent further: the same command']),
    ],
  })
}

/** What a run was stopped by; what to do about it in a fix is another matter. */
function withoutAdvice(message: string): string {
  return withoutSteps(message)
    .replaceAll(/^\(HARVEST_\w+\)\n?/gm, '')
    .trim()
}
