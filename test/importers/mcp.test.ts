import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it } from 'vitest'
import { replayTape } from '../../src/replay/index.ts'
import { parseTape, serializeTape, type Tape } from '../../src/tape/index.ts'
import { traceOf } from '../../src/trace/index.ts'
import { lines, runSamples } from './run-samples.ts'
import { imported } from './samples.ts'

const rpc = (message: object): object => ({ jsonrpc: '2.0', ...message })
const initialize = rpc({
  id: 7,
  method: 'initialize',
  params: {
    protocolVersion: LATEST_PROTOCOL_VERSION,
    capabilities: {},
    clientInfo: { name: 'another-client', version: '9.9.9' },
  },
})
const welcome = rpc({
  id: 7,
  result: {
    protocolVersion: LATEST_PROTOCOL_VERSION,
    capabilities: { tools: {}, logging: {} },
    serverInfo: { name: 'orders', version: '1.0.0' },
  },
})
const initialized = rpc({ method: 'notifications/initialized' })
const note = (data: string): object => rpc({ method: 'notifications/message', params: { level: 'info', data } })
const ask = (id: number, order: string): object =>
  rpc({ id, method: 'tools/call', params: { name: 'lookup_order', arguments: { order_id: order } } })
const answer = (id: number, text: string): object => rpc({ id, result: { content: [{ type: 'text', text }] } })

/** What went in and out, as goose logs it. */
const log = [
  ['IN', initialize],
  ['ERR', 'orders, ready'],
  ['OUT', welcome],
  ['IN', initialized],
  ['IN', ask(8, 'A-17')],
  ['OUT', note('looking for A-17')],
  ['OUT', answer(8, 'paid')],
  ['IN', ask(9, 'A-18')],
  ['OUT', answer(9, 'open')],
] as const

const text = log
  .map(([stream, said]) => `STD${stream}: ${typeof said === 'string' ? said : JSON.stringify(said)}\n`)
  .join('')

function tapeOf(content: string): Tape {
  const { header, events, close } = imported(content)
  return parseTape(serializeTape(header, events, close), 'sample')
}

/** Asks a server for orders, and hears what it notes. */
async function orders(ids: readonly string[], command = 'orders-server'): Promise<unknown> {
  const heard: unknown[] = []
  const client = new Client({ name: 'desk', version: '1.0.0' })
  client.fallbackNotificationHandler = (notification) => {
    heard.push(notification.params)
    return Promise.resolve()
  }
  await client.connect(new StdioClientTransport({ command, args: ['--stdio'] }))
  const answers: unknown[] = []
  for (const id of ids) {
    const { content } = await client.callTool({ name: 'lookup_order', arguments: { order_id: id } })
    answers.push(content)
  }
  await client.close()
  return { answers, heard }
}

const told = {
  answers: [[{ type: 'text', text: 'paid' }], [{ type: 'text', text: 'open' }]],
  heard: [{ level: 'info', data: 'looking for A-17' }],
}

describe('the log of an MCP server', () => {
  it('is replayed through the MCP client, under whatever command the server is started', async () => {
    const result = await replayTape(tapeOf(text), () => orders(['A-17', 'A-18'], '/usr/local/bin/other-server'))
    expect(result.problems).toEqual([])
    expect(result.outcome).toEqual({ status: 'returned', value: told })
    expect(result.comparison).toMatchObject({ recorded: 4, served: 4 })
  })

  it('answers no other question than the one that was logged', async () => {
    const result = await replayTape(tapeOf(text), () => orders(['A-17', 'A-99']))
    expect(result.outcome.status).toBe('threw')
    expect(result.problems.map(({ code }) => code)).toContain('HARVEST_DIVERGENCE')
  })

  it('is replayed through a client of another version and without its notes, in the version that was logged', async () => {
    const content = text
      .replaceAll(LATEST_PROTOCOL_VERSION, '2025-03-26')
      .replace('"capabilities":{}', '"capabilities":{"sampling":{},"elicitation":{}}')
      .replace('"params":{"name"', '"params":{"_meta":{"progressToken":0,"goose-session-id":"s-1"},"name"')
    const result = await replayTape(tapeOf(content), () => orders(['A-17', 'A-18']))
    expect(result.problems).toEqual([])
    expect(result.outcome).toEqual({ status: 'returned', value: told })
    const drift = result.drift.map(({ class: of, part, recorded, live }) => [of, part, recorded, live])
    expect(drift).toContainEqual(['bookkeeping', 'name of the MCP client', 'another-client', 'desk'])
    expect(drift).toContainEqual(['bookkeeping', 'version of the MCP protocol', '2025-03-26', LATEST_PROTOCOL_VERSION])
    expect(drift).toContainEqual(['bookkeeping', 'capabilities of the MCP client', '{}', '(absent)'])
    expect(drift).toContainEqual(['bookkeeping', 'notes of the MCP client', '{"goose-session-id":"s-1"}', '(absent)'])
    expect(drift.map(([of]) => of)).not.toContain('unproven')
  })

  it('does not answer a client that brings notes of its own', async () => {
    const content = text.replace('"params":{"name"', '"params":{"_meta":{"tenant":"one"},"name"')
    const asTenant = (tenant: string) => async () => {
      const client = new Client({ name: 'desk', version: '1.0.0' })
      await client.connect(new StdioClientTransport({ command: 'orders-server' }))
      await client.callTool({ name: 'lookup_order', arguments: { order_id: 'A-17' }, _meta: { tenant } })
      await client.callTool({ name: 'lookup_order', arguments: { order_id: 'A-18' } })
      await client.close()
    }
    const same = await replayTape(tapeOf(content), asTenant('one'))
    expect(same.problems).toEqual([])
    const other = await replayTape(tapeOf(content), asTenant('two'))
    expect(other.problems.map(({ code }) => code)).toContain('HARVEST_DIVERGENCE')
  })

  it('tells progress under the token of the live request, and none to a client that did not ask for it', async () => {
    const progress = (at: number): object =>
      rpc({ method: 'notifications/progress', params: { progressToken: 'p-8', progress: at, total: 2 } })
    const content = text
      .replace('"params":{"name"', '"params":{"_meta":{"progressToken":"p-8"},"name"')
      .replace(/(?=STDOUT: .*paid)/, [1, 2].map((at) => `STDOUT: ${JSON.stringify(progress(at))}\n`).join(''))
    const lookUp = (isHeard: boolean) => async () => {
      const client = new Client({ name: 'desk', version: '1.0.0' })
      const heard: unknown[] = []
      client.onerror = (error) => heard.push(error.message)
      await client.connect(new StdioClientTransport({ command: 'orders-server' }))
      const ask = (order: string, options: object): Promise<unknown> =>
        client.callTool({ name: 'lookup_order', arguments: { order_id: order } }, undefined, options)
      await ask('A-17', isHeard ? { onprogress: (at: unknown) => heard.push(at) } : {})
      await ask('A-18', {})
      await client.close()
      return heard
    }
    const heard = await replayTape(tapeOf(content), lookUp(true))
    expect(heard.problems).toEqual([])
    expect(heard.outcome).toMatchObject({
      value: [
        { progress: 1, total: 2 },
        { progress: 2, total: 2 },
      ],
    })
    const unheard = await replayTape(tapeOf(content), lookUp(false))
    expect(unheard.problems).toEqual([])
    expect(unheard.outcome).toMatchObject({ value: [] })
  })

  it('stands for one server: a second one that is started finds nothing', async () => {
    const result = await replayTape(tapeOf(text), async () => {
      const first = await orders(['A-17'], 'one')
      const other = spawn(process.execPath, ['two'], { stdio: 'pipe' })
      other.stdin.write(`${JSON.stringify(ask(9, 'A-18'))}\n`)
      const [said] = (await once(other.stdout, 'data')) as [Buffer]
      return [first, JSON.parse(said.toString('utf8'))]
    })
    expect(result.outcome).toMatchObject({ value: [{ answers: [told.answers[0]] }, { error: { code: -32000 } }] })
    expect(result.problems.map(({ code }) => code)).toContain('HARVEST_DIVERGENCE')
  })

  it('as JSON Lines with directions is the same, but for bytes that were written anew', async () => {
    const content = lines(
      ...log
        .filter(([stream]) => stream !== 'ERR')
        .map(([stream, message]) => ({ ts: '2026-03-04T05:06:07.000Z', dir: stream === 'IN' ? '>' : '<', message })),
    )
    const tape = tapeOf(content)
    expect(tape.header.imported).toMatchObject({ format: 'mcp-jsonl', grade: 're-drivable' })
    const result = await replayTape(tape, () => orders(['A-17', 'A-18']))
    expect(result.outcome).toEqual({ status: 'returned', value: told })
  })

  it('as JSON Lines may begin with a line about the session', () => {
    const head = { type: 'session_start', session_id: 's-1' }
    const tape = imported(`${JSON.stringify(head)}\n${runSamples['mcp-jsonl']}`)
    expect(tape.facts).toMatchObject({ format: 'mcp-jsonl', tools: ['lookup_order'] })
  })

  it('holds each tool call once, with what came of it', () => {
    const tape = imported(text)
    expect(tape.facts).toMatchObject({ grade: 'replayable', exchanges: 4, tools: ['lookup_order', 'lookup_order'] })
    expect(traceOf(tape.events).layers.map((layer) => layer.map(({ args }) => args))).toEqual([
      [{ order_id: 'A-17' }],
      [{ order_id: 'A-18' }],
    ])
  })

  it('a request that was never answered stays without an answer, and the tape below what a replay needs', () => {
    const tape = imported(text.replace(/STDOUT: .*open.*\n/, ''))
    expect(tape.events.at(-1)).toMatchObject({ kind: 'exchange', method: 'tools/call', oneWay: true })
    expect(tape.facts.grade).toBe('signature-only')
  })

  it('JSON Lines in which nobody asks are refused: who the client is, nothing tells', () => {
    const content = lines({ dir: '<', message: note('one') }, { dir: '<', message: note('two') })
    expect(() => imported(content)).toThrow(/its client is unknown/)
  })
})
