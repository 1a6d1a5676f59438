import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { parseCase } from '../../src/cases/index.ts'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay, type ReplayResult, replayTape } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { judge } from '../../src/verdict/index.ts'

// An MCP server of the real SDK answers in place of the tape; the rest of the run is replayed.
const dir = mkdtempSync(join(tmpdir(), 'harvest-tools-mcp-'))
const servers: Server[] = []
let recordedAt = ''
let tape: Tape
let calls = 0

/** A server with one tool, that says `${city}: ${weather}`. */
async function startServer(weather: string): Promise<string> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const server = createServer((request, response) => {
    void (async () => {
      const known = sessions.get(String(request.headers['mcp-session-id']))
      if (known) return known.handleRequest(request, response)
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (id) => void sessions.set(id, transport),
      })
      const mcp = new McpServer({ name: 'weather', version: '1.0.0' })
      mcp.registerTool('weather', { inputSchema: { city: z.string() } }, ({ city }) => {
        calls++
        return { content: [{ type: 'text', text: `${city}: ${weather}` }] }
      })
      await mcp.connect(transport)
      return transport.handleRequest(request, response)
    })()
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

async function agent(_?: unknown, { at = recordedAt, city = 'Paris' } = {}): Promise<unknown> {
  const client = new Client({ name: 'agent', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(at)) as Parameters<Client['connect']>[0])
  const { content } = await client.callTool({ name: 'weather', arguments: { city } })
  await client.close()
  return content
}

beforeAll(async () => {
  recordedAt = await startServer('sunny')
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'mcp', id: 'mcp' }, () => agent())
  tape = readTape(recorder.lastTape!)
  await installReplay()
})
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
  rmSync(dir, { recursive: true, force: true })
})

const against = (url: string): Promise<ReplayResult> =>
  replayTape(tape, agent, { tools: { mcp: { [recordedAt]: url } } })

test('a server that answers as recorded is green, and was really asked', async () => {
  calls = 0
  const result = await against(await startServer('sunny'))
  expect(result.problems.map(({ message }) => message)).toEqual([])
  expect(result.comparison.outcomeEqual).toBe(true)
  expect(calls).toBe(1)
})

test('another result of a tool call is different, by field, and the agent goes on with the recorded one', async () => {
  const result = await against(await startServer('rainy'))
  expect(result.problems.map(({ code }) => code)).toEqual(['HARVEST_RESULTS'])
  expect(result.drift).toMatchObject([
    {
      class: 'results',
      part: 'weather',
      path: 'result.content[0].text',
      recorded: 'Paris: sunny',
      live: 'Paris: rainy',
    },
  ])
  expect(result.comparison.outcomeEqual).toBe(true)
})

test('without a server in the options the tape answers', async () => {
  calls = 0
  const result = await replayTape(tape, agent, { tools: 'run' })
  expect([result.problems, calls]).toEqual([[], 0])
})

test('a message says what the server was asked, by method and tool', async () => {
  const { problems } = await replayTape(tape, () => agent(undefined, { city: 'Rome' }))
  const host = recordedAt.replace('http://', '')
  const [message = ''] = problems.map((one) => one.message)
  expect(message).toContain(`No recorded response matches tools/call weather on ${host}\n`)
  expect(message).toMatch(new RegExp(`nearest +step \\d, tools/call weather on ${host}\n`))
})

test('a server at another host is no question to a model', async () => {
  const moved = 'http://mcp.example/mcp'
  const result = await replayTape(tape, () => agent(undefined, { at: moved }))
  const known = parseCase(
    'case: a\nagent: mcp\ntape: mcp.tape.jsonl\nexpect: pass\nbaseline:\n  - weather(city)\n',
    'a.case.yaml',
  )
  const { verdict, because } = judge(known, result, {})
  expect(verdict).toBe('different')
  expect(because?.error.message).toContain('to another host')
  expect(because?.error.message).not.toContain('the model')
})
