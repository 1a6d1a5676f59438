import { currentRun, outsideRuns } from '../source.ts'
import {
  ask,
  askConnection,
  callback,
  type Form,
  type Loose,
  type Method,
  nextConnection,
  over,
  type Port,
  put,
  refuse,
} from './ask.ts'
import { classNamed } from './classes.ts'

/** A pool of `pg`, or one client of it. */
export function isPg(given: Loose): boolean {
  return (
    isPool(given) ||
    (typeof given['escapeIdentifier'] === 'function' && typeof given['connection']?.parse === 'function')
  )
}

function isPool(given: Loose): boolean {
  return (
    typeof given['Client'] === 'function' &&
    typeof given['totalCount'] === 'number' &&
    typeof given['connect'] === 'function'
  )
}

export function instrumentPg(port: Port, target: Loose): void {
  if (isPool(target)) instrumentPool(port, target)
  else instrumentClient(port, target)
}

function instrumentPool(port: Port, pool: Loose): void {
  const idle = (): Loose => new (pool['Client'] as new (options: unknown) => Loose)(pool['options'])
  let types: unknown
  const made: Made = { Client: pool['Client'] as Loose, types: () => (types ??= idle()['_types']) }
  over(
    pool,
    'query',
    (original) =>
      (...given: unknown[]) =>
        query(port, given, undefined, made, original),
  )
  over(pool, 'connect', (original) => (done?: Method) => {
    let number = 0
    const client = ask<Promise<Loose>>(port, 'connect', {}, original, {
      flat: () => ({ connection: (number = nextConnection(port)) }),
      back: (recorded) => {
        number = (recorded as { connection: number }).connection
        const client = idle()
        put(client, 'release', () => undefined)
        return client
      },
    }).then((one: Loose) => checkedOut(port, one, number))
    return done ? callback(client, done, (one: Loose) => [one, (error?: unknown) => one['release'](error)]) : client
  })
  overEnd(port, pool)
}

function overEnd(port: Port, ended: Loose): void {
  over(ended, 'end', (original) => (done?: Method) => {
    const answer = askConnection(port, 'end', original, () => undefined)
    return done ? callback(answer, done, () => []) : answer
  })
}

/** The connection a client stands for in the run that took it last, and the port it is asked through. */
const connections = new WeakMap<object, number>()

function checkedOut(port: Port, client: Loose, number: number): Loose {
  if (number === 0) return client
  if (!connections.has(client)) instrumentClient(port, client)
  connections.set(client, number)
  return client
}

function instrumentClient(port: Port, client: Loose): void {
  const made: Made = { Client: client['constructor'] as Loose, types: () => client['_types'] }
  over(
    client,
    'query',
    (original) =>
      (...given: unknown[]) =>
        query(port, given, connections.get(client), made, original),
  )
  over(client, 'connect', (original) => (done?: Method) => {
    const connected = askConnection(port, 'connect', original, () => client)
    return done ? callback(connected, done) : connected
  })
  overEnd(port, client)
}

/** What the driver makes its results with. */
interface Made {
  readonly Client: Loose
  /** The parsers of a question that names none. */
  types(): unknown
}

interface Submittable extends Loose {
  submit: Method
}

function query(
  port: Port,
  given: readonly unknown[],
  connection: number | undefined,
  { Client, types }: Made,
  original: Method,
): unknown {
  const [first] = given
  const done = given.find((one) => typeof one === 'function') as Method | undefined
  if (typeof (first as Submittable | undefined)?.submit === 'function')
    return submitted(port, first as Submittable, connection, () => original(...given) as unknown)
  const values = given.slice(1).find((one) => Array.isArray(one)) as readonly unknown[] | undefined
  const { text, ...rest } = (typeof first === 'string' ? { text: first } : (first ?? {})) as Loose
  const own = done ?? (rest['callback'] as Method | undefined)
  if (typeof text !== 'string') return original(...given) as unknown
  if (listens(text)) {
    refuse(port, text.trim())
    return original(...given) as unknown
  }
  const params = (rest['values'] as readonly unknown[] | undefined) ?? values
  const asked = { sql: text, params, name: rest['name'], rowMode: rest['rowMode'], connection }
  const options = typeof first === 'string' ? first : { ...(first as Loose), callback: undefined }
  const answer = ask<Promise<unknown>>(
    port,
    'query',
    asked,
    () => original(options, ...(values === undefined ? [] : [values])) as Promise<unknown>,
    resultForm(Client, () => (rest['types'] as unknown) ?? types()),
  )
  return own ? callback(answer, own) : answer
}

/** `LISTEN` and `UNLISTEN`, behind any comments. */
export function listens(sql: string): boolean {
  return /^(?:\s|--[^\n]*\n|\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/)*(?:un)?listen\b/i.test(sql)
}

/** A cursor or a stream of rows: each batch that is read is a step. */
function submitted(port: Port, given: Submittable, connection: number | undefined, submit: () => unknown): unknown {
  const cursor = (typeof given['read'] === 'function' && given['text'] !== undefined ? given : given['cursor']) as
    | Loose
    | undefined
  if (typeof cursor?.['read'] !== 'function' || typeof cursor['_getRows'] !== 'function') {
    refuse(port, `a query of class ${String(given.constructor.name)}`)
    return submit()
  }
  const question = { sql: cursor['text'] as unknown, params: cursor['values'] ?? undefined, connection }
  if (currentRun()?.mode !== 'replay') outsideRuns(submit)
  const form = resultForm({}, () => undefined)
  over(cursor, 'read', (original) => (rows: number, done?: Method) => {
    const read = (): Promise<unknown> =>
      new Promise((resolve, reject) =>
        original(rows, (error: unknown, batch: unknown, result: unknown) =>
          error ? reject(error as Error) : resolve([batch, result]),
        ),
      )
    const batch = ask<Promise<[unknown, unknown]>>(port, 'cursor.read', { ...question, rows }, read, {
      flat: (answer) => {
        const [found, result] = answer as [unknown, unknown]
        return {
          rows: found,
          ...(result === undefined ? {} : { result: form.flat({ ...(result as object), rows: [] }) }),
        }
      },
      back: (recorded) => {
        const { rows: found, result } = recorded as Loose
        return [found, result === undefined ? undefined : Object.assign(form.back(result) as object, { rows: found })]
      },
    })
    return done ? callback(batch, done, (answer) => answer) : batch.then(([found]) => found)
  })
  over(cursor, 'close', (original) => (done?: Method) => {
    const closed = ask<Promise<unknown>>(port, 'cursor.close', question, () => original(), {
      flat: () => null,
      back: () => undefined,
    })
    return done ? callback(closed, done, () => []) : closed
  })
  return given
}

/** A result without the parsers it was made with, which it gets again; several statements have several. */
function resultForm({ Query }: Loose, types: () => unknown): Form {
  const flat = (answer: unknown): unknown => {
    if (Array.isArray(answer)) return answer.map(flat)
    const { command, rowCount, oid, rowAsArray, rows, fields } = answer as Loose
    return {
      command,
      rowCount,
      oid,
      ...(rowAsArray ? { rowAsArray } : {}),
      rows,
      fields: (fields as object[]).map((one) => ({ ...one })),
    }
  }
  const back = (recorded: unknown): unknown => {
    if (Array.isArray(recorded)) return recorded.map(back)
    const { fields, rowAsArray, ...rest } = recorded as Loose
    const how = { text: '', ...(rowAsArray ? { rowMode: 'array' } : {}) }
    const result = (Query ? new (Query as new (how: object) => Loose)(how)['_result'] : classed({}, 'Result')) as Loose
    result['_types'] = types()
    const known = (fields as object[]).map((one) => classed(one, 'Field'))
    // As the driver does with the description of the rows, which a statement without rows has not.
    if (known.length > 0) (result['addFields'] as Method | undefined)?.call(result, known)
    return Object.assign(result, rest, { fields: known }, rowAsArray ? { rowAsArray } : {})
  }
  return { flat, back }
}

function classed(value: object, name: string): object {
  const Found = classNamed(name, 'pg')
  return Found ? (Object.setPrototypeOf(value, Found.prototype as object) as object) : value
}
