import { usualTools, withUsualTools } from '../live-grading.ts'
import { describeRate } from '../live.ts'
import { typedAgain } from '../typed-again.ts'
import type { FixRun } from '../../blame/fix-task.ts'
import { HarvestError, neutralLine } from '../../errors/index.ts'

/** The run that becomes the tape of the case, and how many took its way. */
export interface Choice {
  readonly index: number
  readonly run: FixRun
  readonly ok: number
  readonly graded: number
  /** Good runs that did the same. */
  readonly alike: number
}

/**
 * The good run that most good runs are like; of several the first. One that left its tape counts, and is not chosen.
 *
 * @throws HarvestError `HARVEST_FIX_NOT_GOOD` unless more runs are good than not, and one of them ended on its tape
 */
export function chooseRun(runs: readonly FixRun[], caseId: string, gradedBy: string): Choice {
  const good = runs.flatMap((run, index) => (run.grade === 'ok' ? [{ run, index }] : []))
  const whole = good.filter(({ run }) => run.isOffTape !== true)
  const ways = [...Map.groupBy(whole, ({ run }) => run.fork.fingerprint).values()]
  const [way] = ways.sort((a, b) => b.length - a.length)
  const [chosen] = way ?? []
  if (chosen === undefined || good.length * 2 <= runs.length) throw notGood(runs, good.length, caseId, gradedBy)
  return { ...chosen, ok: good.length, graded: runs.length, alike: way?.length ?? 0 }
}

function notGood(runs: readonly FixRun[], good: number, caseId: string, by: string): HarvestError {
  const offTape = runs.some(({ fork }) => fork.problems.some(({ code }) => code === 'HARVEST_NOT_RECORDED'))
  const [budget] = runs.flatMap(({ fork }) => fork.problems.filter(({ code }) => code.startsWith('HARVEST_BUDGET_')))
  const allowance = [...(budget?.message ?? '').matchAll(/^→ (.*)$/gm)].map(([, advice = '']) => advice)
  const isRight = good * 2 > runs.length
  const [reason] = runs.flatMap(({ because }) => (because === undefined ? [] : [withoutAdvice(because)]))
  return new HarvestError('HARVEST_FIX_NOT_GOOD', {
    what: isRight
      ? `The fixed agent makes the right calls in ${good} of ${runs.length} runs, but none ends on the tape`
      : `The fixed agent is right in ${good} of ${runs.length} runs, and nothing was written`,
    where: { case: caseId, 'graded by': neutralLine(by, 200), right: describeRate(good, runs.length) },
    ...(isRight ? { why: 'A run that left its tape is not whole, so nothing was written.' } : {}),
    ...(reason === undefined ? {} : { detail: reason.replace(/^/gm, '  ') }),
    fix: [
      ...(offTape
        ? [
            `${withUsualTools('to answer its new calls')}: ${typedAgain({ tools: usualTools })}`,
            "to answer them from another run: --reference '<tape|case>'",
            'to run its tools for real, with their side effects: --tools live',
          ]
        : []),
      ...allowance,
      ...(offTape || budget !== undefined
        ? []
        : ['once you looked at the runs above and fixed the agent further: the same command']),
    ],
  })
}

/** What a run was stopped by; what to do about it in a fix is another matter. */
function withoutAdvice(message: string): string {
  return message
    .split('\n')
    .filter((line) => !/^\s*→|^\(HARVEST_\w+\)$/.test(line))
    .join('\n')
    .trim()
}
