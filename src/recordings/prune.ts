import { dirname } from 'node:path'
import { HarvestError } from '../errors/index.ts'
import { Branches } from './branches.ts'
import { type Hold, holdOf } from './holds.ts'
import { forgetTapes } from './forget-tapes.ts'
import type { TapeFilter } from './index-select.ts'
import { type ListedTape, queryTapes } from './query-tapes.ts'
import { forgetForks } from './kept-forks.ts'
import { finishRemovals, removeLeftovers, removeTape } from './removal.ts'
import { forgetOutside } from './shared.ts'

export interface PruneOptions {
  /** The folder with the inbox. */
  readonly recordings: string
  /** Say what would be removed, and remove nothing. */
  readonly dryRun?: boolean
  /** Also tapes without an end of retention: of this class, and started before then (epoch milliseconds). */
  readonly without?: { readonly retention: NonNullable<TapeFilter['retention']>; readonly startedBefore: number }
  /** Epoch milliseconds. Default: the clock. */
  readonly now?: number
}

/** What {@link pruneTapes} did. */
export interface Pruned {
  readonly removed: readonly ListedTape[]
  /** Their retention has ended and a hold keeps them. */
  readonly held: readonly { readonly tape: ListedTape; readonly hold: Hold }[]
  /** Their retention has ended, and branches that stay begin with them. */
  readonly needed: readonly { readonly tape: ListedTape; readonly branches: readonly string[] }[]
  /** Could not be removed. */
  readonly failed: readonly { readonly tape: ListedTape; readonly error: HarvestError }[]
  /** Files that killed processes left half-written; removed, too. */
  readonly leftovers: readonly string[]
  /** As in a list of tapes. */
  readonly note?: string
}

/**
 * Removes the tapes of an inbox whose retention has ended. A hold keeps a tape, and so does a branch that begins with
 * it and stays, or a retention without an end, unless `without` names it. Truncated and unreadable tapes stay: they may be the evidence of a crash.
 */
export async function pruneTapes({ recordings, dryRun, without, now = Date.now() }: PruneOptions): Promise<Pruned> {
  const expired = await queryTapes(recordings, { filter: { place: 'inbox', expiredBefore: now } })
  const aged =
    without === undefined
      ? []
      : (
          await queryTapes(recordings, {
            filter: { place: 'inbox', retention: without.retention, until: without.startedBefore },
          })
        ).tapes.filter(({ until }) => until === undefined)
  const due = [...expired.tapes, ...aged].filter(({ state }) => state === 'closed')
  const removed: ListedTape[] = []
  const needed: { tape: ListedTape; branches: readonly string[] }[] = []
  const held: { tape: ListedTape; hold: Hold }[] = []
  const failed: { tape: ListedTape; error: HarvestError }[] = []
  if (dryRun !== true) for (const folder of new Set(due.map(({ file }) => dirname(file)))) finishRemovals(folder)
  const branches = new Branches(recordings)
  for (const tape of branches.branchesFirst(due, ({ file }) => file)) {
    const hold = holdOf(tape.file, tape.hold)
    if (hold !== undefined) {
      held.push({ tape, hold })
      continue
    }
    const left = branches.of(
      tape.file,
      removed.map(({ file }) => file),
    )
    if (left.length > 0) {
      needed.push({ tape, branches: left })
      continue
    }
    try {
      branches.refuseUnread(removed.map(({ file }) => file))
      if (dryRun !== true) {
        removeTape(tape.file)
        forgetForks(recordings, tape.file)
      }
      removed.push(tape)
    } catch (error) {
      if (!HarvestError.is(error)) throw error
      // Someone else has removed it: that is what was wanted.
      if (error.code !== 'HARVEST_TAPE_MISSING') failed.push({ tape, error })
    }
  }
  if (dryRun !== true) {
    forgetOutside(removed.map(({ file }) => file))
    await forgetTapes(
      recordings,
      removed.map(({ file }) => file),
    )
  }
  const leftovers = removeLeftovers(recordings, dryRun === true)
  return { removed, held, needed, failed, leftovers, ...(expired.note !== undefined && { note: expired.note }) }
}
