import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LiveWorld } from './live.ts'

/** A loopback server that the world of the moment answers behind. */
export interface WorldServer extends AsyncDisposable {
  readonly url: string
  /** From now on this world answers. */
  enter(world: LiveWorld): void
}

/** Opens the server on a free port of 127.0.0.1. */
export async function startWorld(): Promise<WorldServer> {
  let current: LiveWorld | undefined
  const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    // A client that went away while it sent wants no answer.
    request.on('error', () => undefined)
    request.on('end', () => {
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
      const { method = 'GET', url = '/' } = request
      if (current === undefined) throw new RangeError('no world was entered')
      const {
        status,
        headers: sent,
        body,
        delayMs,
      } = current.answer({
        method,
        url,
        headers,
        body: Buffer.concat(chunks).toString('utf8'),
      })
      void sleep(delayMs).then(() => response.writeHead(status, { ...sent }).end(body))
    })
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    enter: (world) => void (current = world),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
