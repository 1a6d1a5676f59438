import { createServer, type Socket } from 'node:net'
import { BSON } from 'mongodb'
import { type Listening, listening } from './both.ts'

type Document = Record<string, unknown>

/** As much of MongoDB as the tests ask: documents are found by equal fields. npm has no server of it. */
export function mongoServer(): Promise<Listening> {
  const collections = new Map<string, Document[]>()
  return listening(createServer((socket) => serve(socket, collections)))
}

function answer(command: Document, collections: Map<string, Document[]>): Document {
  const [[name = '', of] = ['', '']] = Object.entries(command)
  const all = collections.get(String(of)) ?? []
  collections.set(String(of), all)
  const ns = `shop.${String(of)}`
  const matching = (filter: Document = {}): Document[] =>
    all.filter((one) =>
      Object.entries(filter).every(([key, value]) => JSON.stringify(one[key]) === JSON.stringify(value)),
    )
  switch (name) {
    case 'hello':
    case 'ismaster':
      return {
        isWritablePrimary: true,
        maxBsonObjectSize: 16777216,
        maxMessageSizeBytes: 48000000,
        maxWriteBatchSize: 100000,
        minWireVersion: 0,
        maxWireVersion: 25,
        setName: 'rs',
        hosts: [],
        logicalSessionTimeoutMinutes: 30,
        ok: 1,
      }
    case 'insert': {
      const documents = command['documents'] as Document[]
      const twice = documents.findIndex((one) => matching({ _id: one['_id'] }).length > 0)
      if (twice >= 0)
        return { n: 0, writeErrors: [{ index: twice, code: 11000, errmsg: 'E11000 duplicate key error' }], ok: 1 }
      all.push(...documents)
      return { n: documents.length, ok: 1 }
    }
    case 'find': {
      const found = matching(command['filter'] as Document)
      const size = Number(command['batchSize'] ?? 100)
      rest = found.slice(size)
      return {
        cursor: { id: BSON.Long.fromNumber(rest.length > 0 ? 7 : 0), ns, firstBatch: found.slice(0, size) },
        ok: 1,
      }
    }
    case 'getMore': {
      const size = Number(command['batchSize'] ?? 100)
      const nextBatch = rest.splice(0, size)
      return { cursor: { id: BSON.Long.fromNumber(rest.length > 0 ? 7 : 0), ns: 'shop.orders', nextBatch }, ok: 1 }
    }
    case 'update': {
      const [{ q, u } = { q: {}, u: {} }] = command['updates'] as { q: Document; u: { $set?: Document } }[]
      const found = matching(q)
      for (const one of found) Object.assign(one, u.$set)
      return { n: found.length, nModified: found.length, ok: 1 }
    }
    case 'aggregate':
      return { cursor: { id: BSON.Long.ZERO, ns, firstBatch: [{ _id: 1, n: all.length }] }, ok: 1 }
    case 'nonsense':
      return { ok: 0, code: 59, codeName: 'CommandNotFound', errmsg: "no such command: 'nonsense'" }
    default:
      return { ok: 1 }
  }
}

let rest: Document[] = []

function serve(socket: Socket, collections: Map<string, Document[]>): void {
  let buffered = Buffer.alloc(0)
  socket.on('error', () => undefined)
  socket.on('data', (bytes) => {
    buffered = Buffer.concat([buffered, bytes as Buffer])
    while (buffered.length >= 4 && buffered.length >= buffered.readInt32LE(0)) {
      const message = buffered.subarray(0, buffered.readInt32LE(0))
      buffered = buffered.subarray(message.length)
      const isQuery = message.readInt32LE(12) === 2004
      const reply = Buffer.from(BSON.serialize(answer(isQuery ? queryOf(message) : messageOf(message), collections)))
      const head = Buffer.alloc(isQuery ? 36 : 21)
      head.writeInt32LE(head.length + reply.length, 0)
      head.writeInt32LE(message.readInt32LE(4), 8)
      head.writeInt32LE(isQuery ? 1 : 2013, 12)
      if (isQuery) head.writeInt32LE(1, 32)
      socket.write(Buffer.concat([head, reply]))
    }
  })
}

/** The first greeting, in the old form. */
function queryOf(message: Buffer): Document {
  return BSON.deserialize(message.subarray(message.indexOf(0, 20) + 9))
}

function messageOf(message: Buffer): Document {
  let at = 20
  let command: Document = {}
  while (at < message.length - (message.readInt32LE(16) & 1 ? 4 : 0)) {
    const kind = message[at++]
    const size = message.readInt32LE(at)
    if (kind === 0) {
      command = { ...BSON.deserialize(message.subarray(at, at + size), { promoteLongs: false }), ...command }
    } else {
      const end = message.indexOf(0, at + 4)
      const documents: Document[] = []
      for (let from = end + 1; from < at + size; from += message.readInt32LE(from))
        documents.push(BSON.deserialize(message.subarray(from, from + message.readInt32LE(from))))
      command[message.toString('utf8', at + 4, end)] = documents
    }
    at += size
  }
  const { documents, updates, ...others } = command
  return { ...others, ...(documents ? { documents } : {}), ...(updates ? { updates } : {}) }
}
