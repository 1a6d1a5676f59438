import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll } from 'vitest'

/**
 * Lets a server answer on loopback from before the first test of a file until after its last.
 *
 * @returns its address, once tests run
 */
export function served(server: Server): () => string {
  let base = ''
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.close()
    server.closeAllConnections()
  })
  return () => base
}
