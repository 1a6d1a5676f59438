import type { Health } from '../check/index.ts'
import type { Review, ReviewOptions } from '../review/index.ts'
import type {
  Demoted,
  Hold,
  Pruned,
  PinLimits,
  PinReport,
  PruneOptions,
  TapeGroups,
  TapeQuery,
} from '../recordings/index.ts'

/**
 * A folder of recordings. Tapes are named by a path inside it, by id, or as `latest`; cases by id or `group/id`.
 */
export interface Recordings {
  readonly folder: string
  /**
   * The path of a tape.
   *
   * @throws HarvestError `HARVEST_TAPE_MISSING` with the nearest id, `HARVEST_TAPE_AMBIGUOUS`, `HARVEST_RECORDINGS_OUTSIDE`
   */
  find(tape: string): string
  /** The tapes in groups of runs that decided the same and ended alike, the largest first; `limit` counts groups. */
  groups(query?: Omit<TapeQuery, 'sort'>): Promise<TapeGroups>
  /**
   * Removes tapes of the inbox for good.
   *
   * @returns their paths
   * @throws HarvestError `HARVEST_RECORDINGS_…`, such as `HARVEST_RECORDINGS_BRANCHES` when another tape begins with one of them
   */
  remove(...tapes: readonly string[]): Promise<readonly string[]>
  /** Removes the tapes of the inbox whose retention has ended. Those under a hold stay. */
  prune(options?: Omit<PruneOptions, 'recordings'>): Promise<Pruned>
  /** Places a tape under a legal hold: it is not pruned until it is released. */
  hold(tape: string, reason: string): Hold
  /** Takes the hold off a tape. */
  release(tape: string): void
  /** Takes a case out of the golden set and puts its tape back into the inbox. */
  demote(kase: string): Demoted
  /** What each case was made with, and which are stale. Asks git. */
  pins(limits?: PinLimits): Promise<PinReport>
  /** What is stale, flaky, redundant, in no case, or was never seen red. Asks git, runs nothing. */
  health(limits?: PinLimits): Promise<Health>
  /**
   * Reads what a branch does to these recordings: cases that assert less, what each new tape does, secrets, duplicates, sizes.
   * Looks at commits alone.
   *
   * @param range - `origin/main..HEAD`, or the base alone
   * @throws HarvestError `HARVEST_GIT_RANGE`
   */
  review(range: string, options?: Omit<ReviewOptions, 'dir'>): Promise<Review>
}

/**
 * Opens a folder of recordings to manage it: remove, prune, hold, release and demote tapes, read the pins of cases,
 * review what a branch does to it.
 *
 * @param folder - default `recordings`
 * @example
 * const recordings = await openRecordings()
 * recordings.hold('latest', 'a customer complained')
 * const { removed } = await recordings.prune({ dryRun: true })
 */
export async function openRecordings(folder = 'recordings'): Promise<Recordings> {
  const { demote, findTape, groupTapes, placeHold, holdOfTape, pruneTapes, readPins, releaseHold, removeForGood } =
    await import('../recordings/index.ts')
  const find = (tape: string): string => findTape(folder, tape, { isExact: true })
  return {
    folder,
    find,
    groups: (query = {}) => groupTapes(folder, query),
    async remove(...tapes) {
      const files = [...new Set(tapes.map(find))]
      await removeForGood(folder, files)
      return files
    },
    prune: (options = {}) => pruneTapes({ ...options, recordings: folder }),
    hold(tape, reason) {
      const file = find(tape)
      placeHold(folder, file, reason)
      return holdOfTape(file) ?? { reason }
    },
    release: (tape) => releaseHold(folder, find(tape)),
    demote: (kase) => demote(folder, kase),
    pins: (limits) => readPins(folder, limits),
    health: async (limits) => (await import('../check/index.ts')).checkHealth(folder, limits),
    review: async (range, options = {}) =>
      (await import('../review/index.ts')).reviewRange(range, { ...options, dir: folder }),
  }
}
