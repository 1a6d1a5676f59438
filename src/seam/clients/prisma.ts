import { currentRun } from '../source.ts'
import { ask, askConnection, isReplaying, type Loose, type Method, nextConnection, type Port, refuse } from './ask.ts'

/** A client that Prisma generated. */
export function isPrisma(given: Loose): boolean {
  return typeof given['$extends'] === 'function' && typeof given['$transaction'] === 'function'
}

interface Operation {
  readonly model?: string
  readonly operation: string
  readonly args: unknown
  readonly query: (args: unknown) => Promise<unknown>
}

/**
 * Prisma lets an extension stand between a question and its engine. Transactions are distinguished by their number, and are
 * begun and ended by whoever asks.
 */
export function instrumentPrisma(port: Port, prisma: Loose): unknown {
  return extended(port, prisma, undefined)
}

function extended(port: Port, prisma: Loose, transaction: number | undefined): Loose {
  const $allOperations = ({ model, operation, args, query }: Operation): unknown => {
    const name = model === undefined ? operation : `${model}.${operation}`
    return ask(port, name, { args: plain(args), transaction }, () => asked(query(args)))
  }
  const asking = (prisma['$extends'] as Method)({ query: { $allOperations } }) as Loose
  const methods: Record<string, Method> = {
    $connect: () =>
      askConnection(
        port,
        '$connect',
        () => prisma['$connect'](),
        () => undefined,
      ),
    $disconnect: () =>
      askConnection(
        port,
        '$disconnect',
        () => prisma['$disconnect'](),
        () => undefined,
      ),
    $transaction: (work: unknown, options?: object) =>
      typeof work === 'function'
        ? interactive(port, prisma, asking, work as Method, options)
        : batch(port, asking, work as PromiseLike<unknown>[], options),
    $on: (event: string, ...rest: unknown[]) => {
      if (!isReplaying()) prisma['$on'](event, ...rest)
      return face
    },
  }
  const face: Loose = new Proxy(asking, {
    get: (target, key) =>
      typeof key === 'string' && Object.hasOwn(methods, key) && key in prisma ? methods[key] : (target[key] as unknown),
  })
  return face
}

/** Prisma asks when someone waits for it: at once, so that its connections are those of no run. */
async function asked(question: unknown): Promise<unknown> {
  return question
}

/** Raw SQL with its values, as it was written. */
function plain(args: unknown): unknown {
  const { strings, values } = (args ?? {}) as Loose
  return Array.isArray(strings) && Array.isArray(values)
    ? { sql: (strings as string[]).join('?'), params: values }
    : args
}

/** Several questions that are one: their answers come together, or none does. */
async function batch(port: Port, asking: Loose, work: PromiseLike<unknown>[], options?: object): Promise<unknown> {
  if (currentRun()?.mode === 'replay') return Promise.all(work)
  return asking['$transaction'](work, options) as unknown
}

async function interactive(port: Port, prisma: Loose, asking: Loose, work: Method, options?: object): Promise<unknown> {
  if (!currentRun()) return asking['$transaction'](work, options) as unknown
  const ended = Promise.withResolvers<unknown>()
  let whole: Promise<unknown> = Promise.resolve()
  let number = 0
  const begin = (): Promise<Loose> =>
    new Promise((resolve, reject) => {
      whole = prisma['$transaction']((inner: Loose) => {
        resolve(inner)
        return ended.promise
      }, options) as Promise<unknown>
      whole.catch(reject)
    })
  const inner = await ask<Promise<Loose>>(port, 'begin', { ...options }, begin, {
    flat: () => ({ transaction: (number = nextConnection(port)) }),
    back: (recorded: { transaction: number }) => {
      number = recorded.transaction
      return prisma
    },
  })
  const nothing = { flat: () => null, back: () => undefined }
  let result: unknown
  try {
    result = await (work(transactional(port, inner, number)) as unknown)
  } catch (error) {
    const undo = (): Promise<unknown> => {
      ended.reject(error as Error)
      return whole.catch((thrown: unknown) => {
        if (thrown !== error) throw thrown
      })
    }
    await ask<Promise<unknown>>(port, 'rollback', { transaction: number }, undo, nothing)
    throw error
  }
  const commit = (): Promise<unknown> => {
    ended.resolve(undefined)
    return whole
  }
  await ask<Promise<unknown>>(port, 'commit', { transaction: number }, commit, nothing)
  return result
}

/** What the work of a transaction gets: it has no transactions of its own. */
function transactional(port: Port, inner: Loose, number: number): Loose {
  const asking =
    (name: string, method: Method) =>
    (args: unknown, ...values: unknown[]): unknown =>
      ask(
        port,
        name,
        {
          args: values.length > 0 || Array.isArray(args) ? { sql: joined(args), params: values } : plain(args),
          transaction: number,
        },
        () => asked(method(args, ...values)),
      )
  const models = new WeakMap<object, Loose>()
  const model = (key: string, of: Loose): Loose => {
    const known = models.get(of)
    if (known) return known
    const name = String(of['name'] ?? of['$name'] ?? key.charAt(0).toUpperCase() + key.slice(1))
    const made = new Proxy(of, {
      get: (target, operation) => {
        const value = target[operation] as unknown
        return typeof value === 'function' && typeof operation === 'string'
          ? asking(`${name}.${operation}`, (value as Method).bind(target))
          : value
      },
    })
    models.set(of, made)
    return made
  }
  return new Proxy(inner, {
    get: (target, key) => {
      const value = target[key] as unknown
      if (typeof key !== 'string') return value
      if (key.startsWith('$')) {
        if (typeof value !== 'function') return value
        if (/^\$(?:query|execute)Raw/.test(key)) return asking(key, (value as Method).bind(target))
        if (key !== '$transaction' && key !== '$extends') return value
        refuse(port, `${key} inside of a transaction`)
        return value
      }
      return typeof value === 'object' && value !== null && 'findMany' in value ? model(key, value as Loose) : value
    },
  })
}

function joined(strings: unknown): unknown {
  return Array.isArray(strings) ? (strings as string[]).join('?') : strings
}
