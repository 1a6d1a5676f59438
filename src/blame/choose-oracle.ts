import type { Case } from '../cases/index.ts'
import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import type { Tape } from '../tape/index.ts'
import { contradictionIn } from './contradiction.ts'
import { canMeetBoth, type Expectation, parseExpectation, typedExpectations } from './expectation.ts'
import type { Judging, OracleFunction } from './oracle.ts'
import { waysToName } from './ways-to-name.ts'

/** What there is to grade runs by. */
export interface OracleOptions {
  /** A function, and its name for people. */
  readonly judge?: { readonly name: string; readonly judge: OracleFunction }
  /** As {@link parseExpectation} reads them. */
  readonly ok?: readonly string[]
  readonly bad?: readonly string[]
  readonly case?: Case
}

/**
 * What runs are graded by: the function, or else what was expected, or else what the case says of good and bad runs, or
 * else its outcome or baseline. Without any of them a run that threw
 * is blamed for throwing; of one that returned it is unknown what is wrong about it.
 *
 * @throws HarvestError `HARVEST_ORACLE_MISSING`, `HARVEST_ORACLE_CONFLICT`, and those of {@link parseExpectation}
 */
export function chooseJudging(tape: Tape, { judge, ok = [], bad = [], case: kase }: OracleOptions): Judging {
  const isExpected = ok.length + bad.length > 0
  if (judge !== undefined && isExpected) throw two()
  if (judge !== undefined) return { by: 'function', ...judge }
  if (isExpected) {
    const typed = typedExpectations({ ok, bad })
    const both = ok.find((text) => bad.includes(text))
    if (both !== undefined) throw okAndBad(both)
    requirePossible(typed)
    return { by: 'expectations', ok: typed.ok, bad: typed.bad }
  }
  const own = [kase?.ok ?? [], kase?.bad ?? []] as const
  if (kase !== undefined && own.flat().length > 0) {
    const read = (key: 'ok' | 'bad'): readonly Expectation[] =>
      (kase[key] ?? []).map((text) => parseExpectation(text, `${kase.file}:${kase.lines[key] ?? 1}:1, ${key}`))
    const said = { ok: read('ok'), bad: read('bad') }
    requirePossible(said)
    return { by: 'expectations', ...said }
  }
  const hasThrown = tape.close?.outcome.status === 'threw'
  // A known-bad run that threw is over when it returns, whichever calls it makes.
  const isBadForThrowing = hasThrown && kase?.expect === 'fail' && kase.outcome === undefined
  if (!isBadForThrowing && kase !== undefined && (kase.outcome !== undefined || kase.expected !== undefined))
    return { by: 'case', case: kase }
  if (hasThrown) return { by: 'ending' }
  throw noOracle(tape, 'Blame compares how runs end, so it needs to know which ends are good.')
}

/** That nothing says which ends of a run are good. */
export function noOracle(tape: Tape, why: string): HarvestError {
  return new HarvestError('HARVEST_ORACLE_MISSING', {
    what: 'No oracle: name what a good or a bad run is, with --ok or --bad',
    where: {
      tape: tape.header.id,
      ...(tape.close?.outcome.status === 'unknown' ? { outcome: 'unknown (the import did not see it)' } : {}),
    },
    why,
    fix: [...waysToName(tape), "to grade runs by a function: --oracle '<file#export>'"],
  })
}

function two(): HarvestError {
  return new HarvestError('HARVEST_ORACLE_CONFLICT', {
    what: '--oracle and --ok/--bad exclude each other',
    fix: ['use one of them: the function can check what --ok and --bad name'],
  })
}

/** No run can be graded `ok` by it: each run would be paid for and graded bad. */
function okAndBad(text: string): HarvestError {
  return new HarvestError('HARVEST_ORACLE_CONFLICT', {
    what: `--ok and --bad say the same, so no run can be good: ${neutralLine(text, 80)}`,
    fix: [
      `if a run is right that does it: --ok ${shellWord(text)}, without --bad`,
      `if a run is wrong that does it: --bad ${shellWord(text)}, without --ok`,
    ],
  })
}

/** Good runs meet all of `ok` and none of `bad`. */
function requirePossible({ ok, bad }: Readonly<Record<'ok' | 'bad', readonly Expectation[]>>): void {
  for (const [n, one] of ok.entries()) {
    const other = ok.slice(n + 1).find((two) => !canMeetBoth(one, two))
    if (other !== undefined) throw neverGood([one, other])
  }
  const found = contradictionIn(ok, bad)
  if (found !== undefined) throw neverGood([found.one, found.other], bad.includes(found.other))
}

function neverGood(both: readonly Expectation[], isBad = false): HarvestError {
  return new HarvestError('HARVEST_ORACLE_CONFLICT', {
    what: isBad ? 'Each run that meets the one condition is bad by the other' : 'No run can meet both conditions',
    where: {
      conditions: both.map(({ option, text }) => `${option} ${shellWord(neutralLine(text, 60))}`).join(' and '),
    },
    why: isBad
      ? 'So no run can be good, and every run would be paid for.'
      : 'A good run meets each --ok, so every run would be graded bad.',
    fix: ['leave one of the two out'],
  })
}
