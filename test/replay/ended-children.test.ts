import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { beforeAll, describe, expect, test } from 'vitest'
import { fork } from '../../src/index.ts'
import { createRecorder, tool } from '../../src/record/index.ts'
import { installReplay, type ReplayResult, replayTape, verdictOf } from '../../src/replay/index.ts'
import { describeStep } from '../../src/report/describe.ts'
import { parseTape, readTape, serializeTape, stepsOf, type Tape } from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// Servers of the real SDK, over its own transport, and clients that start such a server themselves.
const server = new URL('../../fixtures/mcp/stdio.ts', import.meta.url).pathname
const dir = temporaryFolder('ended-children')

beforeAll(() => installReplay())

let count = 0
async function record(run: () => Promise<unknown>): Promise<Tape> {
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'desk', id: `run-${++count}` }, run)
  recorder.flush()
  return readTape(join(dir, `run-${count}.tape.jsonl`))
}

const replay = (tape: Tape, run: () => Promise<unknown>): Promise<ReplayResult> =>
  replayTape(tape, run, { hangMs: 3_000 } as object)

const wayOf = (tape: Tape): string[] =>
  tape.events.flatMap((event) => {
    if (event.kind === 'spawn') return [`SPAWN${event.error === undefined ? '' : ` ${event.error}`}`]
    if (event.kind === 'push') return event.frame === 'close' ? [`ended ${event.text}`] : []
    if (event.kind !== 'exchange') return []
    return [event.method === 'KILL' ? `KILL ${String(event.request.body)}` : event.method]
  })

/** That a replay of the same agent is green, and ends as the recording did. */
async function expectSame(tape: Tape, run: () => Promise<unknown>): Promise<void> {
  expect(tape.close?.unrecorded).toBeUndefined()
  const result = await replay(tape, run)
  expect(result.problems.map(({ message }) => message)).toEqual([])
  expect([result.drift, result.notCompared, result.comparison.outcomeEqual]).toEqual([[], [], true])
  expect(verdictOf(result).verdict).toBe('same')
}

async function codesOf(tape: Tape, run: () => Promise<unknown>): Promise<string[]> {
  const { problems } = await replay(tape, run)
  return problems.map(({ code }) => code)
}

type Ended = 'closed' | 'left' | 'closed without waiting'

const sdkAgent =
  (how: Ended, args = [server], command = process.execPath) =>
  async (): Promise<unknown> => {
    const client = new Client({ name: 'desk', version: '1.0.0' })
    let closed = false
    client.onclose = () => void (closed = true)
    try {
      await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }))
    } catch (error) {
      const { code, message } = error as { code?: unknown; message: string }
      return { code, message, closed }
    }
    const { tools } = await client.listTools()
    if (how === 'closed') await client.close()
    if (how === 'closed without waiting') void client.close()
    return { tools: tools.length, closed }
  }

describe('the client of an MCP server over stdio', () => {
  const spoken = ['SPAWN', 'initialize', 'notifications/initialized', 'tools/list']

  test('that is closed replays the same, and one that is left open is red', async () => {
    const tape = await record(sdkAgent('closed'))
    expect(wayOf(tape)).toEqual([...spoken, 'END', 'ended 0'])
    await expectSame(tape, sdkAgent('closed'))
    await expectSame(tape, sdkAgent('closed'))
    expect(await codesOf(tape, sdkAgent('left'))).toEqual(['HARVEST_UNUSED'])
  })

  test('that was left open and is closed now is red', async () => {
    const tape = await record(sdkAgent('left'))
    expect(wayOf(tape)).toEqual(spoken)
    await expectSame(tape, sdkAgent('left'))
    expect(await codesOf(tape, sdkAgent('closed'))).toEqual(['HARVEST_DIVERGENCE'])
  })

  test('that is closed and not waited for replays the same', async () => {
    const tape = await record(sdkAgent('closed without waiting'))
    expect(wayOf(tape)).toEqual([...spoken, 'END'])
    await expectSame(tape, sdkAgent('closed without waiting'))
    expect(await codesOf(tape, sdkAgent('left'))).toEqual(['HARVEST_UNUSED'])
  })

  test('learns in a replay as well that its server dies at the start', async () => {
    const agent = sdkAgent('left', ['-e', 'setTimeout(() => process.exit(3), 50)'])
    const tape = await record(agent)
    expect(wayOf(tape)).toEqual(['SPAWN', 'initialize', 'ended 3'])
    expect(tape.close?.outcome).toMatchObject({ value: { code: -32000, closed: true } })
    await expectSame(tape, agent)
  })

  test('learns in a replay as well that its server cannot be started', async () => {
    const agent = sdkAgent('left', [], 'no-such-server-here')
    const tape = await record(agent)
    expect(wayOf(tape)).toEqual(['SPAWN ENOENT'])
    expect(tape.close?.outcome).toMatchObject({
      value: { code: 'ENOENT', message: 'spawn no-such-server-here ENOENT' },
    })
    await expectSame(tape, agent)
  })

  test('that ends two servers of one command replays the same, in the order they ended', async () => {
    const agent = async (): Promise<unknown> => {
      const ended: string[] = []
      const connect = async (name: string): Promise<Client> => {
        const client = new Client({ name, version: '1.0.0' })
        client.onclose = () => void ended.push(name)
        await client.connect(new StdioClientTransport({ command: process.execPath, args: [server] }))
        return client
      }
      const [first, second] = [await connect('first'), await connect('second')]
      await first.close()
      const after = [...ended]
      await second.close()
      return { after, ended }
    }
    const tape = await record(agent)
    expect(tape.close?.outcome).toMatchObject({ value: { after: ['first'], ended: ['first', 'second'] } })
    await expectSame(tape, agent)
  })

  test('with a server that heeds neither the end of its input nor a signal replays the same', async () => {
    const stubborn = `
      process.on('SIGTERM', () => undefined); setInterval(() => undefined, 1000)
      require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method } = JSON.parse(line)
        const info = { protocolVersion: '2025-03-26', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }
        if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: method === 'initialize' ? info : { tools: [] } }))
      })`
    const agent = sdkAgent('closed', ['-e', stubborn])
    const tape = await record(agent)
    expect(wayOf(tape)).toEqual([...spoken, 'END', 'KILL SIGTERM', 'KILL SIGKILL'])
    const shown = stepsOf(tape).slice(-3)
    expect(shown.map((step) => describeStep(step).name)).toEqual(['end of input', 'signal SIGTERM', 'signal SIGKILL'])
    await expectSame(tape, agent)
    expect(await codesOf(tape, sdkAgent('left', ['-e', stubborn]))).toEqual(['HARVEST_UNUSED'])
  })

  test('may be closed in a fork that leaves its tape, and the branch replays the same', async () => {
    const look = tool('look', ({ id }: { id: string }) => Promise.resolve({ id, isOpen: true }))
    const agent = async (): Promise<unknown> => {
      const client = new Client({ name: 'desk', version: '1.0.0' })
      await client.connect(new StdioClientTransport({ command: process.execPath, args: [server] }))
      const { isOpen } = await look({ id: 'A-17' })
      if (!isOpen) await client.close()
      return { isOpen }
    }
    const tape = await record(agent)
    const step = stepsOf(tape).findIndex(({ kind }) => kind === 'tool') + 1
    const { branch } = await fork(tape, { agent, step, change: { path: 'result.isOpen', value: false } })
    writeFileSync(join(dir, 'branch.tape.jsonl'), branch.text)
    const branched = readTape(join(dir, 'branch.tape.jsonl'))
    expect(wayOf(branched).slice(-2)).toEqual(['END', 'ended 0'])
    await expectSame(branched, agent)
  })

  test('of an older tape need not be closed', async () => {
    const { header, events, close } = await record(sdkAgent('closed'))
    const flags = header.flags.filter((flag) => flag !== 'ends-1')
    const older = events.filter(
      (event) => event.kind !== 'push' && !(event.kind === 'exchange' && event.method === 'END'),
    )
    const tape = parseTape(serializeTape({ ...header, flags }, older, close), 'older')
    for (const how of ['closed', 'left'] as const) expect(await codesOf(tape, sdkAgent(how))).toEqual([])
  })
})

type End = (child: ChildProcess) => unknown

/** Asks the server one thing, ends it so, and reports how it ended. */
const plainAgent =
  (end: End | 'by its time limit', options: SpawnOptions = {}, waits = true) =>
  async (): Promise<unknown> => {
    const child = spawn(process.execPath, [server], options)
    const errors: string[] = []
    child.on('error', ({ name }) => errors.push(name))
    const gone = new Promise((resolve) => child.once('close', (...how) => resolve(how)))
    const hello = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'plain', version: '1' } }
    child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello })}\n`)
    if (end !== 'by its time limit') {
      await once(createInterface({ input: child.stdout! }), 'line')
      await end(child)
    }
    return { ended: waits ? await gone : 'unknown', errors, killed: child.killed }
  }

describe('a program that ends a server itself', () => {
  const none = (): void => undefined
  const aborting = (): [End, SpawnOptions] => {
    const abort = new AbortController()
    return [() => abort.abort(new Error('enough')), { signal: abort.signal }]
  }
  const ways: Readonly<Record<string, readonly [how: string[], agent: () => () => Promise<unknown>]>> = {
    'by the end of its input': [['END', 'ended 0'], () => plainAgent((child) => child.stdin?.end())],
    'by a signal': [['KILL SIGTERM', 'ended SIGTERM'], () => plainAgent((child) => child.kill())],
    'by another signal': [['KILL SIGKILL', 'ended SIGKILL'], () => plainAgent((child) => child.kill('SIGKILL'))],
    'by the number of a signal': [['KILL SIGKILL', 'ended SIGKILL'], () => plainAgent((child) => child.kill(9))],
    'by disposing of it': [['KILL SIGTERM', 'ended SIGTERM'], () => plainAgent((child) => child[Symbol.dispose]())],
    'by the signal it was started with': [['KILL SIGTERM', 'ended SIGTERM'], () => plainAgent(...aborting())],
    'by that signal, with another kill signal': [
      ['KILL SIGKILL', 'ended SIGKILL'],
      () => {
        const [end, options] = aborting()
        return plainAgent(end, { ...options, killSignal: 'SIGKILL' })
      },
    ],
    'by its time limit': [
      ['KILL SIGINT', 'ended SIGINT'],
      () => plainAgent('by its time limit', { timeout: 300, killSignal: 'SIGINT' }),
    ],
    'by a signal after it was asked whether it is there': [
      ['KILL SIGTERM', 'ended SIGTERM'],
      () => plainAgent((child) => child.kill(0) && child.kill()),
    ],
  }
  test.each(Object.keys(ways))('%s replays the same, and is red when it does not', async (name) => {
    const [how, agent] = ways[name]!
    const tape = await record(agent())
    expect(wayOf(tape)).toEqual(['SPAWN', 'initialize', ...how])
    await expectSame(tape, agent())
    const left = how[0] === 'KILL SIGINT' ? 'by its time limit' : none
    expect(await codesOf(tape, plainAgent(left, {}, false))).toContain('HARVEST_UNUSED')
    const other = how[0] === 'KILL SIGTERM' ? 'SIGKILL' : 'SIGTERM'
    expect(
      await codesOf(
        tape,
        plainAgent((child) => child.kill(other)),
      ),
    ).not.toEqual([])
  })

  test('and no longer does, while it waits for its end, is red with the child that it ended', async () => {
    const tape = await record(plainAgent((child) => child.stdin?.end()))
    const { problems } = await replay(tape, plainAgent(none))
    expect(problems.map(({ code }) => code)).toEqual(['HARVEST_AGENT_TIMEOUT'])
    const said = problems[0]?.message.split('\n').filter((line) => /^ {2}next|^The recorded|^→/.test(line))
    expect(said?.map((line) => line.replace(/stdio:\S+ \S+,/, 'CHILD,').replace(/run-\d+/, 'RUN'))).toEqual([
      '  next    step 2, end of input of CHILD, which the agent has not asked',
      'The recorded agent ended this child here. This one does not, and may wait for its end.',
      '→ end the child again: close its input, its client or its transport, or send the signal',
      '→ to see the recorded steps: npx vitest-harvest show RUN',
    ])
  })

  test('by destroying its input replays the same, and so does one that does not: no tape has it', async () => {
    const destroyed = plainAgent((child) => void child.stdin?.destroy())
    const tape = await record(destroyed)
    expect(wayOf(tape)).toEqual(['SPAWN', 'initialize', 'ended 0'])
    for (const agent of [destroyed, plainAgent(none)])
      expect((await replay(tape, agent)).problems.map(({ code }) => code)).toEqual([])
  })

  test('and its own time limit are compared: another limit is not proven', async () => {
    const limited = (timeout: number) => plainAgent((child) => child.kill(), { timeout })
    const tape = await record(limited(60_000))
    await expectSame(tape, limited(60_000))
    const result = await replay(tape, limited(90_000))
    expect([verdictOf(result).verdict, result.drift.map(({ part, recorded, live }) => [part, recorded, live])]).toEqual(
      ['unproven', [['time limit of process node stdio.ts', '60000 ms', '90000 ms']]],
    )
  })

  test('when it has ended already is not at work: a second signal is none', async () => {
    const agent = plainAgent(async (child) => {
      child.kill()
      await once(child, 'exit')
      await sleep(5)
      return child.kill('SIGKILL')
    })
    const tape = await record(agent)
    expect(wayOf(tape)).toEqual(['SPAWN', 'initialize', 'KILL SIGTERM', 'ended SIGTERM'])
    await expectSame(tape, agent)
  })
})
