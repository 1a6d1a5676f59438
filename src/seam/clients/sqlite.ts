import { currentRun } from '../source.ts'
import { ask, isOnTape, isReplaying, type Loose, type Method, over, type Port, put } from './ask.ts'

/** A database of better-sqlite3 or of Node, which answer at once. */
export function isBetterSqlite(given: Loose): boolean {
  return (
    typeof given['pragma'] === 'function' &&
    typeof given['prepare'] === 'function' &&
    typeof given['transaction'] === 'function'
  )
}

export function isNodeSqlite(given: Loose): boolean {
  return (
    typeof given['prepare'] === 'function' &&
    typeof given['createSession'] === 'function' &&
    typeof given['exec'] === 'function'
  )
}

/** Rows of an iterator that are read ahead, and are one step. */
const batchSize = 100

/** What changes how a statement gives its rows. */
const manners = [
  ...['pluck', 'expand', 'raw', 'safeIntegers'],
  ...['setReadBigInts', 'setReturnArrays', 'setAllowBareNamedParameters', 'setAllowUnknownNamedParameters'],
]

export function instrumentSqlite(port: Port, database: Loose): void {
  const prepare = (database['prepare'] as Method).bind(database)
  over(database, 'prepare', () => (sql: string, ...rest: unknown[]) => {
    if (!isReplaying())
      return statement(
        port,
        database,
        sql,
        prepared(port, sql, () => prepare(sql, ...rest) as Loose),
        false,
      )
    // There may be no table: what failed is on the tape, and what did not need not be prepared.
    if (isOnTape(port, 'prepare', { sql })) ask(port, 'prepare', { sql }, () => undefined)
    return statement(port, database, sql, prepare('select 1') as Loose, true)
  })
  over(database, 'exec', (original) => (sql: string) => {
    const executed: unknown = ask(port, 'exec', { sql }, () => void original(sql))
    return port.driver === 'better-sqlite3' ? database : executed
  })
  for (const key of ['close', Symbol.dispose])
    over(database, key, (original) => () => ask(port, 'close', {}, () => void original()))
  over(
    database,
    'pragma',
    (original) => (source: string, options?: object) =>
      ask(port, 'pragma', { sql: source, ...options }, () => original(source, options)),
  )
  over(database, 'transaction', (original) => (body: Method) => transaction(port, database, original, body))
}

/** A statement that cannot be prepared is a step; one that can be is prepared when it suits the process. */
function prepared(port: Port, sql: string, prepare: () => Loose): Loose {
  try {
    return prepare()
  } catch (error) {
    return ask(port, 'prepare', { sql }, () => {
      throw error
    })
  }
}

/**
 * A statement behind the seam: an object over the driver's own, whose properties cannot be replaced.
 *
 * @param isEmpty - the one beneath is another statement: a replay has nothing to prepare this one for
 */
function statement(port: Port, database: Loose, sql: string, beneath: Loose, isEmpty: boolean): Loose {
  const made = Object.create(beneath) as Loose
  const how: Record<string, unknown> = {}
  let bound: readonly unknown[] | undefined
  const method = (key: string, make: (original: Method) => Method): void => {
    if (typeof beneath[key] === 'function') put(made, key, make((beneath[key] as Method).bind(beneath)))
  }
  const asked = (params: readonly unknown[]): Readonly<Record<string, unknown>> => ({
    sql,
    ...(bound === undefined && params.length === 0 ? {} : { params: listed(bound ?? params) }),
    ...how,
  })
  for (const key of ['run', 'get', 'all'])
    method(
      key,
      (original) =>
        (...params: unknown[]) =>
          ask(port, key, asked(params), () => original(...params)),
    )
  method('iterate', (original) => (...params: unknown[]) => {
    const open = (): Iterator<unknown> => original(...params) as Iterator<unknown>
    return currentRun() ? batches(port, asked(params), open) : open()
  })
  method('columns', (original) => () => ask(port, 'columns', { sql }, original))
  method('bind', (original) => (...params: unknown[]) => {
    if (!isEmpty) original(...params)
    bound = params
    return made
  })
  for (const key of manners)
    method(key, (original) => (isOn: unknown = true) => {
      how[key] = isOn === false ? undefined : isOn
      return original(isOn) === undefined ? undefined : made
    })
  const property = (key: string, get: () => unknown): void => {
    if (key in beneath) Object.defineProperty(made, key, { get, configurable: true })
  }
  for (const key of ['source', 'sourceSQL', 'expandedSQL'])
    property(key, () => (isEmpty ? sql : (beneath[key] as unknown)))
  for (const key of ['reader', 'readonly']) property(key, () => ask(port, key, { sql }, () => beneath[key] as unknown))
  property('busy', () => beneath['busy'] as unknown)
  property('database', () => database)
  return made
}

/** One object or list stands for itself, as the driver takes it. */
function listed(params: readonly unknown[]): unknown {
  return params.length === 1 && typeof params[0] === 'object' && params[0] !== null && !ArrayBuffer.isView(params[0])
    ? params[0]
    : params
}

/** The rows of an iterator, some at a time. */
function* batches(
  port: Port,
  asked: Readonly<Record<string, unknown>>,
  open: () => Iterator<unknown>,
): Generator<unknown> {
  let rows: Iterator<unknown> | undefined
  let isDone = false
  try {
    for (let from = 0; !isDone; from += batchSize) {
      const batch = ask<{ rows: unknown[]; done: boolean }>(port, 'iterate', { ...asked, from }, () => {
        rows ??= open()
        const some: unknown[] = []
        let next = rows.next()
        for (; !next.done; next = rows.next()) {
          some.push(next.value)
          if (some.length === batchSize) return { rows: some, done: false }
        }
        return { rows: some, done: true }
      })
      isDone = batch.done
      yield* batch.rows
    }
  } finally {
    if (!isDone) rows?.return?.()
  }
}

/** Transactions of better-sqlite3: where they begin and how they end are steps. */
function transaction(port: Port, database: Loose, original: Method, body: Method): Method {
  const controlled = (mode: string): Method => {
    const real = original(body) as Method & Loose
    const direct = (mode === 'default' ? real : real[mode]) as Method
    return function (this: unknown, ...params: unknown[]): unknown {
      if (!currentRun()) return Reflect.apply(direct, this, params)
      const inside = depthOf(database)
      const exec = (sql: string): unknown => ask(port, 'exec', { sql }, () => void execute(database, sql))
      const name = `nested_${inside}`
      exec(inside > 0 ? `SAVEPOINT ${name}` : mode === 'default' ? 'BEGIN' : `BEGIN ${mode.toUpperCase()}`)
      depths.set(database, inside + 1)
      try {
        const result: unknown = Reflect.apply(body, this, params)
        if (typeof (result as PromiseLike<unknown> | undefined)?.then === 'function')
          throw new TypeError('Transaction function cannot return a promise')
        exec(inside > 0 ? `RELEASE ${name}` : 'COMMIT')
        return result
      } catch (error) {
        exec(inside > 0 ? `ROLLBACK TO ${name}` : 'ROLLBACK')
        throw error
      } finally {
        depths.set(database, inside)
      }
    }
  }
  const modes = ['default', 'deferred', 'immediate', 'exclusive']
  const made = controlled('default')
  for (const mode of modes) put(made, mode, controlled(mode))
  put(made, 'database', database)
  return made
}

const depths = new WeakMap<object, number>()

function depthOf(database: object): number {
  return depths.get(database) ?? 0
}

function execute(database: Loose, sql: string): unknown {
  return Reflect.apply((Object.getPrototypeOf(database) as Loose)['exec'] as Method, database, [sql])
}
