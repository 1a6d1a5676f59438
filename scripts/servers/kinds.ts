import { type CallEvent, decodeValue, type Tape } from '../../src/tape/index.ts'

/** What clients of databases are asked with and answer with. */
export const kinds = [
  'parameters',
  'nulls',
  'bigints',
  'dates',
  'arrays',
  'bytes',
  'errors',
  'transactions',
  'cursors',
] as const
export type Kind = (typeof kinds)[number]

/** How many questions of a tape have each kind in them, as they stand on it. */
export function kindsOf(tape: Tape, isStreamed: (sql: string) => boolean): Readonly<Record<Kind, number>> {
  const counts = Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>
  for (const step of questionsOf(tape)) for (const kind of kindsOfStep(step, isStreamed)) counts[kind] += 1
  return counts
}

export function questionsOf({ events }: Tape): readonly CallEvent[] {
  return events.filter((event): event is CallEvent => event.kind === 'tool')
}

interface Asked {
  readonly sql?: string
  readonly params?: unknown
  readonly args?: unknown
  readonly command?: unknown
  readonly commands?: unknown
  readonly transaction?: unknown
}

function kindsOfStep(step: CallEvent, isStreamed: (sql: string) => boolean): ReadonlySet<Kind> {
  const { sql = '', params, args, command, commands, transaction } = decodeValue(step.args) as Asked
  const given = params ?? args ?? command ?? commands
  const answer = step.result === undefined ? undefined : decodeValue(step.result)
  const { rows = answer } = (answer ?? {}) as { readonly rows?: unknown }
  const found = new Set<Kind>()
  // What it is given is a list or an object of values, an answer of several rows a list of objects with them.
  for (const value of valuesIn(given)) look(value, found)
  const isTable = Array.isArray(rows) && !isEmptyList(rows) && rows.every((row) => typeof row === 'object' && row)
  if (!isTable && !isEmptyList(rows)) look(rows, found)
  for (const row of isTable ? rows : []) for (const value of valuesIn(row)) look(value, found)
  if (valuesIn(given).length > 0) found.add('parameters')
  if (step.error !== undefined) found.add('errors')
  const operation = step.name.slice(step.name.lastIndexOf('.') + 1)
  const isBracket = /^(begin|start transaction|commit|rollback|savepoint|release)\b/i.test(sql.trim())
  const isNamedBracket = /^(begin|commit|rollback|rollbackTo|savepoint|multi|exec|transaction)$/i.test(operation)
  // MongoDB's say which transaction they belong to.
  if (isBracket || isNamedBracket || transaction !== undefined || /transaction/i.test(operation))
    found.add('transactions')
  if (step.yields !== undefined || /cursor|getMore|scan|iterate/i.test(step.name) || isStreamed(sql))
    found.add('cursors')
  return found
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

function valuesIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return typeof value === 'object' && value !== null ? Object.values(value) : []
}

/** Drivers that have no bigints give them as text, or as a class. */
const big = /^-?\d{16,}$/

function look(value: unknown, found: Set<Kind>): void {
  if (value === null) found.add('nulls')
  else if (typeof value === 'bigint') found.add('bigints')
  else if (typeof value === 'string' && big.test(value) && !Number.isSafeInteger(Number(value))) found.add('bigints')
  else if (value instanceof Date) found.add('dates')
  else if (value instanceof Uint8Array) found.add('bytes')
  else if (typeof value === 'object') {
    if (Array.isArray(value)) found.add('arrays')
    if ('low' in value && 'high' in value) found.add('bigints')
    for (const inner of valuesIn(value)) look(inner, found)
  }
}
