import type { DatabaseSync } from 'node:sqlite'
import { nearestWord } from '../errors/index.ts'
import type { KeptReason, Outcome, RetentionClass } from '../tape/index.ts'
import { DamagedRow } from './index-database.ts'
import { type IndexRow, inScope, isIntact, lineOf, rowQuery, storable, type WordKind } from './index-rows.ts'

/** Which tapes are asked for; everything given has to fit. */
export interface TapeFilter {
  readonly agent?: string
  readonly outcome?: Outcome['status'] | 'truncated' | 'unreadable'
  /** A model that was asked or that answered. */
  readonly model?: string
  /** A commit or the beginning of one. */
  readonly commit?: string
  /** A tool that was called, or asked for by a model. */
  readonly tool?: string
  /** US dollars; a tape whose cost is not known fits neither limit. */
  readonly minCostUsd?: number
  readonly maxCostUsd?: number
  /** Started then or later; epoch milliseconds. */
  readonly since?: number
  /** Started before then; epoch milliseconds. */
  readonly until?: number
  readonly kept?: KeptReason['because']
  /** `none`: the tape names no class. */
  readonly retention?: RetentionClass | 'none'
  /** `golden` is everything outside the inbox. */
  readonly place?: 'inbox' | 'golden'
  /** Whose retention ended before then; epoch milliseconds. */
  readonly expiredBefore?: number
}

/** What a list is sorted by. `started`: oldest first; all others: the largest first, unknown ones last. */
export type TapeSort = 'started' | 'cost' | 'duration' | 'steps'

export interface TapeQuery {
  readonly filter?: TapeFilter
  /** Default: `started`. */
  readonly sort?: TapeSort
  /** How many tapes at most: the newest, or the largest. Default: all. */
  readonly limit?: number
}

/** The rows that fit, and how many do. */
export interface Matches {
  /** Readable ones first. */
  readonly rows: readonly IndexRow[]
  readonly more: number
  readonly total: number
  readonly withoutCost: number
  readonly unknownWords: readonly { readonly option: string; readonly word: string; readonly nearest?: string }[]
}

/** Asks an index that is up to date. */
export function selectRows(database: DatabaseSync, scope: string, { filter = {}, sort, limit }: TapeQuery): Matches {
  const place = placeCondition(database, scope, filter.place)
  const wanted = [place, ...conditionsOf(filter)]
  const order = sort ?? 'started'
  const readable = rows(database, [...wanted, [`outcome <> 'unreadable'`]], orders[order], limit)
  const unreadable = rows(database, [...wanted, isUnreadable], 'id', limit)
  // The newest are looked for, and listed in the order they began.
  if (order === 'started') readable.reverse()
  const { fit, total, withoutCost } = count(database, place, filter)
  return {
    rows: [...readable, ...unreadable],
    more: fit - readable.length - unreadable.length,
    total,
    withoutCost,
    unknownWords: fit === 0 ? unknownWords(database, filter) : [],
  }
}

/** SQL with a mark for each value. */
type Condition = readonly [sql: string, ...values: readonly (string | number)[]]

// The very words of the index tape_open.
const isUnreadable: Condition = [`outcome IN ('truncated', 'unreadable') AND outcome = 'unreadable'`]

const orders: Readonly<Record<TapeSort, string>> = {
  started: 'started DESC, id DESC',
  cost: 'cost DESC NULLS LAST, id',
  duration: 'duration DESC NULLS LAST, id',
  steps: 'steps DESC NULLS LAST, id',
}

function rows(database: DatabaseSync, conditions: readonly Condition[], order: string, limit = -1): IndexRow[] {
  // First which ones: sorting whole rows would read the details of every tape that fits.
  const ids = database
    .prepare(`SELECT id FROM tape WHERE ${sqlOf(conditions)} ORDER BY ${order} LIMIT ?`)
    .all(...valuesOf(conditions), limit)
  const one = database.prepare(`${rowQuery} WHERE tape.id = ?`)
  return ids.map(({ id }) => {
    const row = one.get(id!) as unknown as IndexRow | undefined
    if (row === undefined || !isIntact(row)) throw new DamagedRow()
    return row
  })
}

type Counts = Pick<Matches, 'total' | 'withoutCost'> & { readonly fit: number }

/** All counts in one pass. */
function count(database: DatabaseSync, place: Condition, filter: TapeFilter): Counts {
  const { minCostUsd, maxCostUsd, ...others } = filter
  const hasCostLimit = minCostUsd !== undefined || maxCostUsd !== undefined
  const fit = conditionsOf(filter)
  const unknown: readonly Condition[] = hasCostLimit
    ? [...conditionsOf(others), [`cost IS NULL AND outcome <> 'unreadable'`]]
    : [['0']]
  const sql = `SELECT count(*) AS total, count(*) FILTER (WHERE ${sqlOf(fit)}) AS fit,
    count(*) FILTER (WHERE ${sqlOf(unknown)}) AS withoutCost FROM tape WHERE ${sqlOf([place])}`
  const row = database.prepare(sql).get(...valuesOf([...fit, ...unknown, place]))
  return { total: Number(row?.['total']), fit: Number(row?.['fit']), withoutCost: Number(row?.['withoutCost']) }
}

function sqlOf(conditions: readonly Condition[]): string {
  return ['1', ...conditions.map(([sql]) => `(${sql})`)].join(' AND ')
}

function valuesOf(conditions: readonly Condition[]): readonly (string | number)[] {
  return conditions.flatMap(([, ...values]) => values)
}

function placeCondition(database: DatabaseSync, scope: string, place: TapeFilter['place']): Condition {
  if (scope === '' && place === undefined) return ['1']
  const isInbox = (path: string): boolean => path === 'inbox' || path.startsWith('inbox/')
  const ids = database
    .prepare(`SELECT id, path FROM folder WHERE ${inScope('path')}`)
    .all(scope)
    .filter(({ path }) => place === undefined || isInbox(String(path)) === (place === 'inbox'))
    .map(({ id }) => Number(id))
  return [`folder IN (${ids.join(', ')})`]
}

function conditionsOf(filter: TapeFilter): readonly Condition[] {
  const { agent, outcome, model, commit, tool, minCostUsd, maxCostUsd, since, until, kept, retention } = filter
  const conditions: (Condition | undefined)[] = [
    agent === undefined ? undefined : ['agent = ?', storable(agent)],
    outcome === undefined ? undefined : ['outcome = ?', outcome],
    // Either may be shortened.
    commit === undefined
      ? undefined
      : [
          `substr(commit_hash, 1, length(?)) = ? OR (length(commit_hash) >= 7 AND substr(?, 1, length(commit_hash)) = commit_hash)`,
          commit,
          commit,
          commit,
        ],
    minCostUsd === undefined ? undefined : ['cost >= ?', minCostUsd],
    maxCostUsd === undefined ? undefined : ['cost <= ?', maxCostUsd],
    since === undefined ? undefined : ['started >= ?', since],
    until === undefined ? undefined : ['started < ?', until],
    retention === undefined ? undefined : retention === 'none' ? ['class IS NULL'] : ['class = ?', retention],
    filter.expiredBefore === undefined ? undefined : ['until < ?', filter.expiredBefore],
    ...Object.entries({ model, tool, kept }).map(([kind, word]): Condition | undefined =>
      word === undefined ? undefined : ['instr(words, ?) > 0', `\n${lineOf([kind as WordKind, word])}`],
    ),
  ]
  return conditions.filter((condition) => condition !== undefined)
}

/** Words of a filter that stand on no tape: probably mistyped. */
function unknownWords(database: DatabaseSync, { agent, model, tool }: TapeFilter): Matches['unknownWords'] {
  const known = database.prepare('SELECT word FROM vocabulary WHERE kind = ?')
  return Object.entries({ agent, model, tool }).flatMap(([option, word]) => {
    if (word === undefined) return []
    const words = known.all(option).map((row) => String(row['word']))
    if (words.includes(word)) return []
    const nearest = nearestWord(word, words)
    return [{ option, word, ...(nearest !== undefined && { nearest }) }]
  })
}
