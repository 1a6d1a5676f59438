import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Case, parseCase, requireTapeFile } from '../cases/index.ts'
import { HarvestError } from '../errors/index.ts'
import { readFormerCases } from '../provenance/index.ts'
import { listCases, type LiveRuns, type PinLimits, queryTapes, readLiveRuns, readPins } from '../recordings/index.ts'
import { readTape } from '../tape/index.ts'
import {
  type CoveredCase,
  coverageOf,
  type IdleTool,
  idleTools,
  type RedundantCase,
  redundantCases,
} from './coverage.ts'

/** A case that did not do well each time it was run with a live model. */
export interface FlakyCase {
  readonly id: string
  readonly file: string
  readonly runs: number
  readonly passed: number
  /** ISO 8601. */
  readonly at: string
  /** `rerun`: live runs of the case. `proof`: asks of the recorded question, beside a changed one. */
  readonly by: 'rerun' | 'proof'
}

/** How well a golden set is kept. */
export interface Health {
  /** Ids of all cases that were looked at. */
  readonly cases: readonly string[]
  readonly stale: readonly { readonly id: string; readonly file: string; readonly reasons: readonly string[] }[]
  /** The worst first. */
  readonly flaky: readonly FlakyCase[]
  /** Ids of cases without any live run that is known here: they may be flaky. */
  readonly flakyUnknown: readonly string[]
  readonly redundant: readonly RedundantCase[]
  readonly idleTools: readonly IdleTool[]
  /** Cases that neither say nor ever said in a commit that they were red. */
  readonly neverRed: readonly { readonly id: string; readonly file: string }[]
  /** Why older versions of cases are not known, in words; absent: git knows them all. */
  readonly historyUnknown?: string
  readonly unreadable: readonly { readonly file: string; readonly code: string; readonly what: string }[]
}

/**
 * Looks at a golden set as a whole: what is stale, flaky, redundant, untested, or was never seen red. Runs nothing.
 *
 * @param recordings - the folder with `golden/`
 * @throws HarvestError `HARVEST_CLI_MODELS` when `models.json` is malformed
 */
export async function checkHealth(recordings = 'recordings', limits: PinLimits = {}): Promise<Health> {
  const summaries = listCases(recordings)
  const cases: Case[] = []
  const covered: CoveredCase[] = []
  const unreadable: { file: string; code: string; what: string }[] = []
  for (const { file, case: kase, error } of summaries) {
    try {
      if (error !== undefined) throw error
      if (kase === undefined) throw new TypeError(`the case ${file} has neither content nor error`)
      covered.push(coverageOf(kase, readTape(requireTapeFile(kase))))
      cases.push(kase)
    } catch (failed) {
      if (!HarvestError.is(failed)) throw failed
      unreadable.push({ file, code: failed.code, what: failed.facts.what })
    }
  }
  const inbox = join(recordings, 'inbox')
  const fresh = existsSync(inbox) ? (await queryTapes(inbox)).tapes : []
  const live = readLiveRuns(recordings)
  const red = await seenRed(recordings, cases)
  const pins = await readPins(recordings, limits)
  return {
    cases: cases.map(({ id }) => id),
    stale: pins.cases
      .filter(({ stale }) => stale.length > 0)
      .map(({ id, file, stale }) => ({ id, file, reasons: stale })),
    flaky: cases
      .flatMap((kase) => flakyIn(kase, live.get(kase.id)))
      .sort((a, b) => a.passed / a.runs - b.passed / b.runs),
    flakyUnknown: cases.filter((kase) => liveRunsOf(kase, live.get(kase.id)).length === 0).map(({ id }) => id),
    redundant: redundantCases(covered),
    idleTools: idleTools(covered, fresh),
    neverRed: cases.filter(({ id }) => !red.ids.has(id)).map(({ id, file }) => ({ id, file })),
    ...(red.unknown === undefined ? {} : { historyUnknown: red.unknown }),
    unreadable,
  }
}

/** Live runs that are known: reruns of this machine, and the control of each proof. A known-bad case is to be bad. */
function liveRunsOf(kase: Case, rerun: LiveRuns | undefined): readonly FlakyCase[] {
  const { id, file, expect, proven = [] } = kase
  const reruns = rerun === undefined || expect === 'fail' ? [] : [{ id, file, ...rerun, by: 'rerun' as const }]
  const proofs = proven.flatMap(({ control, at }): readonly FlakyCase[] => {
    const [passed = Number.NaN, runs = 0] = control.split('/').map(Number)
    return Number.isNaN(passed) || runs === 0 ? [] : [{ id, file, runs, passed, at, by: 'proof' }]
  })
  return [...reruns, ...proofs].filter(({ runs }) => runs > 0)
}

function flakyIn(kase: Case, rerun: LiveRuns | undefined): readonly FlakyCase[] {
  const [newest] = [...liveRunsOf(kase, rerun)].sort((a, b) => (a.at < b.at ? 1 : -1))
  return newest === undefined || newest.passed === newest.runs ? [] : [newest]
}

/**
 * Cases that a red test left a trace in: known bad, fixed, updated, accepted or proven, today or in any commit. A passing
 * test writes nothing, so a case that was red without such a trace is not distinguished from one that never was.
 */
async function seenRed(
  recordings: string,
  cases: readonly Case[],
): Promise<{ readonly ids: ReadonlySet<string>; readonly unknown?: string }> {
  const former = existsSync(recordings) ? await readFormerCases(recordings) : undefined
  const past = (former?.texts ?? []).flatMap((text) => caseIn(text))
  const ids = new Set([...cases, ...past].filter(wasRed).map(({ id }) => id))
  if (former === undefined) return { ids, unknown: 'there is no git history here' }
  return former.isShallow ? { ids, unknown: 'this clone is shallow' } : { ids }
}

function wasRed({ expect, history, approved, accepted, proven }: Case): boolean {
  return expect === 'fail' || approved !== undefined || [history, accepted, proven].some((list = []) => list.length > 0)
}

function caseIn(text: string): readonly Case[] {
  try {
    return [parseCase(text, 'a former case')]
  } catch (error) {
    // What an older version of a case said in a form that is refused today is not known.
    if (HarvestError.is(error)) return []
    throw error
  }
}
