import { globSync, lstatSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type CaseContent, type CaseExpectation, type CaseLesson, isCaseId, writeCase } from '../cases/index.ts'
import { HarvestError } from '../errors/index.ts'
import { scan } from '../privacy/index.ts'
import { pinsOf } from '../provenance/index.ts'
import { type Json, readTape, requireClosed, type Tape } from '../tape/index.ts'
import { type MatchOptions, renderBaseline, traceOf } from '../trace/index.ts'
import { writeFileAtomic } from './atomic.ts'

export interface PromoteOptions {
  /** The folder with `inbox/` and `golden/`. */
  readonly recordings: string
  /** Path of the tape. */
  readonly tape: string
  /** Id of the case. */
  readonly as: string
  /** Folder below `golden/`. Default: none. */
  readonly group?: string
  /** Agent to replay with. Default: the one the tape names. */
  readonly agent?: string
  /** Default `pass`. */
  readonly expect?: CaseExpectation
  readonly title?: string
  readonly tags?: readonly string[]
  readonly lesson?: CaseLesson
  readonly match?: MatchOptions
}

export interface Promoted {
  readonly caseFile: string
  readonly tapeFile: string
  readonly content: CaseContent
  /** Text of the case file. */
  readonly text: string
}

/** Largest outcome that is asserted, in characters of JSON: beyond it a case stops being readable. */
const outcomeLimit = 2_000

/**
 * Makes a case of a tape: baseline, outcome and pins are read from it, case and tape are written to the golden set.
 *
 * @throws HarvestError `HARVEST_PROMOTE_…` for a tape or id that cannot become a case; nothing is written then
 */
export function promote(options: PromoteOptions): Promoted {
  checkId('id', options.as)
  if (options.group !== undefined) checkId('group', options.group)
  const folder = join(options.recordings, 'golden', ...(options.group === undefined ? [] : [options.group]))
  const caseFile = join(folder, `${options.as}.case.yaml`)
  const tapeFile = join(folder, `${options.as}.tape.jsonl`)
  const tape = requireClosed(readTape(options.tape))
  const source = readFileSync(options.tape, 'utf8')
  refuseIncomplete(tape)
  refuseSecrets(tape, source)
  refuseTaken(options)
  const content = contentOf(tape, options)
  const text = writeCase(content, { schema: relative(folder, 'node_modules/vitest-harvest/case.schema.json') })
  // The tape first: a case without its tape would be a broken test, a tape without a case is only not promoted yet.
  if (lstatSync(tapeFile, { throwIfNoEntry: false }) && !lstatSync(caseFile, { throwIfNoEntry: false })) rmSync(tapeFile)
  writeFileAtomic(tapeFile, source, { exclusive: true })
  try {
    writeFileAtomic(caseFile, text, { exclusive: true })
  } catch (error) {
    rmSync(tapeFile, { force: true })
    throw error
  }
  return { caseFile, tapeFile, content, text }
}

function contentOf(tape: Tape, options: PromoteOptions): CaseContent {
  const { match } = options
  const outcome = outcomeOf(tape)
  return {
    id: options.as,
    agent: options.agent ?? tape.header.agent,
    tape: `${options.as}.tape.jsonl`,
    expect: options.expect ?? 'pass',
    ...(options.title === undefined ? {} : { title: options.title }),
    ...(options.tags && options.tags.length > 0 ? { tags: options.tags } : {}),
    ...(options.lesson === undefined ? {} : { lesson: options.lesson }),
    pins: pinsOf(tape),
    ...(match === undefined ? {} : { match }),
    baseline: renderBaseline(traceOf(tape.events), match ?? {}) as readonly Json[],
    ...(outcome === undefined ? {} : { outcome }),
  }
}

/** The return value, when it is plain and small enough to be asserted. */
function outcomeOf(tape: Tape): Json | undefined {
  const outcome = tape.close?.outcome
  if (outcome?.status !== 'returned' || outcome.value === undefined) return undefined
  const text = JSON.stringify(outcome.value)
  return text.length > outcomeLimit || text.includes('"$type"') ? undefined : outcome.value
}

function checkId(what: 'id' | 'group', id: string): void {
  if (isCaseId(id)) return
  throw new HarvestError('HARVEST_PROMOTE_ID', {
    what: `'${id}' cannot be the ${what} of a case`,
    why: 'It becomes a file name: lower-case letters, digits, dots, dashes and underscores, beginning with a letter or digit, at most 128.',
    fix: [`--${what === 'id' ? 'as' : 'group'} ${suggestion(id)}`],
  })
}

function suggestion(id: string): string {
  const slug = id
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[^a-z0-9]+|-+$/g, '')
  return isCaseId(slug) ? slug : 'refund-100x'
}

function refuseIncomplete(tape: Tape): void {
  const reason = tape.close?.incomplete
  if (reason === undefined) return
  throw new HarvestError('HARVEST_PROMOTE_INCOMPLETE', {
    what: 'The recording of this tape failed on the way, so it cannot become a case',
    where: { tape: tape.header.id, reason },
    why: 'A replay of it would miss answers that the run had.',
    fix: ['record the run again'],
  })
}

/** The recorder redacts before it writes; a tape from elsewhere, or edited by hand, may still hold a secret. */
function refuseSecrets(tape: Tape, text: string): void {
  const found = text.split('\n').flatMap((line, i) => scan(line).map(({ kind }) => `line ${i + 1}: ${kind}`))
  if (found.length === 0) return
  const shown = [...new Set(found)].slice(0, 10)
  throw new HarvestError('HARVEST_PROMOTE_SECRET', {
    what: 'The tape holds what looks like a secret, and a case is committed for everybody to read',
    where: { tape: tape.header.id },
    detail: [...shown, ...(found.length > shown.length ? [`… and ${found.length - shown.length} more`] : [])].map((line) => `  ${line}`).join('\n'),
    fix: ['record the run again: the recorder takes secrets out before it writes', 'add what is special to you: createRecorder({ redact: { rules: [ … ] } })'],
  })
}

function refuseTaken({ recordings, as }: PromoteOptions): void {
  const taken = globSync(`golden/**/${as}.case.yaml`, { cwd: recordings })
  if (taken.length === 0) return
  throw new HarvestError('HARVEST_PROMOTE_EXISTS', {
    what: `There is a case with the id '${as}'`,
    where: Object.fromEntries(taken.map((file) => ['file', join(recordings, file)])),
    why: 'Ids are unique in the golden set, and a case is never replaced by promoting another tape.',
    fix: ['choose another id', `or remove the old case first: git rm ${join(recordings, taken[0] ?? '')}`],
  })
}
