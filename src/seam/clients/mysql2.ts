import { EventEmitter } from 'node:events'
import { currentRun } from '../source.ts'
import {
  ask,
  askConnection,
  callback,
  type Form,
  isReplaying,
  type Loose,
  type Method,
  nextConnection,
  over,
  type Port,
  put,
} from './ask.ts'
import { classNamed } from './classes.ts'
import { claim } from './sockets.ts'

/** A pool or a connection of `mysql2`, or of `mysql2/promise`, which lie over these. */
export function isMysql2(given: Loose): boolean {
  const inner = beneath(given)
  return isPool(inner) || isConnection(inner)
}

function beneath(given: Loose): Loose {
  return (given['pool'] ?? (isPool(given) ? given : (given['connection'] ?? given))) as Loose
}

function isPool(given: Loose): boolean {
  return typeof given['getConnection'] === 'function' && typeof given['releaseConnection'] === 'function'
}

function isConnection(given: Loose): boolean {
  return typeof given['addCommand'] === 'function' && typeof given['beginTransaction'] === 'function'
}

export function instrumentMysql2(port: Port, given: Loose): void {
  const inner = beneath(given)
  if (isPool(inner)) instrumentPool(port, inner)
  else instrumentConnection(port, inner)
}

function instrumentPool(port: Port, pool: Loose): void {
  queries(port, pool, () => undefined)
  over(pool, 'getConnection', (original) => (done: Method) => {
    let number = 0
    const taken = (): Promise<Loose> => promised((settle) => original(settle))
    const connection = ask<Promise<Loose>>(port, 'getConnection', {}, taken, {
      flat: () => ({ connection: (number = nextConnection(port)) }),
      back: (recorded: { connection: number }) => {
        number = recorded.connection
        return idleConnection(pool)
      },
    }).then((one) => {
      if (number === 0) return one
      if (!connections.has(one)) instrumentConnection(port, one)
      connections.set(one, number)
      return one
    })
    callback(connection, done)
  })
  overEnd(port, pool)
}

function overEnd(port: Port, ended: Loose): void {
  over(ended, 'end', (original) => (done?: Method) => {
    const real = (): unknown => promised((settle) => original(settle))
    callback(
      askConnection(port, 'end', real, () => undefined),
      done ?? (() => undefined),
      () => [],
    )
  })
}

/** The connection in the run that took it last. */
const connections = new WeakMap<object, number>()

/** A connection of a pool that leads nowhere. */
function idleConnection(pool: Loose): Loose {
  const Class = classNamed('PoolConnection', 'mysql2')
  const idle = Object.create(Class?.prototype ?? EventEmitter.prototype) as Loose
  Object.assign(idle, { config: (pool['config'] as Loose)['connectionConfig'] as unknown, stream: new EventEmitter() })
  for (const key of ['release', 'destroy', 'pause', 'resume']) put(idle, key, () => undefined)
  return idle
}

function instrumentConnection(port: Port, connection: Loose): void {
  claim(connection['stream'])
  if (isReplaying()) quiet(connection)
  queries(port, connection, () => connections.get(connection))
  const number = (): object => ({ connection: connections.get(connection) })
  const plain = (key: string, count = 0): void =>
    over(connection, key, (original) => (...given: unknown[]) => {
      const done = given.find((one) => typeof one === 'function') as Method | undefined
      const words = given.slice(0, count).filter((one) => typeof one !== 'function')
      const asked = { ...number(), ...(words.length > 0 ? { args: words } : {}) }
      const real = (): unknown => promised((settle) => original(...words, settle))
      const answer = ask<Promise<unknown>>(port, key, asked, real, { flat: () => null, back: () => undefined })
      callback(answer, done ?? (() => undefined), () => [])
    })
  for (const key of ['ping', 'reset']) plain(key)
  plain('changeUser', 1)
  over(connection, 'connect', (original) => (done?: Method) => {
    if (!done) return
    callback(
      askConnection(
        port,
        'connect',
        () => promised((settle) => original(settle)),
        () => connection,
      ),
      done,
    )
  })
  overEnd(port, connection)
  over(connection, 'prepare', (original) => (options: unknown, done: Method) => {
    const { sql } = (typeof options === 'string' ? { sql: options } : options) as { sql: string }
    let made: Loose = { query: sql, _connection: connection }
    const prepare = (): unknown =>
      promised((settle) => original(options, settle)).then((statement) => (made = statement as Loose))
    const answer = ask<Promise<Loose>>(port, 'prepare', { sql, ...number() }, prepare, {
      flat: () => null,
      back: () => made,
    })
    callback(
      answer.then(() => statement(port, sql, made, number)),
      done,
    )
  })
}

/** It connects as soon as it is made. Nothing has left yet: that comes with the next turn. */
function quiet(connection: Loose): void {
  const stream = connection['stream'] as Partial<EventEmitter & { destroy(): void }> | undefined
  if (typeof stream?.destroy !== 'function') return
  clearTimeout(connection['connectTimeout'] as NodeJS.Timeout | undefined)
  stream.removeAllListeners?.()
  stream.on?.('error', () => undefined)
  stream.destroy()
}

function statement(port: Port, sql: string, made: Loose, number: () => object): Loose {
  const face = Object.create(made) as Loose
  const { execute, close } = made as Record<string, Method | undefined>
  put(face, 'execute', (...given: unknown[]) => {
    const done = given.find((one) => typeof one === 'function') as Method | undefined
    const [params] = given.filter((one) => typeof one !== 'function')
    const real = (): unknown => several((settle) => Reflect.apply(execute!, made, [params, settle]))
    const answer = ask<Promise<readonly unknown[]>>(port, 'execute', { sql, params, ...number() }, real, form)
    callback(answer, done ?? (() => undefined), (all: readonly unknown[]) => all)
  })
  put(face, 'close', () => (currentRun()?.mode === 'replay' ? undefined : (Reflect.apply(close!, made, []) as unknown)))
  return face
}

/** `query` and `execute` of a pool or a connection. */
function queries(port: Port, target: Loose, connection: () => number | undefined): void {
  for (const key of ['query', 'execute'])
    over(target, key, (original) => (...given: unknown[]) => {
      const done = given.find((one) => typeof one === 'function') as Method | undefined
      const [first, values] = given.filter((one) => typeof one !== 'function')
      const { sql, values: own, rowsAsArray } = (typeof first === 'string' ? { sql: first } : (first ?? {})) as Loose
      // A command of the driver itself, already made.
      if (!currentRun() || typeof sql !== 'string') return original(...given) as unknown
      const asked = {
        sql,
        params: values ?? (own as unknown),
        rowsAsArray: rowsAsArray as unknown,
        connection: connection(),
      }
      const words = [first, ...(values === undefined ? [] : [values])]
      const answer = ask<Promise<readonly unknown[]>>(
        port,
        key,
        asked,
        () => several((settle) => original(...words, settle)),
        form,
      )
      if (done) return callback(answer, done, (all: readonly unknown[]) => all)
      return emitted(target, key, words, answer)
    })
}

/** Without a callback the rows are events of the command, or a stream. */
function emitted(target: Loose, key: string, words: readonly unknown[], answer: Promise<readonly unknown[]>): unknown {
  // The driver's own command, that is not sent.
  const nobody = Object.create(target, {
    addCommand: { value: (command: unknown) => command },
    getConnection: { value: () => undefined },
  }) as object
  const command = Reflect.apply((Object.getPrototypeOf(target) as Loose)[key] as Method, nobody, [
    ...words,
  ]) as EventEmitter
  answer.then(
    ([rows, fields]) => {
      const isList = Array.isArray(fields)
      command.emit('fields', fields)
      for (const row of isList ? (rows as readonly unknown[]) : [rows]) command.emit('result', row, 0)
      command.emit('end')
    },
    (error: unknown) => {
      command.emit('error', error)
      command.emit('end')
    },
  )
  return command
}

function promised(start: (settle: Method) => void): Promise<Loose> {
  return new Promise((resolve, reject) =>
    start((error: unknown, value: Loose) => (error ? reject(error as Error) : resolve(value))),
  )
}

function several(start: (settle: Method) => void): Promise<readonly unknown[]> {
  return new Promise((resolve, reject) =>
    start((error: unknown, ...all: unknown[]) => (error ? reject(error as Error) : resolve(all))),
  )
}

/** What is said of a column; the packet it came in holds the rows around it as well. */
const columns = [
  ...['catalog', 'schema', 'name', 'orgName', 'table', 'orgTable', 'characterSet', 'encoding', 'columnLength'],
  ...['columnType', 'type', 'flags', 'decimals', 'typeName', 'length'],
]

const form: Form = {
  flat: ([rows, fields]: readonly unknown[]) => ({
    rows,
    ...(fields === undefined ? {} : { fields: flatColumns(fields) }),
  }),
  back: ({ rows, fields }: Loose) => [rows, fields],
}

function flatColumns(field: unknown): unknown {
  if (Array.isArray(field)) return field.map(flatColumns)
  if (typeof field !== 'object' || field === null) return field
  const known = columns.map((key) => [key, (field as Loose)[key] as unknown] as const)
  return Object.fromEntries(known.filter(([, value]) => value !== undefined && typeof value !== 'function'))
}
