import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Case, type CaseLesson, type FormerTape, parseCase, replaceTape } from '../cases/index.ts'
import { HarvestError } from '../errors/index.ts'
import { pinsOf } from '../provenance/index.ts'
import { parseTape, type Tape, wholeTape } from '../tape/index.ts'
import { traceOf } from '../trace/index.ts'
import { assertedOutcome } from './asserted-outcome.ts'
import { readRegularFile, writeFileAtomic } from './files.ts'
import { refuseLinks } from '../tape/links.ts'
import { refuseCut, refuseEmpty, refuseSecrets, refuseUnfinished } from './promotable.ts'

export interface PreparedFixOptions {
  readonly recordings: string
  readonly case: Case
  /** What the case was read from. */
  readonly text: string
  /** The tape the case has. */
  readonly tape: Tape
  /** The run of the fixed agent: a branch of it. */
  readonly branch: Tape
  /** What showed that the agent is fixed. */
  readonly history: Pick<FormerTape, 'at' | 'graded' | 'without'>
  readonly lesson?: CaseLesson
  /** What good and bad runs do, where someone said it now. */
  readonly ok?: readonly string[]
  readonly bad?: readonly string[]
  readonly oracle?: string
  /** The name that the agent of the case has by now. */
  readonly agent?: string
}

/** A case with another tape: everything about it was checked, and nothing is on disk yet. */
export interface PreparedFix {
  readonly caseFile: string
  /** The case as it was read at the start, and as it will read. */
  readonly before: string
  readonly text: string
  readonly content: Case
  readonly tapeFile: string
  readonly bytes: Buffer
  readonly recordings: string
}

/**
 * Puts a run of the fixed agent in the place of the tape of a case, which stays beside it as what the case `replaces`.
 *
 * @throws HARVEST_PROMOTE_… when the run cannot become the tape of a case; HARVEST_CASE_UNWRITABLE; HARVEST_CASE_EDITED
 */
export function prepareFix(options: PreparedFixOptions): PreparedFix {
  const { recordings, case: kase, text: before, branch, tape: former, history } = options
  const caseFile = kase.file
  requireUnedited(caseFile, before)
  const bytes = Buffer.from(wholeTape(branch))
  const tapeFile = join(dirname(caseFile), freeName(kase))
  const tape = parseTape(bytes.toString('utf8'), tapeFile)
  refuseUnfinished(tape)
  refuseCut(tape, {})
  refuseEmpty(tape, {})
  refuseSecrets(tape, bytes.toString('utf8'), {})
  const outcome = assertedOutcome(tape)
  const { commit } = kase.pins ?? {}
  const entry: FormerTape = {
    tape: kase.tape,
    digest: former.digest,
    expect: kase.expect,
    ...(commit === undefined ? {} : { commit }),
    ...history,
  }
  const { lesson, ok, bad, oracle, agent } = options
  const said = { ...kase.lesson, ...lesson }
  const text = replaceTape(
    before,
    {
      tape: basename(tapeFile),
      ...(agent === undefined ? {} : { agent }),
      expect: 'pass',
      pins: pinsOf(tape),
      baseline: traceOf(tape.events),
      ...(outcome === undefined ? {} : { outcome }),
      ...(Object.keys(said).length === 0 ? {} : { lesson: said }),
      ...(ok === undefined || ok.length === 0 ? {} : { ok }),
      ...(bad === undefined || bad.length === 0 ? {} : { bad }),
      ...(oracle === undefined ? {} : { oracle }),
      replaces: kase.tape,
      history: [...(kase.history ?? []), entry],
    },
    caseFile,
  )
  return { recordings, caseFile, before, text, content: parseCase(text, caseFile), tapeFile, bytes }
}

/** The first free name: the tape of the incident keeps its own. */
function freeName({ id, file, history = [] }: Case): string {
  for (let n = history.length + 1; ; n++) {
    const name = `${id}.fixed-${n}.tape.jsonl`
    if (!existsSync(join(dirname(file), name))) return name
  }
}

/**
 * Writes a prepared replacement. The case is written last and makes it: killed before, the case is what it was.
 *
 * @throws HARVEST_CASE_EDITED when someone edited the case meanwhile, HARVEST_RECORDINGS_… when it cannot be written
 */
export function placeFix({ recordings, caseFile, before, text, tapeFile, bytes }: PreparedFix): void {
  refuseLinks(recordings, dirname(caseFile))
  requireUnedited(caseFile, before)
  writeFileAtomic(tapeFile, bytes, { exclusive: true })
  writeFileAtomic(caseFile, text)
}

function requireUnedited(caseFile: string, before: string): void {
  if (readRegularFile(caseFile).toString('utf8') === before) return
  throw new HarvestError('HARVEST_CASE_EDITED', {
    what: 'The case was edited meanwhile, so nothing was written',
    where: { case: caseFile },
    why: 'An editor or another command changed it. Runs that were kept need not be paid again.',
    fix: ['to fix the case as it is now: the same command, without --no-cache'],
  })
}
