import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { beforeAll, describe, expect, test } from 'vitest'
import type { ReplayOptions } from '../../src/match/types.ts'
import { createRecorder, tool } from '../../src/record/index.ts'
import { installReplay, type ReplayResult, replayTape, verdictOf } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { served } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const dir = temporaryFolder('children-awaited')
const mcpServer = new URL('../../fixtures/mcp/stdio.ts', import.meta.url).pathname
const child = join(dir, 'child.mjs')
const base = served(createServer((_, response) => void setTimeout(() => response.end('{}'), 200)))

beforeAll(async () => {
  writeFileSync(
    child,
    `import { createInterface } from 'node:readline'
for await (const line of createInterface({ input: process.stdin })) {
  const { id } = JSON.parse(line)
  console.log(JSON.stringify({ id, done: true }))
}`,
  )
  await installReplay()
})

let count = 0
async function record(agent: () => Promise<unknown>): Promise<Tape> {
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'desk', id: `run-${++count}` }, agent).catch(() => undefined)
  recorder.flush()
  return readTape(join(dir, `run-${count}.tape.jsonl`))
}

const exact = { strict: true } as ReplayOptions

async function expectSame(tape: Tape, agent: () => Promise<unknown>, options?: ReplayOptions): Promise<void> {
  const { problems, drift } = await replayTape(tape, agent, options)
  expect([problems.map(({ message }) => message), drift]).toEqual([[], []])
}

async function expectRed(tape: Tape, agent: () => Promise<unknown>, options?: ReplayOptions): Promise<ReplayResult> {
  const run = await replayTape(tape, agent, options)
  expect(run.problems.map(({ code }) => code)).toEqual(['HARVEST_NOT_AWAITED'])
  expect(verdictOf(run).verdict).toBe('different')
  return run
}

interface Started {
  readonly process: ChildProcess
  readonly exit: Promise<unknown[]>
  readonly say: (id: number) => void
  readonly hear: () => Promise<unknown>
  readonly ask: (id: number) => Promise<unknown>
}

function start(): Started {
  const started = spawn(process.execPath, [child], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: started.stdout })[Symbol.asyncIterator]()
  const say = (id: number): void => void started.stdin.write(`${JSON.stringify({ id })}\n`)
  const hear = async (): Promise<unknown> => JSON.parse(String((await lines.next()).value))
  return {
    process: started,
    exit: once(started, 'exit'),
    say,
    hear,
    ask: (id) => {
      say(id)
      return hear()
    },
  }
}

type Manner = 'waits for the exit' | 'checks the exit in finally' | 'ends it and returns' | 'waits for a file'

function mustBeSound([code]: unknown[]): void {
  if (code !== 0) throw new Error('apply failed')
}

const agent = (manner: Manner) => async (): Promise<unknown> => {
  const { process: started, exit, ask } = start()
  await ask(1)
  try {
    return await ask(2)
  } finally {
    started.stdin!.end()
    if (manner === 'waits for the exit') await exit
    if (manner === 'checks the exit in finally') mustBeSound(await exit)
    if (manner === 'waits for a file') await stat('.')
  }
}

describe('an agent that no longer waits for the end of its child', () => {
  test.for(['waits for the exit', 'checks the exit in finally'] as const)(
    'is red where the recorded one %s, also compared to the byte',
    async (manner) => {
      const tape = await record(agent(manner))
      for (const options of [{}, exact]) {
        await expectSame(tape, agent(manner), options)
        await expectRed(tape, agent('ends it and returns'), options)
      }
    },
  )

  test('is told with its step, the command and what it did not wait for', async () => {
    const tape = await record(agent('waits for the exit'))
    const { problems } = await expectRed(tape, agent('ends it and returns'))
    const run = `run-${count}`
    expect(problems[0]?.message).toBe(
      `The agent returned without waiting for a child process

  tape         ${run}
  child        node child.mjs
  after        step 3, end of input of stdio:node child.mjs
  not awaited  the end of its output, its exit with 0

The recorded run went on until this came; now its errors go unseen.
→ wait for the answer or the exit of the child, or put \`await\` before the call that closes it
→ to see the recorded step: npx vitest-harvest show ${run} --step 3
→ if the new behaviour is right: record the run again and promote the new tape
(HARVEST_NOT_AWAITED)`,
    )
  })

  test('is green where the recorded one did not wait either', async () => {
    const tape = await record(agent('ends it and returns'))
    await expectSame(tape, agent('ends it and returns'), exact)
  })

  test('is listed where it waits for what no tape sees instead', async () => {
    const tape = await record(agent('waits for the exit'))
    const { problems, drift } = await replayTape(tape, agent('waits for a file'))
    expect(problems).toEqual([])
    expect(drift).toMatchObject([{ class: 'awaits', live: 'not awaited', stepNumber: 3 }])
  })

  test('is red as well where it throws as recorded', async () => {
    const failing = (manner: Manner) => async (): Promise<never> => {
      await agent(manner)()
      throw new Error('no refund')
    }
    const tape = await record(failing('waits for the exit'))
    await expectSame(tape, failing('waits for the exit'), exact)
    const { problems } = await expectRed(tape, failing('ends it and returns'))
    expect(problems[0]?.message).toContain('The agent threw without waiting for a child process')
  })

  test('is green when its end came while it waited for something else', async () => {
    const busy = (isAtOnce: boolean) => async (): Promise<unknown> => {
      const { process: started, exit, ask } = start()
      await ask(1)
      started.stdin!.end()
      const asked = fetch(base(), { method: 'POST' }).then((answer) => answer.json())
      if (isAtOnce) return (await Promise.all([asked, exit]))[0]
      return asked
    }
    const tape = await record(busy(false))
    expect(tape.events).toContainEqual(expect.objectContaining({ kind: 'push', frame: 'close' }))
    await expectSame(tape, busy(false), exact)
    await expectSame(tape, busy(true), exact)
    await expectSame(await record(busy(true)), busy(false))
  })

  test('is told as one that leaves out a step where it does not end it at all', async () => {
    const tape = await record(agent('waits for the exit'))
    const { problems } = await replayTape(tape, async () => {
      const { ask } = start()
      await ask(1)
      return ask(2)
    })
    expect(problems.map(({ code }) => code)).toEqual(['HARVEST_UNUSED'])
  })
})

describe('an agent that no longer reads the answer of its child', () => {
  const reading = (isRead: boolean, isAwaited: boolean) => async (): Promise<unknown> => {
    const { process: started, exit, say, hear, ask } = start()
    await ask(1)
    say(2)
    if (isRead) await hear()
    started.stdin!.end()
    if (isAwaited) await exit
    return true
  }

  test('is red when it ends the input at once, whether it waits for the exit or not', async () => {
    const tape = await record(reading(true, true))
    await expectSame(tape, reading(true, true), exact)
    for (const options of [{}, exact]) {
      const { problems } = await replayTape(tape, reading(false, true), options)
      expect(problems[0]?.message).toContain('The agent made step 3, end of input')
      expect(problems.map(({ code }) => code)).toEqual(['HARVEST_ORDER'])
    }
    expect(verdictOf(await replayTape(tape, reading(false, false))).verdict).toBe('different')
  })

  test('is red when it returns at once', async () => {
    const last = (isRead: boolean) => async (): Promise<unknown> => {
      const { say, hear, ask } = start()
      await ask(1)
      say(2)
      if (isRead) await hear()
      return true
    }
    const tape = await record(last(true))
    await expectSame(tape, last(true), exact)
    const { problems } = await expectRed(tape, last(false))
    expect(problems[0]?.facts.where).toMatchObject({ 'not awaited': expect.stringContaining('its line {"id":2') })
    await expectSame(await record(last(false)), last(false), exact)
  })

  test('is green when it did not read it when recorded either', async () => {
    await expectSame(await record(reading(false, true)), reading(false, true), exact)
  })
})

describe('a client of an MCP server over stdio', () => {
  const client = (isAwaited: boolean) => async (): Promise<unknown> => {
    const mcp = new Client({ name: 'desk', version: '1.0.0' })
    await mcp.connect(new StdioClientTransport({ command: process.execPath, args: [mcpServer], stderr: 'ignore' }))
    try {
      return (await mcp.listTools()).tools.length
    } finally {
      if (isAwaited) await mcp.close()
      else void mcp.close()
    }
  }

  test('that closes it without waiting is red where the recorded one waited', async () => {
    const tape = await record(client(true))
    await expectSame(tape, client(true), exact)
    for (const options of [{}, exact]) await expectRed(tape, client(false), options)
    await expectSame(await record(client(false)), client(false), exact)
  })
})

describe('the code of a tool, run beside its recording, that no longer waits for its child', () => {
  const apply = (isAwaited: boolean) => () =>
    tool('apply', async () => {
      const { process: started, exit, ask } = start()
      const done = await ask(1)
      started.stdin!.end()
      if (isAwaited) await exit
      return done
    })()
  const run = { tools: { run: ['apply'] } } as ReplayOptions

  test('is red, and names the tool', async () => {
    const tape = await record(apply(true))
    await expectSame(tape, apply(true))
    await expectSame(tape, apply(true), run)
    const { problems } = await expectRed(tape, apply(false), run)
    expect(problems[0]?.message).toContain('The code of apply ended without waiting for a child process')
    await expectSame(await record(apply(false)), apply(false), run)
  })
})

describe('an agent that ends its child in another way than when recorded', () => {
  const ending = (end: (one: Started) => unknown) => async (): Promise<unknown> => {
    const one = start()
    await one.ask(1)
    await end(one)
    return true
  }
  const byInput = ending(({ process: started, exit }) => (started.stdin!.end(), exit))
  const bySignal = ending(({ process: started, exit }) => (started.kill(), exit))
  const not = ending(() => undefined)
  const firstLines = (run: ReplayResult): string => run.problems[0]?.message.split('\n\n').slice(0, 2).join('\n') ?? ''

  test('is told by both ways, with no step that has nothing to do with it', async () => {
    const tape = await record(byInput)
    const told = firstLines(await replayTape(tape, bySignal))
    expect(told).toContain('The agent sent SIGTERM to node child.mjs, and ended it in another way when recorded')
    expect(told).toMatch(/ recorded +step 2, end of input of stdio:node child\.mjs/)
    expect(told).not.toMatch(/nearest|step 1, SEND.*\n.*network/)
    expect(firstLines(await replayTape(await record(bySignal), byInput))).toContain(
      'The agent ended the input of node child.mjs, and ended it in another way when recorded',
    )
  })

  test('is told so where it did not end it when recorded', async () => {
    const { problems } = await replayTape(await record(not), bySignal)
    expect(problems[0]?.message).toContain('The agent sent SIGTERM to node child.mjs, and left it alone when recorded')
  })
})
