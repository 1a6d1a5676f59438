import { requireTapeFile } from '../../cases/index.ts'
import { canMutate } from '../../blame/mutants.ts'
import { HarvestError, shellWord } from '../../errors/index.ts'
import type { JobOutcome } from '../../jobs/run.ts'
import { mostOf, noUses } from '../../live/budget.ts'
import type { Use } from '../../live/index.ts'
import { blockedIn } from '../../live/off-tape.ts'
import { isOfCache, isOfService, isUnreached, withoutCache } from '../../live/unreached.ts'
import type { PriceTable } from '../../providers/index.ts'
import { keysRight } from '../../replay/index.ts'
import { readTape } from '../../tape/index.ts'
import { stepsAfterBudget } from '../budget-step.ts'
import type { Loaded } from '../chosen-cases.ts'
import { type CommandInput, program } from '../command.ts'
import type { LivePlan } from '../live.ts'
import { withReference } from '../known-runs.ts'
import { toolsHere, withUsualTools } from '../live-grading.ts'
import { dirOption } from '../named-tape.ts'
import type { NextStep } from '../next-steps.ts'
import { typedAgain } from '../typed-again.ts'
import { codesOf, type PassRate } from './rates.ts'

/** What was asked for, and what came of it. */
export interface Rerun {
  readonly cases: readonly Loaded[]
  /** Unchanged replays of the cases, and what follows them. */
  readonly controls: readonly JobOutcome[]
  readonly ended: readonly JobOutcome[]
  readonly plan: LivePlan
  readonly prices: PriceTable
  readonly given: CommandInput
}

/** From runs that did not pass to why: calls without an answer, what counts as right, or the step that decides. */
export function stepsAfterRates(rates: readonly PassRate[], rerun: Rerun): readonly NextStep[] {
  const { cases, controls, ended, plan, prices, given } = rerun
  const at = rates.findIndex((rate) => rate.passed < rate.runs)
  const [failed, control] = [rates[at], controls[at]]
  // What no recorder sees is answered by no other tape either.
  const isBlocked = ({ reasons }: PassRate): boolean => reasons.some(({ example }) => blockedIn(example) !== undefined)
  const isOffTape = rates.some((rate) => rate.offTape > 0 && !isBlocked(rate))
  const isAnswered = given.has('tools') || given.has('reference')
  return [
    ...(isOffTape && !isAnswered && failed !== undefined
      ? [
          {
            about: withUsualTools('to answer unrecorded calls'),
            command: typedAgain({ tools: toolsHere() }),
          },
          withReference('or from another run', cases[at]!.case, given.value('dir') ?? 'recordings'),
          { about: 'or by running its tools for real, side effects and all', command: typedAgain({ tools: 'live' }) },
        ]
      : []),
    ...(failed === undefined ? [] : stepsAfterFailure(failed, cases[at]!, HarvestError.is(control), given)),
    ...stepsAfterBudget({
      codes: ended.flatMap((run) => codesOf(run)),
      runs: () => cases.map((kase) => [readTape(requireTapeFile(kase.case)), plan.times]),
      grading: dearestOf(ended),
      limits: plan.limits,
      prices,
    }),
    ...stepsToReach(rates, cases),
  ]
}

/** What one grade used at most. */
export function dearestOf(ended: readonly JobOutcome[]): Use {
  return ended.flatMap((run) => (HarvestError.is(run) ? [] : (run.grade?.used ?? []))).reduce(mostOf, noUses)
}

/** From models that could not be asked to what may be wrong. */
function stepsToReach(rates: readonly PassRate[], cases: readonly Loaded[]): readonly NextStep[] {
  const at = rates.findIndex(({ reasons }) => reasons.some(({ example }) => isUnreached(example)))
  const [found, rate] = [cases[at], rates[at]]
  if (found === undefined || rate === undefined) return []
  const lost = rate.reasons.filter(({ example }) => isUnreached(example))
  return [
    ...(lost.some(({ example }) => isOfService(example))
      ? [{ about: 'once the service answers', command: typedAgain({}) }]
      : []),
    ...(lost.some(({ example }) => isOfCache(example)) ? [{ about: withoutCache, command: typedAgain({}) }] : []),
    ...(lost.some(({ example }) => !isOfService(example) && !isOfCache(example))
      ? [{ about: keysRight(readTape(requireTapeFile(found.case))), command: typedAgain({}) }]
      : []),
  ]
}

/** @param isOther - today's code cannot be compared with the recorded run, so no step of it can be blamed */
function stepsAfterFailure(
  { case: id, expect, gradedBy }: PassRate,
  { case: kase }: Loaded,
  isOther: boolean,
  given: CommandInput,
): readonly NextStep[] {
  const dir = dirOption(given.value('dir'))
  const toGrade =
    gradedBy === null ? [{ about: 'to grade runs by what is right', command: typedAgain({ ok: '<right>' }) }] : []
  if (isOther) {
    const asked = typedFor('fix', given)
    return [
      ...toGrade,
      expect === 'fail'
        ? { about: 'if its code is fixed', command: `${program} fix ${shellWord(id)}${asked}${dir}` }
        : { about: 'to see what its code does otherwise', command: `${program} test ${shellWord(id)}${dir}` },
    ]
  }
  const blame = `${program} blame ${shellWord(id)}`
  const asked = typedFor('blame', given)
  return [
    ...toGrade,
    ...(expect === 'fail'
      ? [{ about: 'to see which step decides', command: `${blame}${asked} --dry-run --cross-version${dir}` }]
      : // The recorded run of a case that passes is good: what is asked is which of its answers would make it bad.
        canMutate(readTape(requireTapeFile(kase)))
        ? [
            {
              about: 'to see which answers decide',
              command: `${blame} --mutate${asked} --dry-run --cross-version${dir}`,
            },
          ]
        : []),
  ]
}

/** What graded and answered the runs, as another command takes it. */
function typedFor(command: 'blame' | 'fix', given: CommandInput): string {
  // Tools of blame are those of the tape or real ones.
  const isTaken = (name: string, value: string): boolean =>
    name !== 'tools' || command === 'fix' || ['tape', 'live'].includes(value)
  const typed = ['ok', 'bad', 'oracle', 'reference', 'tools'].flatMap((name) =>
    given.values(name).flatMap((value) => (isTaken(name, value) ? [[`--${name}`, value]] : [])),
  )
  const anyName = given.has('any-name') ? [['--any-name']] : []
  return [...typed, ...anyName].map((words) => ` ${words.map(shellWord).join(' ')}`).join('')
}
