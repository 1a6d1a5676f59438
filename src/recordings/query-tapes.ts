import { basename, dirname, join, resolve } from 'node:path'
import { lstatSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { discardIndexFile, faultOf, openIndexFile, openIndexMemory, snapshot } from './index-database.ts'
import { type IndexRow, readSignature } from './index-rows.ts'
import { type GroupRow, type Matches, selectGroups, selectRows, type TapeQuery } from './index-select.ts'
import type { Outcome } from '../tape/index.ts'
import { readPrices } from './prices.ts'
import type { TapeFacts } from './tape-facts.ts'
import { pathsBelow } from './files.ts'
import { type IndexSource, TapeIndex } from './tape-index.ts'

/** A tape in a list. */
export interface ListedTape extends TapeFacts {
  readonly file: string
  readonly place: 'inbox' | 'golden'
  /** US dollars; absent when not known. */
  readonly costUsd?: number
  /** How the run ended; absent of one that did not end, or with more than 1,000 characters of JSON: those the tape has. */
  readonly ended?: Outcome
}

/** The answer to a {@link TapeQuery}. */
export interface TapeList<T = ListedTape> {
  /** Tapes that can be read, in the order asked for. */
  readonly tapes: readonly T[]
  /** Tapes that cannot, by file. */
  readonly unreadable: readonly ListedTape[]
  /** How many fit beyond those listed. */
  readonly more: number
  /** How many tapes there are, whether they fit or not. */
  readonly total: number
  /** How many fit, but for a cost that is unknown. */
  readonly withoutCost: number
  /** Words of the filter that no tape has, with the nearest one that a tape has. */
  readonly unknownWords: readonly { readonly option: string; readonly word: string; readonly nearest?: string }[]
  /** Why the index was rebuilt, or not used; the list is right all the same. */
  readonly note?: string
}

/**
 * The tapes below a folder that fit.
 *
 * An index in the inbox remembers what was read; it is made when it is missing, made again when it is damaged, and done
 * without when it cannot be written or someone holds it: the files are the truth. Tapes about to be listed are looked
 * at once more. A closed tape that was rewritten in place, and does not fit by what it said before, is not noticed.
 *
 * @param folder - a recordings folder, its inbox, or any folder with tapes
 * @throws HARVEST_RECORDINGS_PRICES, HARVEST_RECORDINGS_FOLDER when a folder cannot be looked through
 */
export function queryTapes(
  folder: string,
  query: TapeQuery = {},
  onProgress?: IndexSource['onProgress'],
): Promise<TapeList> {
  return mapTapes(folder, query, () => (tape) => tape, onProgress)
}

/**
 * As {@link queryTapes}, for lists of many tapes: of each that can be read, only what `begin()` returns for it is kept.
 *
 * @param begin - called once more when tapes changed meanwhile: then all of them come again
 * @throws as {@link queryTapes}, and what it throws
 */
export function mapTapes<T>(
  folder: string,
  query: TapeQuery,
  begin: () => (tape: ListedTape) => T,
  onProgress?: IndexSource['onProgress'],
): Promise<TapeList<T>> {
  return asked(folder, query, onProgress, { select: selectRows<T>, listOf, begin })
}

/** Tapes of one agent whose models decided the same and that ended alike. */
export interface TapeGroup {
  readonly agent?: string
  /** See {@link TapeFacts.decisions}. */
  readonly decisions: readonly string[]
  /** See {@link TapeFacts.ending}; `truncated` for runs that did not end. */
  readonly ending: string
  readonly count: number
  /** Started first and last, epoch milliseconds. */
  readonly first?: number
  readonly last?: number
  /** US dollars of those whose cost is known. */
  readonly costUsd?: number
  readonly newest: ListedTape
}

/** The answer to a question for groups: `more` counts groups. */
export interface TapeGroups extends Omit<TapeList, 'tapes'> {
  readonly groups: readonly TapeGroup[]
}

/**
 * The tapes below a folder that fit, in groups of those that did the same, the largest first. `limit` counts groups.
 *
 * @throws as {@link queryTapes}
 */
export function groupTapes(
  folder: string,
  query: Omit<TapeQuery, 'sort'> = {},
  onProgress?: IndexSource['onProgress'],
): Promise<TapeGroups> {
  const select = selectGroups<ListedTape>
  return asked(folder, query, onProgress, { select, listOf: groupsOf, begin: () => (tape) => tape })
}

/** What is asked of the index, what is kept of its tapes, and how the answer is said. */
interface Asking<T, M extends Matches<T>, L> {
  readonly select: (...given: Parameters<typeof selectRows<T>>) => M
  readonly begin: () => (tape: ListedTape) => T
  readonly listOf: (matches: M, root: string, note: string | undefined) => L
}

async function asked<T, M extends Matches<T>, L>(
  folder: string,
  query: TapeQuery,
  onProgress: IndexSource['onProgress'],
  asking: Asking<T, M, L>,
): Promise<L> {
  const isInbox = basename(resolve(folder)) === 'inbox'
  const root = isInbox ? dirname(folder) : folder
  const scope = isInbox ? 'inbox' : ''
  const inbox = join(root, 'inbox')
  const source = { root, prices: readPrices(root), ...(onProgress && { onProgress }) }
  const ask = (database: DatabaseSync): Promise<M> => askIndex(database, source, scope, query, asking)
  const inMemory = async (): Promise<M> => use(await openIndexMemory(), ask)
  const answer = (matches: M, note?: string): L => asking.listOf(matches, root, note)

  if (!isFolder(inbox)) return answer(await inMemory())
  try {
    return answer(await use(await openIndexFile(inbox), ask))
  } catch (error) {
    const fault = faultOf(error)
    if (fault === undefined) throw error
    if (!fault.isDamage) return answer(await inMemory(), unused(fault.what))
    try {
      discardIndexFile(inbox)
      return answer(await use(await openIndexFile(inbox), ask), `the index of the tapes was rebuilt: ${fault.what}`)
    } catch (again) {
      const second = faultOf(again)
      if (second === undefined) throw again
      return answer(await inMemory(), unused(second.what))
    }
  }
}

/** Whether it is a folder itself, and no link to one; the recordings may be a file. */
function isFolder(path: string): boolean {
  try {
    return lstatSync(path).isDirectory()
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}

function unused(what: string): string {
  return `the index of the tapes could not be used, so every tape was read: ${what}`
}

async function use<T>(database: DatabaseSync, run: (database: DatabaseSync) => Promise<T>): Promise<T> {
  try {
    return await run(database)
  } finally {
    database.close()
  }
}

async function askIndex<T, M extends Matches<T>>(
  database: DatabaseSync,
  source: IndexSource,
  scope: string,
  query: TapeQuery,
  { select, begin }: Asking<T, M, unknown>,
): Promise<M> {
  const index = new TapeIndex(database, source)
  await index.update(scope, { every: false })
  const below = pathsBelow(source.root)
  const answer = (notice: (row: IndexRow) => void): M =>
    snapshot(database, () => {
      const keep = begin()
      return select(database, scope, query, source, { notice, make: (row) => keep(tapeOf(row, below)) })
    })
  const changed: Pick<IndexRow, 'path' | 'outcome'>[] = []
  const first = answer((row) => {
    if (index.isFresh(row) !== true) changed.push({ path: row.path, outcome: row.outcome })
  })
  if (changed.length === 0) return first
  // A closed tape that changed: someone rewrites tapes in place, so all of them have to be looked at.
  const every = changed.some(({ outcome }) => outcome !== 'truncated' && outcome !== 'unreadable')
  if (every) await index.update(scope, { every })
  else await index.read(changed.map(({ path }) => path))
  return answer(() => undefined)
}

function listOf<T>(matches: Matches<T>, root: string, note: string | undefined): TapeList<T> {
  const { rows, unreadable, more, total, withoutCost, unknownWords } = matches
  return {
    tapes: rows,
    unreadable: unreadable.map((row) => tapeOf(row, pathsBelow(root))),
    more,
    total,
    withoutCost,
    unknownWords,
    ...(note !== undefined && { note }),
  }
}

function groupsOf(
  { groups, ...matches }: Matches<ListedTape> & { readonly groups: readonly GroupRow[] },
  root: string,
  note: string | undefined,
): TapeGroups {
  const { tapes, ...list } = listOf(matches, root, note)
  return {
    ...list,
    groups: groups.flatMap(({ agent, signature, count, first, last, cost }, at) => {
      const newest = tapes[at]
      if (newest === undefined) return []
      return {
        ...(agent === undefined ? {} : { agent: newest.agent ?? agent }),
        ...readSignature(signature),
        count,
        ...(first === undefined ? {} : { first }),
        ...(last === undefined ? {} : { last }),
        ...(cost === undefined ? {} : { costUsd: cost }),
        newest,
      }
    }),
  }
}

function tapeOf({ path, facts, cost, ended }: IndexRow, below: (path: string) => string): ListedTape {
  return {
    file: below(path),
    place: path.startsWith('inbox/') ? 'inbox' : 'golden',
    ...(JSON.parse(facts) as TapeFacts),
    ...(cost !== null && { costUsd: cost }),
    ...(ended !== null && { ended: JSON.parse(ended) as Outcome }),
  }
}
