import { HarvestError } from '../../errors/index.ts'
import { counted } from '../../errors/words.ts'
import { firstChange } from '../../doctor/fingerprint.ts'
import type { Examination } from '../../doctor/index.ts'
import type { FinishedJob, Job } from '../../jobs/index.ts'
import { type JobOutcome, runJobs } from '../../jobs/run.ts'
import type { Screen } from '../../report/output.ts'
import { type Diagnosis, type Finding, isIll } from '../../doctor/findings.ts'
import type { Check } from './set-up.ts'

/** A tape to look into, with the case it belongs to. */
export interface Patient {
  /** How messages call it: id of the case, else of the tape. */
  readonly name: string
  readonly job: Job
}

/** A tape that could not be examined. */
export interface Untreated {
  readonly name: string
  readonly error: HarvestError
}

/** Everything the command has to say. */
export interface DoctorReport {
  /** Only without arguments. */
  readonly checks: readonly Check[]
  readonly findings: readonly Finding[]
  readonly diagnoses: readonly Diagnosis[]
  readonly untreated: readonly Untreated[]
  readonly isVersioned: (path: string) => boolean
  /** What to do where the recordings are in a folder above. */
  readonly above: readonly string[]
  /** The word that names the newest tape in a command. Only without arguments. */
  readonly newest?: string
}

/** What differs from machine to machine and is fixed when a process starts. */
const elsewhere = { TZ: 'Pacific/Kiritimati', LC_ALL: 'ar_EG.UTF-8', LANG: 'ar_EG.UTF-8' }

/**
 * Looks into tapes, in one start of the project's Vitest, and a second one for those that are well.
 *
 * @throws HarvestError `HARVEST_AGENTS_UNREACHABLE`
 */
export async function examineAll(
  patients: readonly Patient[],
  isVersioned: (path: string) => boolean,
  screen: Screen,
): Promise<{ diagnoses: readonly Diagnosis[]; untreated: readonly Untreated[] }> {
  if (patients.length === 0) return { diagnoses: [], untreated: [] }
  const first = await run(patients, `examining ${counted(patients.length, 'tape')}`, screen)
  const well = patients.filter((_, i) => {
    const outcome = first[i]
    return outcome !== undefined && isExamined(outcome) && !isIll(outcome.examination, isVersioned)
  })
  const again = well.map(({ name, job }): Patient => ({ name, job: { ...job, probe: 'plain' } }))
  const second =
    again.length === 0 ? [] : await run(again, 'once more, in another time zone and language', screen, elsewhere)
  const diagnoses: Diagnosis[] = []
  const untreated: Untreated[] = []
  for (const [i, { name, job }] of patients.entries()) {
    const outcome = first[i]
    if (outcome === undefined) continue
    if (!isExamined(outcome)) {
      untreated.push({ name, error: outcome })
      continue
    }
    const { examination } = outcome
    const there = second[well.findIndex((one) => one.job === job)]
    const change = there === undefined ? undefined : changeThere(examination, there)
    diagnoses.push({ tape: name, examination, ...(change === undefined ? {} : { elsewhere: change }) })
  }
  screen.progress('')
  return { diagnoses, untreated }
}

type Examined = FinishedJob & { readonly examination: Examination }

function isExamined(outcome: JobOutcome): outcome is Examined {
  return 'examination' in outcome && outcome.examination !== undefined
}

function changeThere({ fingerprint }: Examined['examination'], there: JobOutcome): Diagnosis['elsewhere'] {
  if (isExamined(there)) return firstChange(fingerprint, there.examination.fingerprint)
  if (!HarvestError.is(there)) throw new TypeError('a job with a probe ends with an examination')
  const { code, facts } = there
  return { what: 'start of the agent', path: '', before: 'it ran', after: `${facts.what} (${code})` }
}

async function run(
  patients: readonly Patient[],
  what: string,
  screen: Screen,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly (Examined | HarvestError)[]> {
  screen.progress(what)
  const outcomes = await runJobs(
    patients.map(({ job }) => job),
    { env, goesOn: true, onProgress: (ended) => screen.progress(`${what}: ${ended} of ${patients.length}`) },
  )
  const ended = outcomes.map((outcome) => {
    if (isExamined(outcome) || HarvestError.is(outcome)) return outcome
    throw new TypeError('a job with a probe ends with an examination')
  })
  // Tapes behind one that changed the process for good are examined in another process.
  const at = ended.findIndex((outcome) => isExamined(outcome) && outcome.examination.left !== undefined)
  const behind = at === -1 ? [] : patients.slice(at + 1)
  return behind.length === 0 ? ended : [...ended.slice(0, at + 1), ...(await run(behind, what, screen, env))]
}
