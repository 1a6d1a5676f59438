import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askingServer } from '../../fixtures/mcp/server.ts'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay, replayTape, verdictOf } from '../../src/replay/index.ts'
import { readTape } from '../../src/tape/index.ts'

const dir = mkdtempSync(join(tmpdir(), 'harvest-mcp-'))
const servers: Server[] = []

/** A server of the real SDK, that answers with a stream or with one body. */
async function serve(enableJsonResponse: boolean): Promise<string> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const http = createServer((request, response) => {
    void (async () => {
      const known = sessions.get(String(request.headers['mcp-session-id']))
      if (known) return known.handleRequest(request, response)
      const transport = new StreamableHTTPServerTransport({
        enableJsonResponse,
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (id) => void sessions.set(id, transport),
      })
      await askingServer().connect(transport as Transport)
      return transport.handleRequest(request, response)
    })()
  })
  servers.push(http)
  await once(http.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
}

beforeAll(() => installReplay())
afterAll(() => {
  for (const http of servers) {
    http.closeAllConnections()
    http.close()
  }
  rmSync(dir, { recursive: true, force: true })
})

interface Reads {
  readonly order: readonly number[]
  readonly isAtOnce: boolean
}

describe.each([
  ['a stream', false],
  ['one body', true],
])('an MCP client over streamable HTTP that is answered with %s', (_name, enableJsonResponse) => {
  let base = ''
  beforeAll(async () => void (base = await serve(enableJsonResponse)))

  const connected = async (): Promise<Client> => {
    const client = new Client({ name: 'reader', version: '1.0.0' })
    await client.connect(new StreamableHTTPClientTransport(new URL(base)) as Transport)
    return client
  }
  /** Notes by their number, whatever order they were read in. */
  const reader =
    ({ order, isAtOnce }: Reads) =>
    async (): Promise<unknown> => {
      const client = await connected()
      const notes: unknown[] = []
      const read = async (at: number): Promise<void> =>
        void (notes[at] = await client.readResource({ uri: `note://${at}` }))
      if (isAtOnce) await Promise.all(order.map(read))
      else for (const at of order) await read(at)
      await client.close()
      return notes
    }
  const recorded = async (agent: () => Promise<unknown>) => {
    const recorder = createRecorder({ dir })
    await recorder.run({ agent: 'reader' }, agent)
    return readTape(recorder.lastTape!)
  }

  const inTurn = { order: [0, 1, 2, 3], isAtOnce: false }
  const atOnce = { order: [0, 1, 2, 3], isAtOnce: true }
  const otherOrder = { order: [2, 0, 3, 1], isAtOnce: true }
  test.each([
    ['in turn', 'at once', inTurn, atOnce],
    ['at once', 'at once again', atOnce, atOnce],
    ['in turn', 'at once in another order', inTurn, otherOrder],
    ['at once', 'at once in another order', atOnce, otherOrder],
  ])('and reads %s gets the same answers when it reads %s', async (_before, _now, before, now) => {
    const tape = await recorded(reader(before))
    const run = await replayTape(tape, reader(now))
    expect(run.problems.map(({ message }) => message)).toEqual([])
    expect([run.unused, run.comparison.outcomeEqual, verdictOf(run).verdict]).toEqual([[], true, 'same'])
  })

  test('and calls tools at once in another order hears the progress of each', async () => {
    const caller = (order: readonly number[]) => async (): Promise<unknown> => {
      const client = await connected()
      const heard: Record<number, unknown[]> = { 1: [], 2: [], 3: [] }
      const call = (steps: number): Promise<unknown> =>
        client.callTool({ name: 'slow', arguments: { steps } }, undefined, {
          onprogress: ({ progress }) => heard[steps]!.push(progress),
        })
      await Promise.all(order.map(call))
      await client.close()
      return heard
    }
    const tape = await recorded(caller([1, 2, 3]))
    const run = await replayTape(tape, caller([3, 1, 2]))
    expect(run.problems.map(({ message }) => message)).toEqual([])
    expect(run.comparison.outcomeEqual).toBe(true)
  })
})

test('the id of a body that names no JSON-RPC is what is asked for', async () => {
  const http = createServer((_request, response) => void response.end('{}'))
  servers.push(http)
  await once(http.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/pay`
  const pay = (id: number) => async (): Promise<unknown> =>
    (await fetch(url, { method: 'POST', body: JSON.stringify({ id, method: 'card' }) })).json()
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'pays' }, pay(1))
  const { problems } = await replayTape(readTape(recorder.lastTape!), pay(2))
  expect(problems.map(({ code }) => code)).toEqual(['HARVEST_DIVERGENCE'])
})
