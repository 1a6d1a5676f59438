import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { DamagedRow } from './index-database.ts'
import type { TapeFacts } from './tape-facts.ts'

/** What filters and orders look at; `null` is not known. */
export interface Columns {
  /** How the run ended, `truncated`, or `unreadable`. */
  readonly outcome: string
  readonly agent: string | null
  /** Epoch milliseconds. */
  readonly started: number | null
  readonly commit_hash: string | null
  /** Id of the run. */
  readonly run: string | null
  /** US dollars. */
  readonly cost: number | null
  /** Milliseconds. */
  readonly duration: number | null
  readonly steps: number | null
  /** Of retention. */
  readonly class: string | null
  /** Of retention; epoch milliseconds. */
  readonly until: number | null
  /** What its models decided, and how it ended: one text for runs that did the same, see {@link readSignature}. */
  readonly signature: string
  /** One {@link lineOf} each, between line feeds. */
  readonly words: string
}

/** One tape in the index, as SQLite gives it. */
export interface IndexRow extends Columns {
  /** Seen from the recordings, with `/`. */
  readonly path: string
  /** What the system said of the file before it was read. */
  readonly stamp: string
  /** The facts of the tape as JSON. */
  readonly facts: string
  /** See `IndexedTape`; as SQLite keeps it. */
  readonly ended: string | null
  readonly sum: number
}

/** Names of the columns, in the order of the table. */
export const columnNames = [
  'outcome',
  'agent',
  'started',
  'commit_hash',
  'run',
  'cost',
  'duration',
  'steps',
  'class',
  'until',
  'signature',
  'words',
] as const satisfies readonly (keyof Columns)[]

/** Rows with everything, to be followed by conditions. */
export const rowQuery = `SELECT tape.id, CASE folder.path WHEN '' THEN name ELSE folder.path || '/' || name END AS path,
  detail.stamp, ${columnNames.join(', ')}, facts, ended, sum
  FROM tape JOIN detail ON detail.tape = tape.id JOIN folder ON folder.id = tape.folder`

/** What happens to the rows that fit, one after the other: whole, thousands take much memory. */
export interface RowReader<R> {
  /** Gets every row first. */
  readonly notice: (row: IndexRow) => void
  /** What is kept of a tape that can be read. */
  readonly make: (row: IndexRow) => R
}

/** What is made of the rows of these tapes, in their order. */
export function rowsOf<R>(database: DatabaseSync, ids: readonly number[], { notice, make }: RowReader<R>): R[] {
  const some = database.prepare(`${rowQuery} WHERE tape.id IN (SELECT value FROM json_each(?))`)
  const made: R[] = []
  for (let from = 0; from < ids.length; from += batchSize) {
    const batch = ids.slice(from, from + batchSize)
    const found = some.all(JSON.stringify(batch)) as unknown as readonly (IndexRow & { readonly id: number })[]
    const rows = new Map(found.map((row) => [row.id, row]))
    for (const id of batch) {
      const row = rows.get(id)
      if (row === undefined || !isIntact(row)) throw new DamagedRow()
      notice(row)
      made.push(make(row))
    }
  }
  return made
}

/** Rows that are in memory at once. One at a time takes a third longer. */
const batchSize = 100

/** The condition that a path is the folder of the first parameter or lies below it. */
export function inScope(column: string): string {
  return `(?1 = '' OR ${column} = ?1 OR substr(${column}, 1, length(?1) + 1) = ?1 || '/')`
}

/** A row of a tape as it should be. `cost` is in US dollars. */
export function rowOf(
  { path, stamp, ended }: Pick<IndexRow, 'path' | 'stamp' | 'ended'>,
  facts: TapeFacts,
  cost: number | undefined,
): IndexRow {
  const { state, outcome, agent, startedAt, commit, durationMs, steps, retention, until } = facts
  const row = {
    path,
    stamp,
    outcome: outcome ?? state,
    agent: agent === undefined ? null : storable(agent),
    started: momentOf(startedAt),
    commit_hash: commit === undefined ? null : storable(commit),
    run: facts.id === undefined ? null : storable(facts.id),
    cost: cost ?? null,
    duration: durationMs ?? null,
    steps: steps ?? null,
    class: retention ?? null,
    until: momentOf(until),
    signature: JSON.stringify([facts.decisions ?? [], facts.ending ?? state]),
    words: `\n${wordsOf(facts).map(lineOf).join('')}`,
    facts: JSON.stringify(facts),
    ended,
  }
  return { ...row, sum: sumOf(row) }
}

/** Whether a row still is what was written: a disk can lose bits where SQLite does not look. */
function isIntact(row: IndexRow): boolean {
  return sumOf(row) === row.sum
}

function sumOf(row: Omit<IndexRow, 'sum'>): number {
  let text = `${row.path}\0${row.stamp}\0${row.facts}\0${row.ended}`
  for (const name of columnNames) text += `\0${row[name]}`
  return crc32(text)
}

export type WordKind = 'agent' | 'model' | 'tool' | 'kept' | 'subject' | 'session' | 'attribute'

/** The names on a tape that a filter may ask for. */
export function wordsOf(facts: TapeFacts): readonly (readonly [WordKind, string])[] {
  const { agent, models, tools, kept, subjects = [], session, attributes = {} } = facts
  return [
    ...(agent === undefined ? [] : [['agent', agent] as const]),
    ...models.map((model) => ['model', model] as const),
    ...tools.map((tool) => ['tool', tool] as const),
    ...[...new Set(kept.map(({ because }) => because))].map((because) => ['kept', because] as const),
    ...subjects.map((tag) => ['subject', tag] as const),
    ...(session === undefined ? [] : [['session', session] as const]),
    ...Object.entries(attributes).map(([name, value]) => ['attribute', `${name}=${value}`] as const),
  ]
}

/** The decisions of a run and its ending, as they were written. */
export function readSignature(text: string): { readonly decisions: readonly string[]; readonly ending: string } {
  const [decisions, ending] = JSON.parse(text) as readonly [readonly string[], string]
  return { decisions, ending }
}

/** A text as SQLite keeps it: one with a NUL or half a surrogate pair would come back as another, so it is stored as JSON. */
export function storable(text: string): string {
  return text.includes('\0') || text.startsWith('"') || !text.isWellFormed() ? JSON.stringify(text) : text
}

/** One name as it stands among the words of a tape. A recorded name cannot end its line. */
export function lineOf([kind, word]: readonly [kind: WordKind, word: string]): string {
  return `${kind} ${JSON.stringify(word)}\n`
}

function momentOf(text: string | undefined): number | null {
  const moment = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(moment) ? null : moment
}
