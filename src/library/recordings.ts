import { basename } from 'node:path'
import type { Case, CaseExpectation } from '../cases/index.ts'
import type { CheckOptions, CheckReport } from '../check/index.ts'
import type { ExportFormat } from '../exporters/index.ts'
import type { ImportFacts, ImportFormat } from '../importers/index.ts'
import type { RedactorOptions } from '../privacy/index.ts'
import type { PromoteOptions, TapeList, TapeQuery } from '../recordings/index.ts'
import type { RunDiff } from '../report/diff/compare.ts'
import { readTape } from '../tape/read.ts'
import type { Tape } from '../tape/types.ts'

/**
 * Lists the tapes of a recordings folder, of its inbox, or of any folder with tapes.
 *
 * @param folder - default `recordings`
 * @example
 * const { tapes } = await listTapes('recordings', { filter: { tool: 'refund' }, sort: 'cost', limit: 10 })
 * @throws HarvestError `HARVEST_RECORDINGS_FOLDER`, `HARVEST_RECORDINGS_PRICES`
 */
export async function listTapes(folder = 'recordings', query: TapeQuery = {}): Promise<TapeList> {
  const { queryTapes } = await import('../recordings/index.ts')
  return queryTapes(folder, query)
}

/**
 * Reads a case file.
 *
 * @param file - path of a `.case.yaml`
 * @example
 * const { title, expect, baseline } = await loadCase('recordings/golden/refund.case.yaml')
 * @throws HarvestError `HARVEST_CASE_…` with line and column of each issue
 */
export async function loadCase(file: string): Promise<Case> {
  return (await import('../cases/index.ts')).loadCase(file)
}

export interface ImportTapesOptions {
  /** Default: recognised by the content. */
  readonly format?: ImportFormat
  /** Agent the tapes are for. Default `imported`. */
  readonly agent?: string
  /** Id of the tape, when the recording holds one run. Default: made from the file name. */
  readonly id?: string
  /** Input of the agent, when the recording holds one run. */
  readonly input?: { readonly value: unknown }
  /** Redaction rules beside the built-in ones, as in the recorder. */
  readonly redact?: RedactorOptions
  /** A recordings folder: the tapes are written into its inbox. Default: nothing is written. */
  readonly into?: string
}

/** A foreign recording as a tape. */
export interface ImportedTape {
  readonly tape: Tape
  /** Format, grade, and what the recording did not hold. */
  readonly facts: ImportFacts
  /** Path of the tape, when it was written. */
  readonly file?: string
}

/**
 * Makes tapes from a recording of another tool: a VCR cassette, a HAR, a trace. Everything in them is redacted.
 *
 * @param source - path of the recording, or its bytes
 * @example
 * const [{ tape, facts }] = await importTapes('cassettes/refund.yaml', { agent: 'refund' })
 * @throws HarvestError `HARVEST_IMPORT_…` with file and line
 */
export async function importTapes(
  source: string | Uint8Array,
  options: ImportTapesOptions = {},
): Promise<readonly ImportedTape[]> {
  const { agent = 'imported', into, id, format, input, redact } = options
  const rest = {
    agent,
    ...(format === undefined ? {} : { format }),
    ...(input === undefined ? {} : { input }),
    ...(redact === undefined ? {} : { redact }),
  }
  if (into !== undefined) {
    if (typeof source !== 'string')
      throw new TypeError('importTapes: `into` needs the path of a recording, not its bytes')
    const { importAll } = await import('../recordings/importing/index.ts')
    const { imported, refused } = importAll(source, into, { ...rest, ...(id === undefined ? {} : { as: id }) })
    const [first] = refused
    if (first !== undefined) throw first.error
    return imported.map(({ tape, facts }) => ({ tape: readTape(tape), facts, file: tape }))
  }
  const { importRecordings, several } = await import('../importers/index.ts')
  const { bytesOf, TapeIds } = await import('../recordings/importing/index.ts')
  const { parseTape, serializeTape } = await import('../tape/index.ts')
  const file = typeof source === 'string' ? source : 'recording'
  const bytes = typeof source === 'string' ? bytesOf(source) : Buffer.from(source)
  const ids = new TapeIds()
  const stem = basename(file).replace(/\.[^.]*(?:\.gz)?$/, '')
  const { count, tapes } = importRecordings({
    ...rest,
    file,
    bytes,
    id: (name) => id ?? ids.of(count > 1 && name !== undefined ? `${stem}-${name}` : stem),
  })
  if (count > 1 && (id !== undefined || input !== undefined)) throw several(file, count)
  return Array.from(tapes, ({ header, events, close, facts }) => ({
    tape: parseTape(serializeTape(header, events, close), file),
    facts,
  }))
}

export interface ExportTapeOptions {
  /** `otlp`: OpenTelemetry spans; `har`: HTTP archive; `json`: the trace of tool calls; `html`: the page of `report`. */
  readonly format: ExportFormat | 'html'
  /** Keep messages, arguments, results and bodies. Default true; a page is refused without them. */
  readonly content?: boolean
}

/** A tape in another format. */
export interface ExportedTape {
  readonly text: string
  /** What the format cannot hold, in words. */
  readonly leftOut: readonly string[]
  /** Limits of this export, such as times that were not recorded. */
  readonly notes: readonly string[]
}

/**
 * Writes a run in a format of other tools.
 *
 * @param tape - a tape, or its path
 * @example
 * const { text } = await exportTape('recordings/inbox/run.tape.jsonl', { format: 'otlp', content: false })
 * @throws HarvestError `HARVEST_TAPE_…`
 */
export async function exportTape(tape: Tape | string, options: ExportTapeOptions): Promise<ExportedTape> {
  const { format, content = true } = options
  if (format === 'html') {
    if (!content)
      throw new TypeError('exportTape: a page shows what was said; leave `content` out, or choose another format')
    return { text: await pageOfRun(opened(tape)), leftOut: [], notes: [] }
  }
  const exporters = await import('../exporters/index.ts')
  const { pieces, leftOut, notes } = exporters.exportTape(opened(tape), format, { withContent: content })
  return { text: [...pieces].join(''), leftOut, notes }
}

/** The run alone: what commands kept about it, such as forks, is beside its file and not in the tape. */
async function pageOfRun(tape: Tape): Promise<string> {
  const { runOf } = await import('../report/run.ts')
  const { reportData } = await import('../report/view/report-data.ts')
  const { pageOf } = await import('../report/view/page.ts')
  return pageOf(reportData({ run: { tape, run: runOf(tape, {}) }, madeAt: new Date().toISOString() }))
}

export interface PromoteTapeOptions
  extends Pick<
    PromoteOptions,
    | 'group'
    | 'title'
    | 'tags'
    | 'lesson'
    | 'oracle'
    | 'outcome'
    | 'baselineOnly'
    | 'match'
    | 'acceptCut'
    | 'acceptUnsearched'
  > {
  /** Id of the case; becomes its file name. */
  readonly as: string
  /** The folder with `golden/`. Default `recordings`. */
  readonly recordings?: string
  /** `fail` for a known-bad incident that is not fixed yet. Default `pass`. */
  readonly expect?: CaseExpectation
  /** Name of the agent in the Vitest config. Default: the one the tape names. */
  readonly agentName?: string
  /** The agent, for the replay that comes before anything is written. `unverified`: promote without a replay. */
  readonly agent: ((input: unknown) => unknown) | 'unverified'
}

/**
 * Makes a case of a tape: replays it with the agent, then writes tape, baseline and case into the golden set.
 *
 * @param tape - path of the tape
 * @example
 * const kase = await promote('recordings/inbox/run.tape.jsonl', { as: 'refund-100x', agent: refundAgent })
 * @returns the case as it now loads
 * @throws HarvestError `HARVEST_PROMOTE_…`; `HARVEST_PROMOTE_DIVERGED` when the case would be red. Nothing is written then
 */
export async function promote(tape: string, options: PromoteTapeOptions): Promise<Case> {
  const { agent, agentName, recordings = 'recordings', ...rest } = options
  const { placePromotion, preparePromotion } = await import('../recordings/index.ts')
  const promotion = preparePromotion({
    ...rest,
    recordings,
    tape,
    ...(agentName === undefined ? {} : { agent: agentName }),
  })
  if (agent !== 'unverified') await (await import('./preflight.ts')).requireGreen(promotion, agent)
  return placePromotion(promotion).content
}

/**
 * Checks recordings before they are committed: schema, pairs, digests, secrets, size. Runs nothing.
 *
 * @param folder - default `recordings`
 * @example
 * const { findings } = await checkRecordings('recordings')
 * @throws HarvestError `HARVEST_CHECK_MISSING`
 */
export async function checkRecordings(folder?: string, options: CheckOptions = {}): Promise<CheckReport> {
  return (await import('../check/index.ts')).checkRecordings(folder, options)
}

/**
 * Compares two runs: outcome, tool calls, steps. `diff` prints the same.
 *
 * @param a - a tape, or its path
 * @param b - a tape, or its path
 * @example
 * const { class: how } = await diffRuns('recordings/golden/refund.tape.jsonl', 'recordings/inbox/run.tape.jsonl')
 * @throws HarvestError `HARVEST_TAPE_…`
 */
export async function diffRuns(a: Tape | string, b: Tape | string): Promise<RunDiff> {
  const { compareRuns } = await import('../report/diff/compare.ts')
  return compareRuns(opened(a), opened(b))
}

function opened(tape: Tape | string): Tape {
  return typeof tape === 'string' ? readTape(tape) : tape
}
