import { createServer, type Socket } from 'node:net'
import { listen } from '../../fixtures/provider/listen.ts'
import { type Mind, weather } from '../../fixtures/provider/mind.ts'
import type { StackRow } from '../../fixtures/stacks/rows.ts'
import { mongoServer } from '../../test/seam/clients/mongo-server.ts'
import { postgresServer } from '../../test/seam/clients/postgres-server.ts'
import { redisServer } from '../../test/seam/clients/redis-server.ts'

/** What listens in the place of what a row was recorded against. */
export interface Canary {
  /** How many requests reached it, or connections for a database. */
  reached(): number
  close(): Promise<void>
}

/** What a row is recorded against. */
interface World {
  /** What the agent is called with: its addresses. */
  readonly input: object
  close(): Promise<void>
  /** To be called after `close`: listens on the same ports. A model answers there, so that an agent that is live would be green. */
  canary(): Promise<Canary>
}

/** Starts it on free ports of this machine. */
export async function startWorld({ server }: StackRow): Promise<World> {
  return server === undefined ? modelWorld() : databaseWorld(server)
}

/** Hands a conversation over where a tool does that; otherwise the mind of the weather agents. */
const mind: Mind = (request, toolResults, toolCount) => {
  const own = toolResults.filter((result) => !JSON.stringify(result).includes('assistant'))
  const [name] = /transfer_to_\w+/.exec(JSON.stringify((request as { readonly tools?: unknown }).tools ?? [])) ?? []
  if (name !== undefined && toolResults.length === 0) return { kind: 'tools', calls: [{ name, args: {} }] }
  return weather(request, own, toolCount)
}

async function modelWorld(): Promise<World> {
  const provider = await listen({ mind })
  const { base, h2base } = provider.addresses
  return {
    input: { base, h2base },
    close: () => provider.close(),
    async canary() {
      const canary = await listen({ mind, port: Number(new URL(base).port), h2port: Number(new URL(h2base).port) })
      return { reached: () => canary.seen.length, close: () => canary.close() }
    },
  }
}

const databases = { postgres: postgresServer, redis: redisServer, mongo: mongoServer }

async function databaseWorld(name: keyof typeof databases): Promise<World> {
  const database = await databases[name]()
  const { port } = database
  return {
    input: { port },
    close: async () => database[Symbol.asyncDispose](),
    canary: async () => countingConnections(port),
  }
}

async function countingConnections(port: number): Promise<Canary> {
  let reached = 0
  const server = createServer((socket: Socket) => {
    reached += 1
    socket.destroy()
  })
  await new Promise<void>((ready) => server.listen(port, '127.0.0.1', ready))
  return { reached: () => reached, close: () => new Promise((done) => void server.close(() => done())) }
}
