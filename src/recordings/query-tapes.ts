import { basename, dirname, join, resolve } from 'node:path'
import { lstatSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { discardIndexFile, faultOf, openIndexFile, openIndexMemory } from './index-database.ts'
import type { IndexRow } from './index-rows.ts'
import { type Matches, selectRows, type TapeQuery } from './index-select.ts'
import { readPrices } from './prices.ts'
import type { TapeFacts } from './tape-facts.ts'
import { type IndexSource, TapeIndex } from './tape-index.ts'

/** A tape in a list. */
export interface ListedTape extends TapeFacts {
  readonly file: string
  readonly place: 'inbox' | 'golden'
  /** US dollars; absent when not known. */
  readonly costUsd?: number
}

/** The answer to a {@link TapeQuery}. */
export interface TapeList {
  /** Tapes that can be read, in the order asked for. */
  readonly tapes: readonly ListedTape[]
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
 * An index in the inbox remembers what was read; it is made when it is missing, made anew when it is damaged, and done
 * without when it cannot be written or somebody holds it: the files are the truth. Tapes about to be listed are looked
 * at once more. A closed tape that was rewritten in place, and does not fit by what it said before, is not noticed.
 *
 * @param folder - a recordings folder, its inbox, or any folder with tapes
 * @throws HARVEST_RECORDINGS_PRICES, HARVEST_RECORDINGS_FOLDER when a folder cannot be looked through
 */
export async function queryTapes(
  folder: string,
  query: TapeQuery = {},
  onProgress?: IndexSource['onProgress'],
): Promise<TapeList> {
  const isInbox = basename(resolve(folder)) === 'inbox'
  const root = isInbox ? dirname(folder) : folder
  const scope = isInbox ? 'inbox' : ''
  const inbox = join(root, 'inbox')
  const source = { root, prices: readPrices(root), ...(onProgress && { onProgress }) }
  const ask = (database: DatabaseSync): Promise<Matches> => askIndex(database, source, scope, query)
  const inMemory = async (): Promise<Matches> => use(await openIndexMemory(), ask)
  const answer = (matches: Matches, note?: string): TapeList => listOf(matches, root, note)

  if (lstatSync(inbox, { throwIfNoEntry: false })?.isDirectory() !== true) return answer(await inMemory())
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
      // A new one that is damaged as well is a mistake of ours.
      if (second === undefined || second.isDamage) throw again
      return answer(await inMemory(), unused(second.what))
    }
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

async function askIndex(
  database: DatabaseSync,
  source: IndexSource,
  scope: string,
  query: TapeQuery,
): Promise<Matches> {
  const index = new TapeIndex(database, source)
  await index.update(scope, { every: false })
  const first = selectRows(database, scope, query, source)
  const changed = first.rows.filter((row) => index.isFresh(row) !== true)
  if (changed.length === 0) return first
  // A closed tape that changed: somebody rewrites tapes in place, so all of them have to be looked at.
  const every = changed.some(({ outcome }) => outcome !== 'truncated' && outcome !== 'unreadable')
  if (every) await index.update(scope, { every })
  else await index.read(changed.map(({ path }) => path))
  return selectRows(database, scope, query, source)
}

function listOf(matches: Matches, root: string, note: string | undefined): TapeList {
  const listed = matches.rows.map((row) => tapeOf(row, root))
  const { more, total, withoutCost, unknownWords } = matches
  return {
    tapes: listed.filter(({ state }) => state !== 'unreadable'),
    unreadable: listed.filter(({ state }) => state === 'unreadable'),
    more,
    total,
    withoutCost,
    unknownWords,
    ...(note !== undefined && { note }),
  }
}

function tapeOf({ path, facts, cost }: IndexRow, root: string): ListedTape {
  return {
    file: join(root, path),
    place: path.startsWith('inbox/') ? 'inbox' : 'golden',
    ...(JSON.parse(facts) as TapeFacts),
    ...(cost !== null && { costUsd: cost }),
  }
}
