import type { DatabaseSync } from 'node:sqlite'
import { nearestWord } from '../errors/index.ts'
import type { KeptReason, Outcome, RetentionClass, RunAttributes } from '../tape/index.ts'
import { type ContentSource, contentFilterOf, tapesThatSay } from './match-content.ts'
import { type IndexRow, inScope, lineOf, type RowReader, rowsOf, storable, type WordKind } from './index-rows.ts'

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
  /** The id of a run, or the beginning of one. */
  readonly id?: string
  /** Texts that stand in its input, arguments, answers or messages; in upper or lower case. */
  readonly text?: string | readonly string[]
  /** What happened in it, in the language of rules: `refund(amount > 100)`. */
  readonly call?: string | readonly string[]
  /** Tags of a subject, one for each key; one of them has to fit. */
  readonly subject?: readonly string[]
  readonly session?: string
  /** Each has to fit. */
  readonly attributes?: RunAttributes
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

/** What is made of the rows that fit, and how many do. */
export interface Matches<R> {
  readonly rows: readonly R[]
  /** Of tapes that cannot be read, whole. */
  readonly unreadable: readonly IndexRow[]
  readonly more: number
  readonly total: number
  readonly withoutCost: number
  readonly unknownWords: readonly { readonly option: string; readonly word: string; readonly nearest?: string }[]
}

/** Asks an index that is up to date. */
export function selectRows<R>(
  database: DatabaseSync,
  scope: string,
  { filter = {}, sort, limit }: TapeQuery,
  source: ContentSource,
  reader: RowReader<R>,
): Matches<R> {
  const place = placeCondition(database, scope, filter.place)
  const said = saidCondition(database, [place, ...conditionsOf(filter)], filter, source)
  const wanted = [place, ...conditionsOf(filter), ...said]
  const order = sort ?? 'started'
  const found = idsOf(database, [...wanted, [`outcome <> 'unreadable'`]], orders[order], limit)
  // The newest are looked for, and listed in the order they began.
  const readable = rowsOf(database, order === 'started' ? found.reverse() : found, reader)
  const lost = idsOf(database, [...wanted, isUnreadable], 'id', limit)
  const { fit, total, withoutCost } = count(database, place, filter, said)
  return {
    rows: readable,
    unreadable: rowsOf(database, lost, { ...reader, make: (row) => row }),
    more: fit - readable.length - lost.length,
    total,
    withoutCost,
    unknownWords: fit === 0 ? unknownWords(database, filter) : [],
  }
}

/** Runs of one agent whose models decided the same and that ended alike. */
export interface GroupRow {
  readonly agent: string | undefined
  readonly signature: string
  readonly count: number
  /** Started first and last, epoch milliseconds. */
  readonly first: number | undefined
  readonly last: number | undefined
  /** US dollars of those whose cost is known. */
  readonly cost: number | undefined
}

/** The groups that fit, the largest first, and the newest tape of each as the rows. */
export function selectGroups<R>(
  database: DatabaseSync,
  scope: string,
  { filter = {}, limit = -1 }: TapeQuery,
  source: ContentSource,
  reader: RowReader<R>,
): Matches<R> & { readonly groups: readonly GroupRow[] } {
  const place = placeCondition(database, scope, filter.place)
  const said = saidCondition(database, [place, ...conditionsOf(filter)], filter, source)
  const wanted: readonly Condition[] = [place, ...conditionsOf(filter), ...said, [`outcome <> 'unreadable'`]]
  // The id is that of the row with the maximum: SQLite says so of a query with one.
  const all = database
    .prepare(
      `SELECT id, agent, signature, count(*) AS count, sum(cost) AS cost, max(started) AS last FROM tape
       WHERE ${sqlOf(wanted)} GROUP BY agent, signature ORDER BY count DESC, last DESC, signature`,
    )
    .all(...valuesOf(wanted))
  const began = database
    .prepare(
      `SELECT agent, signature, min(started) AS first FROM tape WHERE ${sqlOf(wanted)} GROUP BY agent, signature`,
    )
    .all(...valuesOf(wanted))
  const firsts = new Map(began.map((row) => [JSON.stringify([row['agent'], row['signature']]), row['first']]))
  const shown = limit < 0 ? all : all.slice(0, limit)
  const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)
  const groups = shown.map(
    ({ agent, signature, count: size, cost, last }): GroupRow => ({
      agent: agent === null ? undefined : String(agent),
      signature: String(signature),
      count: Number(size),
      first: numberOf(firsts.get(JSON.stringify([agent, signature]))),
      last: numberOf(last),
      cost: numberOf(cost),
    }),
  )
  const unreadable = idsOf(database, [place, ...conditionsOf(filter), ...said, isUnreadable], 'id', limit)
  const newest = shown.map(({ id }) => Number(id))
  const { total, withoutCost, fit } = count(database, place, filter, said)
  return {
    groups,
    rows: rowsOf(database, newest, reader),
    unreadable: rowsOf(database, unreadable, { ...reader, make: (row) => row }),
    more: all.length - shown.length,
    total,
    withoutCost,
    unknownWords: fit === 0 ? unknownWords(database, filter) : [],
  }
}

/** Content is looked at last, and only of what fits otherwise. */
function saidCondition(
  database: DatabaseSync,
  conditions: readonly Condition[],
  filter: TapeFilter,
  source: ContentSource,
): readonly Condition[] {
  const wanted = contentFilterOf(filter)
  if (wanted === undefined) return []
  const { minCostUsd: _, maxCostUsd: __, ...others } = filter
  // What is left out for its cost is counted, so it is looked at as well.
  const among = [conditions[0]!, ...conditionsOf(others)]
  const ids = tapesThatSay(database, wanted, { sql: sqlOf(among), values: valuesOf(among) }, source)
  return [['id IN (SELECT value FROM json_each(?))', JSON.stringify(ids)]]
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

/** Which ones fit: sorting whole rows would read the details of every tape that fits. */
function idsOf(database: DatabaseSync, conditions: readonly Condition[], order: string, limit = -1): number[] {
  // As one text: an object for each would take more memory than the tapes, and longer.
  const all = database.prepare(
    `SELECT json_group_array(id ORDER BY ${order}) AS ids
     FROM (SELECT id, started, cost, duration, steps FROM tape WHERE ${sqlOf(conditions)} ORDER BY ${order} LIMIT ?)`,
  )
  return JSON.parse(String(all.get(...valuesOf(conditions), limit)?.['ids'])) as number[]
}

type Counts = Pick<Matches<unknown>, 'total' | 'withoutCost'> & { readonly fit: number }

/** All counts in one pass. */
function count(database: DatabaseSync, place: Condition, filter: TapeFilter, said: readonly Condition[]): Counts {
  const { minCostUsd, maxCostUsd, ...others } = filter
  const hasCostLimit = minCostUsd !== undefined || maxCostUsd !== undefined
  const fit = [...conditionsOf(filter), ...said]
  const unknown: readonly Condition[] = hasCostLimit
    ? [...conditionsOf(others), ...said, [`cost IS NULL AND outcome <> 'unreadable'`]]
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
    filter.id === undefined
      ? undefined
      : [`run = ? OR substr(run, 1, length(?)) = ?`, storable(filter.id), storable(filter.id), storable(filter.id)],
    filter.subject === undefined ? undefined : anyWord('subject', filter.subject),
    ...Object.entries(filter.attributes ?? {}).map(([name, value]) => anyWord('attribute', [`${name}=${value}`])),
    ...Object.entries({ model, tool, kept, session: filter.session }).map(([kind, word]): Condition | undefined =>
      word === undefined ? undefined : ['instr(words, ?) > 0', `\n${lineOf([kind as WordKind, word])}`],
    ),
  ]
  return conditions.filter((condition) => condition !== undefined)
}

function anyWord(kind: WordKind, words: readonly string[]): Condition {
  const has = words.map(() => 'instr(words, ?) > 0')
  return [['0', ...has].join(' OR '), ...words.map((word) => `\n${lineOf([kind, word])}`)]
}

/** Words of a filter that stand on no tape: probably mistyped. */
function unknownWords(database: DatabaseSync, { agent, model, tool }: TapeFilter): Matches<unknown>['unknownWords'] {
  const known = database.prepare('SELECT word FROM vocabulary WHERE kind = ?')
  return Object.entries({ agent, model, tool }).flatMap(([option, word]) => {
    if (word === undefined) return []
    const words = known.all(option).map((row) => String(row['word']))
    if (words.includes(word)) return []
    const nearest = nearestWord(word, words)
    return [{ option, word, ...(nearest !== undefined && { nearest }) }]
  })
}
