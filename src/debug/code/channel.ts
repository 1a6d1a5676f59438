import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { HarvestError } from '../../errors/index.ts'
import type { ChildNews, ChildOrder } from '../child/messages.ts'

/** Something the inspector of the agent's process tells. */
export type InspectorEvent = { readonly event: string; readonly params: unknown }

type Message =
  | ChildNews
  | InspectorEvent
  | { readonly id: number; readonly result?: object; readonly error?: { readonly message: string } }

/** The two ends of a conversation with the agent's process: our orders and news, and its inspector. */
export class Channel {
  readonly #socket: Socket
  readonly #waiting = new Map<
    number,
    { readonly resolve: (result: never) => void; readonly reject: (error: Error) => void }
  >()
  readonly #hearers = new Set<(message: ChildNews | InspectorEvent) => void>()
  #lastId = 0

  constructor(socket: Socket) {
    this.#socket = socket
    createInterface({ input: socket })
      .on('line', (line) => this.#hear(JSON.parse(line) as Message))
      // Reports again what the socket reports below.
      .on('error', () => {})
    socket.on('error', () => socket.destroy())
    socket.once('close', () => {
      for (const { reject } of this.#waiting.values()) reject(ended())
      this.#waiting.clear()
    })
  }

  /** Settles when the other end is gone. */
  get closed(): Promise<void> {
    return this.#socket.destroyed
      ? Promise.resolve()
      : new Promise((resolve) => this.#socket.once('close', () => resolve()))
  }

  order(order: ChildOrder): void {
    this.#write(order)
  }

  /** Asks the inspector. */
  cdp<T extends object>(method: string, params: object = {}): Promise<T> {
    if (this.#socket.destroyed) return Promise.reject(ended())
    const id = ++this.#lastId
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (result: never) => void, reject })
      this.#write({ id, method, params })
    })
  }

  /** Hears everything that is sent without a request; what it answers stops the hearing. */
  on(hear: (message: ChildNews | InspectorEvent) => void): () => void {
    this.#hearers.add(hear)
    return () => void this.#hearers.delete(hear)
  }

  /** Ends the other process, no matter what it stands at. */
  close(): void {
    this.#socket.destroy()
  }

  #write(message: object): void {
    if (!this.#socket.destroyed) this.#socket.write(`${JSON.stringify(message)}\n`)
  }

  #hear(message: Message): void {
    if (!('id' in message)) {
      for (const hear of [...this.#hearers]) hear(message)
      return
    }
    const waiting = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    if (message.error === undefined) waiting?.resolve((message.result ?? {}) as never)
    else waiting?.reject(new Error(message.error.message))
  }
}

/** What is asked of a process that is gone. */
export function ended(): HarvestError {
  return new HarvestError('HARVEST_DEBUG_CHILD', {
    what: 'The process of the agent ended',
    why: 'It crashed, or something else ended it.',
    fix: ["to see what it prints: npx vitest-harvest replay '<tape>'"],
  })
}

/** An address that no other user may open, and the first to connect to it. */
export async function listenForChild(): Promise<{
  readonly address: string
  readonly connected: Promise<Channel>
  readonly close: () => void
}> {
  const folder = mkdtempSync(join(tmpdir(), 'harvest-debug-'))
  const address = process.platform === 'win32' ? `\\\\.\\pipe\\${folder.replaceAll(/[^\w-]/g, '-')}` : join(folder, 'd')
  const server = createServer()
  const close = (): void => {
    process.off('exit', close)
    server.close()
    rmSync(folder, { recursive: true, force: true })
  }
  // A reader of our output that has seen enough ends this process at once.
  process.once('exit', close)
  const connected = new Promise<Channel>((resolve) =>
    server.once('connection', (socket) => {
      close()
      resolve(new Channel(socket))
    }),
  )
  await new Promise<void>((listening, failed) => {
    server.once('error', failed)
    server.listen(address, () => listening())
  })
  server.unref()
  return { address, connected, close }
}
