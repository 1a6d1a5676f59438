import { requireTapeFile } from '../cases/index.ts'
import { HarvestError } from '../errors/index.ts'
import { acceptedPins, type History, readHistory } from '../provenance/index.ts'
import { readRetired } from '../provenance/models.ts'
import { judge, type Judgement, type PinnedCase } from '../provenance/stale.ts'
import { readTapeHeader, streamTape } from '../tape/index.ts'
import { type CaseSummary, listCases } from './cases.ts'

/** How far behind a case may be. */
export interface PinLimits {
  /** Commits between the pinned one and HEAD. Default: any number. */
  readonly maxCommits?: number
  /** Days by which HEAD is newer than the tape. Default: any number. */
  readonly maxAgeDays?: number
  /** Ids of models that are no longer offered, beside those of `models.json` in the folder. */
  readonly retired?: readonly string[]
}

/** What cases were made with, and which are stale. */
export interface PinReport {
  /** Commit of HEAD; absent outside a git repository. */
  readonly head?: string
  readonly cases: readonly (PinnedCase & Judgement)[]
  readonly unreadable: readonly { readonly file: string; readonly error: HarvestError }[]
}

/**
 * Reads what the cases of a folder were made with, and judges each by what has changed since.
 *
 * @throws HarvestError `HARVEST_CLI_MODELS` when `models.json` is malformed
 */
export async function readPins(
  recordings: string,
  { maxCommits, maxAgeDays, retired = [] }: PinLimits = {},
  asked?: History,
): Promise<PinReport> {
  const history = asked ?? (await readHistory(process.cwd()))
  const { cases, unreadable } = await pinnedCases(listCases(recordings), history)
  const judged = judge(cases, {
    retired: readRetired(recordings, retired.join(',')),
    today: new Date().toISOString().slice(0, 10),
    ...(maxCommits === undefined ? {} : { maxCommits }),
    ...(maxAgeDays === undefined ? {} : { maxAgeDays }),
    ...(history === undefined ? {} : { headAt: history.headAt }),
  })
  return {
    ...(history === undefined ? {} : { head: history.head }),
    cases: [...judged].map(([one, judgement]) => ({ ...one, ...judgement })),
    unreadable,
  }
}

async function pinnedCases(
  summaries: readonly CaseSummary[],
  history: History | undefined,
): Promise<{ readonly cases: readonly PinnedCase[]; readonly unreadable: PinReport['unreadable'] }> {
  const cases: PinnedCase[] = []
  const unreadable: { file: string; error: HarvestError }[] = []
  for (const { file, case: loaded, error } of summaries) {
    try {
      if (error !== undefined) throw error
      if (loaded === undefined) throw new TypeError(`the case ${file} has neither content nor error`)
      const tape = requireTapeFile(loaded)
      const { harvest: format, startedAt, pins: recorded, recorder } = readTapeHeader(tape)
      // A case may have been written by hand, without pins: what its tape knows by itself still counts.
      const { commit, node } = recorded
      const made = { ...(commit === undefined ? {} : { commit }), node, recorder, ...loaded.pins }
      // Code that was accepted later is what the case goes with now.
      const pins = acceptedPins(made)
      const standing = pins.commit === undefined ? undefined : await history?.standingOf(pins.commit)
      cases.push({
        id: loaded.id,
        file,
        tape,
        agent: loaded.agent,
        pins,
        ...(made.accepted === undefined ? {} : { recorded: made }),
        recordedAt: startedAt,
        format,
        ...(standing === undefined ? {} : { standing }),
      })
    } catch (failed) {
      if (!HarvestError.is(failed)) throw failed
      unreadable.push({ file, error: failed })
    }
  }
  return { cases, unreadable }
}

/** Files the steps of a case were made from that differ from the pinned commit. */
export async function filesTouched({ tape, pins }: PinnedCase, history: History): Promise<readonly string[]> {
  if (pins.commit === undefined) return []
  const changed = await history.changedSince(pins.commit)
  if (changed.length === 0) return []
  const sites = new Set<string>()
  for await (const line of streamTape(tape)) {
    if (line.kind !== 'close' && line.site !== undefined) sites.add(line.site.replace(/:\d+:\d+$/, ''))
  }
  const isFrom = (path: string): boolean =>
    [...sites].some((site) => site === path || path.endsWith(`/${site}`) || site.endsWith(`/${path}`))
  return changed.filter(isFrom)
}
