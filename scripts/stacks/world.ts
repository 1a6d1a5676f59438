import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocketServer } from 'ws'
import { listen } from '../../fixtures/provider/listen.ts'
import { type Mind, weather } from '../../fixtures/provider/mind.ts'
import { geminiLive, openaiRealtime } from '../../fixtures/realtime/models.ts'
import type { StackRow } from '../../fixtures/stacks/rows.ts'
import { mongoServer } from '../../test/seam/clients/mongo-server.ts'
import { postgresServer } from '../../test/seam/clients/postgres-server.ts'
import { redisServer } from '../../test/seam/clients/redis-server.ts'
import { debianServers } from '../servers/debian.ts'

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
  /** Port of the server of its queue. */
  readonly queue?: number
  close(): Promise<void>
  /** To be called after `close`: listens on the same ports. A model answers there, so that an agent that is live would be green. */
  canary(): Promise<Canary>
}

/** Starts it on free ports of this machine. */
export async function startWorld({ server, queue }: StackRow): Promise<World> {
  if (queue !== undefined) return queueWorld(queue)
  if (server === undefined) return modelWorld()
  return server === 'realtime' ? realtimeWorld() : databaseWorld(server)
}

/** Hands a conversation over where a tool does that; otherwise the mind of the weather agents. */
const mind: Mind = (request, toolResults, toolCount) => {
  const own = toolResults.filter((result) => !JSON.stringify(result).includes('assistant'))
  const [name] = /transfer_to_\w+/.exec(JSON.stringify((request as { readonly tools?: unknown }).tools ?? [])) ?? []
  if (name !== undefined && toolResults.length === 0) return { kind: 'tools', calls: [{ name, args: {} }] }
  // A command-line agent has tools of its own.
  if (!JSON.stringify(request).includes('get_weather')) return weather(request, own, 0)
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

/** Models, and beside them a server of Debian for the jobs. */
async function queueWorld(name: 'postgres' | 'redis'): Promise<World> {
  const [models, jobs] = [await modelWorld(), await debianServer(name)]
  return {
    ...models,
    queue: jobs.port,
    async close() {
      await models.close()
      await jobs[Symbol.asyncDispose]()
    },
  }
}

async function realtimeWorld(): Promise<World> {
  const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  sockets.on('connection', (socket, { url = '' }) => (url.includes('realtime') ? openaiRealtime : geminiLive)(socket))
  await once(sockets, 'listening')
  const { port } = sockets.address() as AddressInfo
  return {
    input: { base: `ws://127.0.0.1:${port}` },
    close: () => new Promise((done) => sockets.close(() => done())),
    canary: () => countingConnections(port),
  }
}

const databases = {
  postgres: postgresServer,
  mariadb: () => debianServer('mariadb'),
  redis: redisServer,
  mongo: mongoServer,
}

/** One of Debian, with its data in a folder of its own: npm has none. */
async function debianServer(
  name: keyof ReturnType<typeof debianServers>,
): Promise<AsyncDisposable & { readonly port: number }> {
  const folder = mkdtempSync(join(tmpdir(), `harvest-${name}-`))
  const { port, stop } = await debianServers(folder)[name]()
  return {
    port,
    async [Symbol.asyncDispose]() {
      await stop()
      rmSync(folder, { recursive: true })
    },
  }
}

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
