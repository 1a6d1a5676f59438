import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Case } from '../../cases/index.ts'
import { acceptedPins, changedPins, codeState, pinsOf } from '../../provenance/index.ts'
import { type CaseSummary, listCases } from '../../recordings/index.ts'
import { reportFile } from '../../report/view/report-file.ts'
import type { GoldenCase, GoldenData } from '../../report/view/types.ts'
import { type Tape, readTape } from '../../tape/index.ts'
import { version } from '../../version.ts'
import { type CaseRun, readResults, type VitestRun } from './results.ts'

/** Runs that are shown of a case. */
const shownRuns = 20

/** How a run of a case is written in its history. */
const letters = { green: 'g', red: 'r', unproven: 'u', 'known bad': 'k', 'not run': 'n' } as const

/**
 * The golden set at a glance: every case with what is known of it. A passing run writes no file, so results come from
 * reports that Vitest was asked for, and from the pages that red cases left.
 *
 * @param linkOf - where the report of a case is; default the page that its last red run left
 */
export async function gatherGolden(
  recordings: string,
  resultFiles: readonly string[],
  linkOf: (summary: CaseSummary) => string | undefined = ({ file }) => leftReport(recordings, file),
): Promise<GoldenData> {
  const runs = readResults(resultFiles)
  const git = await codeState(process.cwd(), undefined)
  const cases = listCases(recordings).map((summary) =>
    caseView(summary, runs, git?.commit, linkOf(summary), leftReport(recordings, summary.file)),
  )
  const last = runs.at(-1)
  const at = new Date().toISOString()
  return {
    v: 1,
    kind: 'golden',
    at,
    commit:
      git === undefined
        ? 'unknown'
        : `${git.commit?.slice(0, 10) ?? 'unknown'}${git.dirty ? ' with uncommitted changes' : ''}`,
    last:
      last === undefined
        ? 'no results: add --results with the JSON of a run'
        : `last run ${new Date(last.startedAt).toISOString().slice(0, 19).replace('T', ' ')} UTC`,
    cases,
    made: { by: `vitest-harvest/${version}`, at },
  }
}

/** The page that the last red run of a case left, as seen from here. */
function leftReport(recordings: string, caseFile: string): string | undefined {
  const file = reportFile(resolve(recordings), resolve(caseFile))
  return existsSync(file) ? file : undefined
}

function caseView(
  { id, group, case: kase, error }: CaseSummary,
  runs: readonly VitestRun[],
  commit: string | undefined,
  report: string | undefined,
  left: string | undefined,
): GoldenCase {
  const name = group === '' ? id : `${group}/${id}`
  const history = runs.slice(-shownRuns).map(({ cases }) => cases.get(id))
  const last = runs.at(-1)?.cases.get(id)
  const common = {
    id: name,
    agent: kase?.agent ?? 'unknown',
    models: [] as readonly string[],
    drift: last?.drift ?? {},
    runs: history.map((run) => letters[run?.state ?? 'not run']).join(''),
    ...(last?.ms === undefined ? {} : { ms: last.ms }),
    ...(report === undefined ? {} : { report }),
  }
  if (kase === undefined || error !== undefined)
    return { ...common, state: 'broken', why: error?.facts.what ?? 'the case cannot be read', pins: 'unknown' }
  const tape = readTape(join(kase.file, '..', kase.tape))
  const why = last?.why
  return {
    ...common,
    models: pinsOf(tape).models ?? [],
    ...(kase.title === undefined ? {} : { title: kase.title }),
    ...(kase.tags === undefined ? {} : { tags: kase.tags }),
    state: stateOf(last, left),
    ...(why === undefined ? {} : { why }),
    pins: pinsText(kase, tape, commit),
  }
}

function pinsText(kase: Case, tape: Tape, commit: string | undefined): string {
  const pins = acceptedPins(kase.pins ?? pinsOf(tape))
  if (pins.commit === undefined) return 'no commit'
  const short = pins.commit.slice(0, 10)
  if (commit === undefined) return short
  const isSame = changedPins({ commit: pins.commit }, { commit }).length === 0
  return isSame ? `${short}, the code here` : `${short}, other code here`
}

function stateOf(last: CaseRun | undefined, left: string | undefined): GoldenCase['state'] {
  if (last !== undefined) return last.state
  // The page of a red case is removed when the case runs again.
  return left === undefined ? 'not run' : 'red'
}
