// Over 300 lines: one client, whose queries, cursors and transactions are one class there too.
import { AsyncLocalStorage } from 'node:async_hooks'
import { readFileSync } from 'node:fs'
import { withOrigin } from '../caller.ts'
import { currentRun, outsideRuns } from '../source.ts'
import {
  ask,
  askConnection,
  askPieces,
  type Form,
  type Loose,
  type Method,
  nextConnection,
  type Port,
  refuse,
} from './ask.ts'
import type { Class } from './classes.ts'
import { listens } from './pg.ts'

/** What `postgres()` of postgres.js makes: a tag for queries, with methods. */
export function isPostgresJs(given: Loose): boolean {
  return typeof given === 'function' && methodsOf.every((key) => typeof (given as Loose)[key] === 'function')
}

const methodsOf = ['unsafe', 'begin', 'reserve', 'listen', 'end']

/** The query of postgres.js: a promise that is asked when someone waits for it. */
interface Query extends Loose {
  readonly strings: readonly string[] & { readonly raw?: unknown }
  readonly args: readonly unknown[]
  handler: (query: Query) => void
  resolve: (answer: unknown) => void
  reject: (error: unknown) => void
}

type Sql = Method & Loose

export function instrumentPostgresJs(port: Port, given: Loose): unknown {
  closings.set(port, given['CLOSE'])
  port.classes = { ...port.classes, PostgresError: given['PostgresError'] as Class }
  return behind(port, given as Sql, undefined)
}

/** What the callback of a cursor returns to close it. */
const closings = new WeakMap<Port, unknown>()

/** @param connection - the one its queries go over, where a transaction or a reservation has one for itself */
function behind(port: Port, sql: Sql, connection: number | undefined): Sql {
  const heard = (made: unknown): unknown => (isQuery(made) ? tapped(port, made, connection) : made)
  const methods: Record<string, Method> = {
    unsafe: (...words) => heard(sql['unsafe'](...words)),
    file: (path: string, ...words) => {
      const [params, options] = Array.isArray(words[0]) ? words : [[], words[0]]
      return heard(sql['unsafe'](readFileSync(path, 'utf8'), params, options))
    },
    notify: (channel: string, payload: unknown) => self`select pg_notify(${channel}, ${String(payload)})`,
    begin: (...words) =>
      transaction(port, words, (options, body) => sql['begin'](options, body) as Promise<unknown>, sql),
    savepoint: (...words) => savepoint(port, sql, connection, words),
    reserve: async () => {
      const reserved = await ask<Promise<Sql>>(port, 'reserve', {}, () => sql['reserve'](), reservation(port, sql))
      return behind(port, reserved, connectionOf.get(reserved))
    },
    end: (...words) =>
      askConnection(
        port,
        'end',
        () => sql['end'](...words),
        () => undefined,
      ),
    close: () =>
      askConnection(
        port,
        'end',
        () => sql['close'](),
        () => undefined,
      ),
    listen: (...words) => unasked('listen', words),
    subscribe: (...words) => unasked('subscribe', words),
    largeObject: (...words) => unasked('largeObject', words),
  }
  function unasked(key: string, words: readonly unknown[]): unknown {
    refuse(port, [key, ...words.filter((word) => typeof word === 'string')].join(' '))
    return sql[key](...words) as unknown
  }
  const self: Sql = new Proxy(sql, {
    apply: (target, self_, words: unknown[]) => heard(Reflect.apply(target, self_, words)),
    get: (target, key, receiver: unknown) =>
      typeof key === 'string' && Object.hasOwn(methods, key) && (key in target || key === 'savepoint')
        ? key === 'savepoint' && connection === undefined
          ? undefined
          : methods[key]
        : (Reflect.get(target, key, receiver) as unknown),
  })
  return self
}

function isQuery(made: unknown): made is Query {
  return made instanceof Promise && typeof (made as Partial<Query>).handler === 'function'
}

/** Puts a query behind the seam: what it is asked with, and what it does with its answer, stay its own. */
function tapped(port: Port, query: Query, connection: number | undefined): Query {
  const send = query.handler
  // It is asked a moment later, where the caller is out of sight.
  const here = currentRun() ? withOrigin(() => AsyncLocalStorage.snapshot()) : undefined
  const serve = (asked: Query): void => {
    if (!currentRun()) return send(asked)
    const question = { ...spelled(asked), connection }
    if (listens(question.sql)) refuse(port, question.sql.trim())
    if (asked['streaming'] === true) refuse(port, `COPY ${question.sql.trim()}`)
    const isPlain = listens(question.sql) || asked['streaming'] === true
    if (isPlain) return send(asked)
    asked['active'] = true
    const manner = asked['isRaw'] === true ? 'raw' : asked['isRaw']
    const full = { ...question, as: asked['onlyDescribe'] === true ? 'description' : manner || undefined }
    const answer = (): unknown =>
      asked['cursorFn'] ? inBatches(port, full, asked, send) : atOnce(port, full, asked, send)
    void (here ? here(answer) : answer())
  }
  query.handler = Object.assign(serve, { debug: (send as Loose & typeof send)['debug'] as unknown })
  return query
}

async function atOnce(port: Port, asked: object, query: Query, send: Query['handler']): Promise<void> {
  try {
    const real = (): Promise<unknown> => {
      const rows: unknown[] = []
      const each = query['forEachFn'] ? (row: unknown): unknown => rows.push(row) : undefined
      return sent(query, send, each && { forEachFn: each }).then((answer) =>
        each ? Object.assign(answer as object, { rows }) : answer,
      )
    }
    const answer = await ask<Promise<unknown>>(port, 'query', { ...asked }, real, form)
    const { rows } = answer as Loose
    if (query['forEachFn']) for (const row of rows as readonly unknown[]) (query['forEachFn'] as Method)(row, answer)
    query.resolve(answer)
  } catch (error) {
    query.reject(error)
  }
}

/** A cursor: each batch is a piece of one answer. */
async function inBatches(port: Port, asked: object, query: Query, send: Query['handler']): Promise<void> {
  try {
    const batches = askPieces(port, 'cursor', { ...asked, rows: query['cursorRows'] as unknown }, () =>
      cursor(query, send, closings.get(port)),
    )
    for await (const batch of batches) {
      const said: unknown = await (query['cursorFn'] as Method)(form.back(batch))
      if (said !== undefined && said === closings.get(port)) break
    }
    query.resolve(form.back({ rows: [] }))
  } catch (error) {
    query.reject(error)
  }
}

/** @param close - what tells the driver that the reading ended */
async function* cursor(query: Query, send: Query['handler'], close: unknown): AsyncGenerator<unknown> {
  const batches: { readonly batch: unknown; readonly next: (said?: unknown) => void }[] = []
  let wake = Promise.withResolvers<void>()
  let end: { readonly error?: unknown } | undefined
  const cursorFn = (batch: unknown): Promise<unknown> =>
    new Promise((next) => {
      batches.push({ batch: form.flat(batch), next })
      wake.resolve()
    })
  void outsideRuns(() =>
    sent(query, send, { cursorFn }).then(
      () => (end = {}),
      (error: unknown) => (end = { error }),
    ),
  ).finally(() => wake.resolve())
  for (;;) {
    await wake.promise
    wake = Promise.withResolvers()
    for (let one = batches.shift(); one; one = batches.shift()) {
      let isTaken = false
      try {
        yield one.batch
        isTaken = true
      } finally {
        // Whoever stops reading closes the cursor.
        one.next(isTaken ? undefined : close)
      }
    }
    if (end === undefined) continue
    if ('error' in end) throw end.error
    return
  }
}

/** Sends a query as another object of the same kind: its own promise is settled by whoever asked. */
function sent(query: Query, send: Query['handler'], more: object = {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const failures: Method[] = []
    const twin = Object.create(query, {
      resolve: { value: (answer: unknown) => resolve(answer), writable: true },
      reject: {
        value: (error: unknown) => {
          for (const failed of failures) failed(error)
          reject(error as Error)
        },
        writable: true,
      },
      // A transaction listens for what failed in it.
      catch: { value: (failed: Method) => void failures.push(failed) },
    }) as Query
    Object.assign(twin, more)
    const { canceller } = query as Loose
    if (canceller) Object.assign(query, { canceller: () => (canceller as Method)(twin) as unknown })
    send(twin)
  })
}

type Transactions = (options: string, body: (inner: Sql) => Promise<unknown>) => Promise<unknown>

async function transaction(port: Port, words: readonly unknown[], start: Transactions, base: Sql): Promise<unknown> {
  const [options, body] = (words.length === 1 ? ['', words[0]] : words) as [string, Method]
  return scoped(
    port,
    { of: 'begin', end: 'commit', undo: 'rollback' },
    { options: options || undefined },
    (inner) => start(options, inner),
    body,
    base,
  )
}

function savepoint(port: Port, sql: Sql, connection: number | undefined, words: readonly unknown[]): Promise<unknown> {
  const [name, body] = (words.length === 1 ? [undefined, words[0]] : words) as [string | undefined, Method]
  const names = { of: 'savepoint', end: 'release', undo: 'rollbackTo' }
  const start: (inner: (one: Sql) => Promise<unknown>) => Promise<unknown> = (inner) =>
    (name === undefined ? sql['savepoint'](inner) : sql['savepoint'](name, inner)) as Promise<unknown>
  return scoped(port, names, { name, connection }, start, body, sql, connection)
}

/** A part of the work on one connection: where it begins and how it ends are steps, and what happens inside is the agent's. */
async function scoped(
  port: Port,
  names: { readonly of: string; readonly end: string; readonly undo: string },
  asked: Readonly<Record<string, unknown>>,
  start: (body: (inner: Sql) => Promise<unknown>) => Promise<unknown>,
  body: Method,
  base: Sql,
  outer?: number,
): Promise<unknown> {
  if (!currentRun()) return start((inner) => Promise.resolve(settle(body(inner))))
  const ended = Promise.withResolvers<unknown>()
  let whole: Promise<unknown> = Promise.resolve()
  const begin = (): Promise<Sql> =>
    new Promise((resolve, reject) => {
      whole = start((inner) => {
        resolve(inner)
        return ended.promise
      })
      whole.catch(reject)
    })
  const inner = await ask<Promise<Sql>>(
    port,
    names.of,
    asked,
    begin,
    outer === undefined ? reservation(port, base) : { flat: () => null, back: () => base },
  )
  const connection = outer ?? connectionOf.get(inner)
  const only = { flat: () => null, back: () => undefined }
  let result: unknown
  try {
    result = await settle(body(behind(port, inner, connection)))
  } catch (error) {
    await ask<Promise<unknown>>(
      port,
      names.undo,
      { connection },
      () => {
        ended.reject(error as Error)
        return whole.catch((thrown: unknown) => {
          if (thrown !== error) throw thrown
        })
      },
      only,
    )
    throw error
  }
  await ask<Promise<unknown>>(
    port,
    names.end,
    { connection },
    () => {
      ended.resolve(undefined)
      return whole
    },
    only,
  )
  return result
}

function settle(result: unknown): unknown {
  return Array.isArray(result) ? Promise.all(result) : result
}

const connectionOf = new WeakMap<object, number>()

/** A connection for itself: on the tape it is its number. */
function reservation(port: Port, base: Sql): Form {
  return {
    flat: (inner: Sql) => {
      const connection = nextConnection(port)
      connectionOf.set(inner, connection)
      return { connection }
    },
    back: ({ connection }: { connection: number }) => {
      const words = (...given: unknown[]): unknown => Reflect.apply(base, undefined, given) as unknown
      const inner = Object.assign(words, base, { release: () => undefined }) as unknown as Sql
      connectionOf.set(inner, connection)
      return inner
    },
  }
}

/** A query with its parts put in their places: what the driver itself does when it has a connection. */
function spelled(query: Query): { readonly sql: string; readonly params?: readonly unknown[] } {
  const params: unknown[] = []
  const sql = Array.isArray(query.strings.raw) ? text(query, params) : (query.strings[0] ?? '')
  if (!Array.isArray(query.strings.raw)) params.push(...query.args.map(parameter))
  return { sql, ...(params.length > 0 && { params }) }
}

function text({ strings, args }: Query, params: unknown[]): string {
  return strings.map((string, i) => string + (i < args.length ? part(args[i], params) : '')).join('')
}

function part(given: unknown, params: unknown[]): string {
  if (isQuery(given)) return Array.isArray(given.strings.raw) ? text(given, params) : (given.strings[0] ?? '')
  if (Array.isArray(given) && given.some(isQuery)) return given.map((one) => part(one, params)).join('')
  const kind = (given as Loose | null)?.constructor?.name
  if (kind === 'Identifier') return String((given as Loose)['value'])
  params.push(
    kind === 'Builder' ? { values: (given as Loose)['first'], names: (given as Loose)['rest'] } : parameter(given),
  )
  return `$${params.length}`
}

/** A value that was given a type is that value. */
function parameter(given: unknown): unknown {
  return (given as Loose | null)?.constructor?.name === 'Parameter' ? (given as Loose)['value'] : given
}

/** Rows are a list with more to it. */
class Result extends Array<unknown> {
  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }
}

const extras = ['count', 'command', 'state', 'columns', 'statement', 'rows'] as const

const form: Form = {
  flat: (answer: Loose) => {
    if (!Array.isArray(answer)) return { description: withoutParsers(answer) }
    // Several statements have several results, in a list without a command of its own.
    if (answer.length > 0 && answer.every((one) => Array.isArray(one) && 'command' in one))
      return { results: answer.map(form.flat) }
    const { count, command, state, statement, columns } = answer as unknown as Loose
    // With `secret` anybody may cancel what the connection does.
    const { secret: _, ...open } = (state ?? {}) as Loose
    const { columns: __, ...said } = (statement ?? {}) as Loose
    const each = (answer as unknown as Loose)['rows'] as unknown
    return {
      rows: [...answer],
      count,
      command,
      state: state && open,
      columns: withoutParsers(columns),
      statement: statement && said,
      ...(each === undefined ? {} : { each }),
    }
  },
  back: (recorded: Loose) => {
    if ('description' in recorded) return recorded['description'] as unknown
    if ('results' in recorded) return (recorded['results'] as Loose[]).map(form.back)
    const result = new Result()
    result.push(...(recorded['rows'] as unknown[]))
    for (const key of extras)
      Object.defineProperty(result, key, {
        value: key === 'rows' ? recorded['each'] : recorded[key],
        writable: true,
        configurable: true,
      })
    return result
  },
}

function withoutParsers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutParsers)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'parser')
      .map(([key, one]) => [key, withoutParsers(one)]),
  )
}
