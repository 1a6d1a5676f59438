// Opens connections, then replays an empty tape once per attempt: nothing may reach the servers of this very process.
import { existsSync, rmSync } from 'node:fs'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import type { AddressInfo, Server } from 'node:net'
import { join } from 'node:path'
import { answerParent } from '../../../fixtures/child/answer.ts'
import { installReplay, replayTape } from '../../../src/replay/index.ts'
import { readTape } from '../../../src/tape/index.ts'
import { attempts, openBefore } from './attempts.ts'

export interface AttemptReport {
  readonly name: string
  readonly outcome: 'returned' | 'threw' | 'hung'
  readonly problems: readonly { readonly code: string; readonly message: string }[]
  readonly escapes: readonly { readonly kind: string; readonly site?: string; readonly allowed: boolean }[]
  /** What arrived at a server, or ran. */
  readonly arrived: readonly string[]
}

answerParent(async ({ dir, tape: path }: { readonly dir: string; readonly tape: string }) => {
  const arrived: string[] = []
  const server = http.createServer((_, response) => response.end('ok'))
  const h2 = http2.createServer((_, response) => response.end('ok'))
  const unix = http.createServer((_, response) => response.end('ok'))
  const udp = createSocket('udp4', () => arrived.push('datagram'))
  udp.bind(0, '127.0.0.1')
  await once(udp, 'listening')
  const socketPath = join(dir, 'escape.sock')
  const marker = join(dir, 'it-ran')
  const port = await listening(server)
  const h2Port = await listening(h2)
  await once(unix.listen(socketPath), 'listening')
  const target = await openBefore({ port, h2Port, socketPath, marker, udpPort: udp.address().port })
  for (const [name, one] of Object.entries({ server, unix })) {
    one.on('connection', () => arrived.push(`connection to ${name}`))
    one.on('request', () => arrived.push(`request to ${name}`))
    one.on('upgrade', () => arrived.push(`upgrade of ${name}`))
  }
  h2.on('session', () => arrived.push('http2 session'))
  h2.on('stream', () => arrived.push('http2 stream'))

  // After a failed attempt a client may still complain to nobody; the verdict is in the replay's result.
  process.on('uncaughtException', () => undefined)
  process.on('unhandledRejection', () => undefined)
  await installReplay()
  const tape = readTape(path)
  const reports: AttemptReport[] = []
  for (const [name, attempt] of Object.entries(attempts)) {
    arrived.length = 0
    const { outcome, problems, escapes } = await replayTape(tape, async () => attempt(target))
    // A refused attempt has arrived nowhere even a little later.
    await new Promise((resolve) => setTimeout(resolve, 30))
    if (existsSync(marker)) arrived.push('a process or worker ran')
    rmSync(marker, { force: true })
    reports.push({
      name,
      outcome: outcome.status,
      problems: problems.map(({ code, message }) => ({ code, message })),
      escapes: escapes.map(({ kind, site, allowed }) => ({ kind, allowed, ...(site === undefined ? {} : { site }) })),
      arrived: [...arrived],
    })
  }
  return reports
})

async function listening(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}
