import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askedAgent, connectAsked, goodManners, type Manners } from '../../fixtures/mcp/agent.ts'
import { askingServer } from '../../fixtures/mcp/server.ts'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay, type ReplayResult, replayTape } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'

// Servers of the real SDK that ask their client, over both of its transports.
const dir = mkdtempSync(join(tmpdir(), 'harvest-mcp-'))
let http: Server
let base = ''

async function serve(): Promise<void> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  http = createServer((request, response) => {
    void (async () => {
      const known = sessions.get(String(request.headers['mcp-session-id']))
      if (known) return known.handleRequest(request, response)
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (id) => void sessions.set(id, transport),
      })
      await askingServer().connect(transport as Transport)
      return transport.handleRequest(request, response)
    })()
  })
  await once(http.listen(0, '127.0.0.1'), 'listening')
  base = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
}

const transports: Readonly<Record<string, () => Transport>> = {
  stdio: () =>
    new StdioClientTransport({
      command: process.execPath,
      args: [new URL('../../fixtures/mcp/stdio.ts', import.meta.url).pathname],
    }),
  'streamable HTTP': () => new StreamableHTTPClientTransport(new URL(base)) as Transport,
}

beforeAll(serve)
afterAll(() => {
  http.closeAllConnections()
  http.close()
  rmSync(dir, { recursive: true, force: true })
})

describe.each(Object.keys(transports))('an MCP server that asks its client, over %s', (name) => {
  const run = (manners?: Manners) => () => askedAgent(transports[name]!(), manners)
  let tape: Tape
  beforeAll(async () => {
    const recorder = createRecorder({ dir })
    await recorder.run({ agent: 'asked', id: name.replace(' ', '-') }, run())
    tape = readTape(recorder.lastTape!)
    await installReplay()
  })

  const replayed = (manners?: Manners): Promise<ReplayResult> =>
    replayTape(tape, run(manners), { hangMs: 2_000 } as object)

  test('is no stand-in for another child that the agent starts', async () => {
    const { problems } = await replayTape(tape, async () => {
      spawn('rm', ['-rf', 'work'])
      return run()()
    })
    expect(problems.map(({ code }) => code)).toEqual(['HARVEST_ESCAPE'])
  })

  test('is recorded with what it asked, its progress, a cancelled call and its changes', () => {
    const { outcome, unrecorded, incomplete } = tape.close!
    expect({ unrecorded, incomplete }).toEqual({})
    expect(outcome).toEqual({
      status: 'returned',
      value: {
        texts: [
          'the model says yes to refund?',
          'the user says accept {"size":"L"}',
          'file:///desk',
          'done',
          'grew',
          'touched',
        ],
        progress: [1, 2, 3],
        cancelled: expect.stringContaining('enough') as unknown,
        tools: expect.arrayContaining(['grown']) as unknown,
        heard: ['tools changed', 'note://1'],
        contents: [{ uri: 'note://1', text: 'a note' }],
      },
    })
  })

  test('replays without it, bit for bit', async () => {
    const { problems, drift, unused, comparison } = await replayed()
    expect(problems.map(({ message }) => message)).toEqual([])
    expect([drift, unused, comparison.outcomeEqual]).toEqual([[], [], true])
  })

  const wrong: Readonly<Record<string, readonly [manners: Manners, said: RegExp]>> = {
    'another answer of the model': [
      { ...goodManners, sample: () => 'no' },
      /result\.content\.text\n +recorded +yes to refund\?\n +now +no\n/,
    ],
    'a handler that throws': [
      {
        ...goodManners,
        sample: () => {
          throw new Error('no model here')
        },
      },
      /the reply to sampling\/createMessage|POST [^]*HARVEST_DIVERGENCE/,
    ],
    'no answer at all': [
      { ...goodManners, sample: () => new Promise<string>(() => undefined) },
      /step 4, response on stdio|skipped step 5/,
    ],
    'a user who declines': [
      { ...goodManners, elicit: () => ({ action: 'decline' }) },
      /result\.action\n +recorded +accept\n +now +decline/,
    ],
    'other roots': [
      { ...goodManners, roots: ['file:///'] },
      /result\.roots\[0\]\.uri\n +recorded +file:\/\/\/desk\n +now +file:\/\/\/\n/,
    ],
    'another argument of a tool': [
      { ...goodManners, question: 'replace?' },
      /params\.arguments\.question\n +recorded +refund\?\n +now +replace\?\n/,
    ],
    'another tool': [{ ...goodManners, afterwards: ['roots'] }, /params\.name\n +recorded +grow\n +now +roots\n/],
    'a tool called once more': [
      { ...goodManners, afterwards: ['grow', 'roots'] },
      /params\.name\n +recorded +touch\n +now +roots\n/,
    ],
    'a tool left out': [
      { ...goodManners, first: ['ask_user'] },
      /skipped step \d+, (?:tools\/call|POST)[^]*Made instead/,
    ],
    'another resource': [
      { ...goodManners, note: 'note://2' },
      /params\.uri\n +recorded +note:\/\/1\n +now +note:\/\/2\n/,
    ],
    'a subscription left out': [
      { ...goodManners, subscribes: false },
      /skipped step 1[4-6], (?:resources\/subscribe|POST)[^]*Made instead/,
    ],
    'a call that is not cancelled any more': [
      { ...goodManners, cancels: false },
      /params\.reason\n +recorded +enough\n +now +McpError: MCP error -32001: Request timed out\n/,
    ],
  }
  test.each(Object.keys(wrong))('%s is red, and named', async (how) => {
    const [manners, said] = wrong[how]!
    const { problems } = await replayed(manners)
    expect(problems[0]?.message).toMatch(said)
  })
})

test('runs that share one server over stdio each have what it asked because of them, and what was replied', async () => {
  const client = await connectAsked(transports['stdio']!())
  const recorder = createRecorder({ dir })
  for (const question of ['one?', 'two?']) {
    await recorder.run({ agent: 'shared', id: question.slice(0, 3) }, () =>
      client.callTool({ name: 'ask_model', arguments: { question } }),
    )
    const { events, close } = readTape(recorder.lastTape!)
    const spoken = events.flatMap((event) =>
      event.kind === 'exchange' ? [event.method] : event.kind === 'push' ? ['push'] : [],
    )
    expect(spoken).toEqual(['tools/call', 'push', 'response'])
    expect(JSON.stringify(events)).toContain(`yes to ${question}`)
    expect(close?.unrecorded).toBeUndefined()
  }
  const both = await Promise.all(
    ['a?', 'b?'].map(async (question) => {
      let id = ''
      await recorder.run({ agent: 'shared' }, async (handle) => {
        id = handle.id
        await client.callTool({ name: 'ask_model', arguments: { question } })
      })
      return readTape(join(dir, `${id}.tape.jsonl`)).close?.unrecorded
    }),
  )
  expect(both).toEqual(both.map(() => [expect.stringContaining('sampling/createMessage of stdio:node stdio.ts')]))
  await client.close()
})

test('a server over stdio that the agent closed has to be closed in a replay', async () => {
  const agent = (isClosed: boolean) => async (): Promise<void> => {
    const client = await connectAsked(transports['stdio']!())
    await client.listTools()
    if (isClosed) await client.close()
  }
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'closing', id: 'closing' }, agent(true))
  const { problems } = await replayTape(readTape(recorder.lastTape!), agent(false))
  expect(problems.map(({ code }) => code)).toEqual(['HARVEST_UNUSED'])
})
