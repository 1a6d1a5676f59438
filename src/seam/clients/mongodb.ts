import { randomBytes } from 'node:crypto'
import { HarvestError } from '../../errors/index.ts'
import { patchProperty } from '../patch.ts'
import { currentRun } from '../source.ts'
import { wrapped } from '../wrap.ts'
import {
  ask,
  askConnection,
  type Form,
  isReplaying,
  type Loose,
  type Method,
  nextConnection,
  over,
  type Port,
  put,
  refuse,
} from './ask.ts'
import { type Class, classNamed, exportsOf } from './classes.ts'

export function isMongo(given: Loose): boolean {
  return (
    typeof given['db'] === 'function' &&
    typeof given['startSession'] === 'function' &&
    typeof given['withSession'] === 'function'
  )
}

/** What the driver is about to ask: everything it does, it does through operations. */
interface Operation extends Loose {
  readonly commandName: string
  /** Of most operations; others have `buildCommand` alone. */
  buildCommandDocument?(connection: object, session?: object): Loose
  buildCommand?(connection: object, session?: object): Loose
}

const ports = new WeakMap<object, Port>()

export function instrumentMongo(port: Port, client: Loose): void {
  const [module] = exportsOf('mongodb', '/lib/operations/execute_operation.js') as Loose[]
  const [abstract] = exportsOf('mongodb', '/lib/operations/operation.js') as Loose[]
  const Abstract = abstract?.['AbstractOperation'] as Class | undefined
  if (typeof module?.['executeOperation'] !== 'function' || Abstract === undefined) throw unknownVersion()
  ports.set(client, port)
  patchProperty(module, 'executeOperation', (original: Method) => {
    return function executeOperation(asking: object, operation: Operation, ...rest: unknown[]): unknown {
      const known = ports.get(asking)
      return known && currentRun()
        ? execute(known, operation, () => original(asking, operation, ...rest) as unknown)
        : (original(asking, operation, ...rest) as unknown)
    }
  })
  recordIds()
  if (isReplaying()) client['topology'] = noServer
  over(client, 'connect', (original) => () => askConnection(port, 'connect', original, () => client).then(() => client))
  over(
    client,
    'close',
    (original) =>
      (...how: unknown[]) =>
        askConnection(
          port,
          'close',
          () => original(...how),
          () => undefined,
        ),
  )
}

/** Ids hold a count and random bytes of the process: in a run they are values on the tape. */
function recordIds(): void {
  const Id = classNamed('ObjectId', 'mongodb') as unknown as Loose | undefined
  if (Id === undefined) return
  const recorded = (real: () => unknown): unknown =>
    wrapped({ kind: 'value', name: 'mongodb.ObjectId', args: [], replay: 'serve' }, real)
  patchProperty(Id, 'generate', (original: Method) => {
    return function generate(this: unknown, ...when: unknown[]): unknown {
      return recorded(() => Reflect.apply(original, this, when) as unknown)
    }
  })
  // Later versions take them apart.
  patchProperty(Id, 'getInc', (original: Method) => {
    return function getInc(this: unknown): unknown {
      const next = (): unknown => Reflect.apply(original, Id, []) as unknown
      if (!currentRun()) return next()
      const parts = recorded(() => ({
        count: next(),
        of: (Id['PROCESS_UNIQUE'] ??= randomBytes(5)) as unknown,
      })) as Loose
      Id['PROCESS_UNIQUE'] = parts['of']
      return parts['count']
    }
  })
}

/** As new a server as there is: what is asked must not depend on one that is not there. */
const newest = { description: { maxWireVersion: 100, minWireVersion: 0 }, supportsOpMsg: true }

/** In the place of a connection, for what the driver looks up there. */
const noServer = {
  lastHello: () => ({
    maxBsonObjectSize: 2 ** 24,
    maxMessageSizeBytes: 48_000_000,
    maxWriteBatchSize: 100_000,
    maxWireVersion: 100,
  }),
  description: {},
  s: { options: {} },
}

/** Added by the driver for the connection, and no part of the question. */
const passing = new Set(['lsid', 'txnNumber', '$clusterTime', '$db', 'maxTimeMS'])

function execute(port: Port, operation: Operation, real: () => unknown): unknown {
  const { commandName, session, ns } = operation as Loose
  const build = operation.buildCommandDocument ?? operation.buildCommand
  if (build === undefined) {
    refuse(port, String(commandName))
    return real()
  }
  const document = Reflect.apply(build, operation, [newest, session]) as unknown
  const command = Object.fromEntries(
    (document instanceof Map ? [...(document as Map<string, unknown>)] : Object.entries(document as object)).filter(
      ([key]) => !passing.has(key as string),
    ),
  ) as Loose
  const [first] = (Array.isArray(command['pipeline']) ? command['pipeline'] : []) as Loose[]
  if (first !== undefined && '$changeStream' in first) {
    refuse(port, `change stream of ${String(ns)}`)
    return real()
  }
  const asked = {
    database: (ns as Loose | undefined)?.['db'] as unknown,
    command,
    transaction: transactionOf(port, session),
  }
  return ask(port, String(commandName), asked, real, formOf(operation))
}

const transactions = new WeakMap<object, number>()

function transactionOf(port: Port, session: unknown): number | undefined {
  const { inTransaction } = (session ?? {}) as Record<string, Method | undefined>
  if (inTransaction === undefined || Reflect.apply(inTransaction, session, []) !== true) return undefined
  const { transaction } = session as { readonly transaction: object }
  const known = transactions.get(transaction) ?? nextConnection(port)
  transactions.set(transaction, known)
  return known
}

/** The answers of cursors are bytes that are taken apart when someone reads them. */
function formOf(operation: Operation): Form {
  const options = { promoteLongs: false, promoteBuffers: false, bsonRegExp: true }
  return {
    flat: (answer: unknown) => {
      const { toObject } = (answer ?? {}) as Loose
      return typeof toObject === 'function' && answer?.constructor.name === 'CursorResponse'
        ? { cursor: withoutTimes(Reflect.apply(toObject as Method, answer, [options]) as Loose) }
        : answer
    },
    back: (recorded: unknown) => {
      begun(operation)
      if (
        typeof recorded !== 'object' ||
        recorded === null ||
        !('cursor' in recorded) ||
        Object.keys(recorded).length !== 1
      )
        return recorded
      const [bson] = exportsOf('mongodb', '/bson.cjs') as { serialize(value: object): Uint8Array }[]
      const [responses] = exportsOf('mongodb', '/lib/cmap/wire_protocol/responses.js') as {
        CursorResponse: new (bytes: Uint8Array, offset: number) => object
      }[]
      if (!bson || !responses) throw unknownVersion()
      return new responses.CursorResponse(bson.serialize(recorded.cursor as object), 0)
    },
  }
}

/** Times and signatures of a cluster are for the driver alone. */
function withoutTimes({ $clusterTime: _, operationTime: __, ...rest }: Loose): Loose {
  return rest
}

/** What sending it would have done to the driver's own state. */
function begun(operation: Operation): void {
  if (operation['server'] === undefined) put(operation, 'server', { description: {}, loadBalanced: false })
  const { transaction } = ((operation['session'] as unknown) ?? {}) as { readonly transaction?: Loose }
  if (transaction?.['isStarting'] === true)
    (transaction['transition'] as Method | undefined)?.call(transaction, 'TRANSACTION_IN_PROGRESS')
}

function unknownVersion(): HarvestError {
  return new HarvestError('HARVEST_CLIENT_UNKNOWN', {
    what: 'Unknown version of mongodb: client() cannot record it',
    why: 'Its modules are not loaded as CommonJS, or it is older than version 6.18.',
    fix: ['npm install mongodb@latest', "or wrap the function that asks it in tool() from 'vitest-harvest/record'"],
  })
}
