import { copyFileSync, existsSync, globSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { Case } from '../../cases/index.ts'
import { HarvestError, neutralLine } from '../../errors/index.ts'
import type { FinishedJob, Job } from '../../jobs/index.ts'
import { type JobOutcome, runJobs } from '../../jobs/run.ts'
import { commitsBefore, type FormerCode, inWorktree } from '../../provenance/index.ts'
import type { PreparedFix } from '../../recordings/index.ts'
import { openTemporaryFolder } from '../../tape/temporary-folder.ts'
import { isExact } from '../preflight.ts'
import { linkPackages } from './node-modules.ts'

/** How the case goes that is about to be written. */
export interface Shown {
  /** With today's code: `green`, or why not. */
  readonly withFix: FinishedJob
  readonly isExact: boolean
  /** Absent: no commit without the fix was found, or none was asked for. */
  readonly without?: WithoutFix
  /** Commits that were tried and do not show it, with the reason. */
  readonly tried: readonly Tried[]
}

/** The case with code that does not have the fix. */
export interface WithoutFix extends FormerCode {
  /** `HARVEST_DIVERGENCE`. */
  readonly code: string
  /** What differs, in one sentence. */
  readonly what: string
  /** Whether that code still reproduces the incident on its own tape. */
  readonly reproduces: boolean
}

export interface ShowOptions {
  readonly case: Case
  /** Absolute path of the tape the case has now. */
  readonly tapeFile: string
  /** A revision without the fix, or `none`: it is not looked for. */
  readonly without?: string
  /** The name that the agent of the case has by now. */
  readonly agent?: string
  /** What the fix is compared with asks as recorded: so has the code without it. */
  readonly asksAsRecorded: boolean
  readonly onProgress: (text: string) => void
  /** Ends it where no agent runs: jobs hear what ends this process by themselves. */
  readonly signal: AbortSignal
}

/** Replays the case that is about to be written, with the fix and without it; writes nothing into the project. */
export async function showFix(replacement: PreparedFix, options: ShowOptions): Promise<Shown> {
  const folder = openTemporaryFolder('fix')
  try {
    const tape = join(folder, basename(replacement.tapeFile))
    writeFileSync(tape, replacement.bytes, { mode: 0o600 })
    const now: Job = { tape, case: { file: resolve(replacement.caseFile), text: replacement.text } }
    const before: Job = {
      tape: options.tapeFile,
      ...(options.agent === undefined ? {} : { agent: options.agent }),
      case: { file: resolve(replacement.caseFile), text: replacement.before },
    }
    options.onProgress('replaying with the fix')
    const [withFix] = await runJobs([now])
    if (withFix === undefined || HarvestError.is(withFix)) throw withFix ?? new TypeError('no answer')
    const common = { withFix, isExact: isExact(withFix) }
    if (withFix.verdict?.isGreen !== true || options.without === 'none') return { ...common, tried: [] }
    return { ...common, ...(await showWithout([now, before], options)) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function showWithout(
  jobs: readonly Job[],
  { case: kase, without, asksAsRecorded, onProgress, signal }: ShowOptions,
): Promise<Pick<Shown, 'without' | 'tried'>> {
  const cwd = process.cwd()
  const tried: Tried[] = []
  for (const former of await commitsBefore(cwd, kase.pins?.commit, without)) {
    signal.throwIfAborted()
    onProgress(`replaying without the fix, at ${former.commit.slice(0, 10)}`)
    const [now, before] = await inFormerCode(former, jobs, signal)
    const seen = (asksAsRecorded ? asksOtherwise(former, before) : undefined) ?? redBy(former, now, before)
    if (!('because' in seen)) return { without: seen, tried }
    tried.push(seen)
  }
  return { tried }
}

/** Runs jobs with the code of a commit, under its own Vitest config or, where that knows no such agent, today's. */
function inFormerCode(
  { commit }: FormerCode,
  jobs: readonly Job[],
  signal: AbortSignal,
): Promise<readonly JobOutcome[]> {
  return inWorktree(process.cwd(), commit, async (tree) => {
    signal.throwIfAborted()
    linkPackages(tree)
    const { cwd } = tree
    const own = await outcomes(jobs, cwd)
    const lacksAgent = own.some((one) => HarvestError.is(one) && setUp.has(one.code))
    if (!lacksAgent) return own
    for (const file of globSync('{vitest,vite}.config.*')) copyFileSync(file, join(cwd, file))
    return outcomes(jobs, cwd)
  })
}

/** Codes of a project that is not set up: a commit before `init`. */
const setUp: ReadonlySet<string> = new Set(['HARVEST_AGENTS_UNREACHABLE', 'HARVEST_AGENT_UNKNOWN'])

async function outcomes(jobs: readonly Job[], cwd: string): Promise<readonly JobOutcome[]> {
  try {
    return existsSync(cwd) ? await runJobs(jobs, { cwd }) : jobs.map(() => folderMissing(cwd))
  } catch (error) {
    if (HarvestError.is(error, 'HARVEST_CLI_INTERRUPTED') || !HarvestError.is(error)) throw error
    return jobs.map(() => error)
  }
}

function folderMissing(folder: string): HarvestError {
  return new HarvestError('HARVEST_AGENTS_UNREACHABLE', {
    what: 'The commit has no such folder',
    where: { folder },
    fix: ["name another one: --without '<revision>'"],
  })
}

/** A commit that does not show the fix. */
export type Tried = FormerCode & {
  readonly because: string
  /** Its models are asked otherwise than recorded, as those of today's code are. */
  readonly asksOtherwise?: true
}

/** Something besides the fix changes what the models of today are asked, such as the environment. */
function asksOtherwise(former: FormerCode, before: JobOutcome | undefined): Tried | undefined {
  if (before === undefined || HarvestError.is(before) || before.verdict?.isGreen !== false) return undefined
  if (before.verdict.code !== 'HARVEST_UNPROVEN') return undefined
  const parts = before.report.verdict.unproven.map(({ part, words }) => `${part} ${words}`)
  return {
    ...former,
    because: `models are asked otherwise than recorded: ${neutralLine(parts.join('; '), 200)}`,
    asksOtherwise: true,
  }
}

/** A run that did not begin, or that took no step, says nothing about the fix. */
function redBy(former: FormerCode, now: JobOutcome | undefined, before: JobOutcome | undefined): WithoutFix | Tried {
  if (now === undefined || HarvestError.is(now)) return { ...former, because: now?.facts.what ?? 'no answer' }
  const { verdict, report } = now
  if (verdict === undefined || verdict.isGreen) return { ...former, because: 'the case is green there too' }
  const reproduces = before !== undefined && !HarvestError.is(before) && before.verdict?.isGreen === true
  if (!reproduces && report.comparison.served === 0)
    return { ...former, because: `the agent took no step there (${verdict.code})` }
  const [what = verdict.code] = verdict.said.split('\n')
  return { ...former, code: verdict.code, what, reproduces }
}
