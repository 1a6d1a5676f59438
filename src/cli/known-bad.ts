import { chooseJudging } from '../blame/choose-oracle.ts'
import type { Expectation } from '../blame/expectation.ts'
import { gradeRecorded } from '../blame/grade-task.ts'
import { noneKnown, requireKnownNames } from '../blame/known-names.ts'
import { goodAmong, neverMet } from '../blame/known-good.ts'
import { otherTape } from '../blame/other-tape.ts'
import { createOracle } from '../blame/oracle.ts'
import { waysToName } from '../blame/ways-to-name.ts'
import { type Case, saysGood } from '../cases/index.ts'
import { HarvestError } from '../errors/index.ts'
import type { Promotion } from '../recordings/index.ts'
import type { Screen } from '../report/output.ts'
import { type Json, readTape, type Tape } from '../tape/index.ts'

/** What is said to be right has to tell the recorded run from a right one; a function that grades is asked by those who use it. */
export async function refuseGood({ source, content }: Promotion, screen: Screen): Promise<void> {
  const { id, ok = [], bad = [] } = content
  if (ok.length + bad.length === 0) return
  const tape = readTape(source)
  const judging = chooseJudging(tape, { ok, bad })
  const oracle = createOracle(judging)
  if ((await gradeRecorded(oracle, tape)) === 'ok') throw isGood(tape, id, oracle.about)
  if (judging.by === 'expectations') noteUnknownNames([...judging.ok, ...judging.bad], tape, screen)
}

/**
 * Says what of the conditions a fixed agent has to meet is most likely mistyped.
 *
 * @param isAsked - models are asked next: a name that is nearly one of those that are known is refused, and any tool where none
 *   is known
 * @throws HarvestError `HARVEST_ORACLE_EXPECTATION`
 */
export function noteUnknownNames(
  expectations: readonly Expectation[],
  tape: Tape,
  screen: Pick<Screen, 'note'>,
  { isAsked = false, outcome }: { readonly isAsked?: boolean; readonly outcome?: Json | undefined } = {},
): void {
  const names = { tapes: [tape], ...(outcome === undefined ? {} : { outcome }) }
  try {
    for (const warning of requireKnownNames(expectations, names)) screen.note(warning)
  } catch (error) {
    if (!HarvestError.is(error, 'HARVEST_ORACLE_EXPECTATION')) throw error
    const { what, where, fix = [] } = error.facts
    // Where a value has another type, the names are right.
    const isNear = where !== undefined && fix.some((step) => step.startsWith('did you mean'))
    if (isAsked && (isNear || where?.['tools known'] === noneKnown)) throw error
    // The fixed agent may have a tool that this run never saw, and give it other values.
    screen.note([what, ...fix].join('\n→ '))
  }
}

/**
 * The same of what a case says of good and bad runs, where nothing else was typed: mistyped, `bad` is never met and `ok` never
 * broken, so each run would be graded right.
 *
 * @throws HarvestError as {@link noteUnknownNames}, with the line of the case
 */
export function noteUnknownInCase(kase: Case, tape: Tape, screen: Pick<Screen, 'note'>): void {
  if (kase.oracle !== undefined || !saysGood(kase)) return
  const judging = chooseJudging(tape, { case: kase })
  if (judging.by !== 'expectations') return
  noteUnknownNames([...judging.ok, ...judging.bad], tape, screen, { isAsked: true, outcome: kase.outcome })
}

/**
 * Says before runs are paid for that no known run meets all that is asked of a fixed agent: it may contradict itself. A
 * single condition that no run met yet is what a fix is for.
 */
export async function noteUnmet(
  { ok, bad }: { readonly ok: readonly string[]; readonly bad: readonly string[] },
  {
    tape,
    case: kase,
    files,
  }: {
    readonly tape: Tape
    readonly case: Case
    /** Tapes of runs that may be good. */
    readonly files: readonly string[]
  },
  screen: Screen,
): Promise<void> {
  if ([ok, bad, kase.ok ?? [], kase.bad ?? []].flat().length === 0) return
  const judging = chooseJudging(tape, { ok, bad, case: kase })
  if (judging.by !== 'expectations') return
  const others = files.flatMap((file) => otherTape(file, tape) ?? [])
  const isSeveral = judging.ok.length > 0 && judging.ok.length + judging.bad.length > 1
  if (!isSeveral && (judging.ok.length > 0 || others.length === 0)) return
  const good = await goodAmong(others, createOracle(judging), (one) => one)
  const names = { tapes: [tape], ...(kase.outcome === undefined ? {} : { outcome: kase.outcome }) }
  const unmet = await neverMet(judging, names, {
    isGood: good === undefined ? undefined : 'same question',
    hasKnown: others.length > 0,
  })
  for (const text of unmet) screen.note(`${text}; each run of the fixed agent may be graded bad`)
}

function isGood(tape: Tape, id: string, by: string): HarvestError {
  return new HarvestError('HARVEST_ORACLE_OK', {
    what: 'The oracle grades the recorded run `ok`, so it is not a known-bad case',
    where: { case: id, 'graded by': by },
    why: 'The same oracle grades the fix later, so it must grade this run bad.',
    fix: [...waysToName(tape, true), 'if the run is right: the same command, without --expect'],
  })
}
