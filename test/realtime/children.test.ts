import { type ChildProcess, spawn, type SpawnOptionsWithoutStdio } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay, replayTape, verdictOf } from '../../src/replay/index.ts'
import { readTape, socketsFlag, type Tape } from '../../src/tape/index.ts'
import { renderBaseline, traceOf } from '../../src/trace/index.ts'

const dir = mkdtempSync(join(tmpdir(), 'harvest-children-'))
const ran = join(dir, 'ran')

/** Speaks as the command line of Claude Code does to its SDK: control requests both ways, messages, a result. */
const claude = `
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
appendFileSync(${JSON.stringify(ran)}, '.')
const say = (value) => console.log(JSON.stringify(value))
let prompt = ''
for await (const line of createInterface({ input: process.stdin })) {
  const said = JSON.parse(line)
  if (said.type === 'control_request' && said.request.subtype === 'initialize')
    say({ type: 'control_response', response: { subtype: 'success', request_id: said.request_id, response: { commands: [] } } })
  if (said.type === 'control_request' && said.request.subtype === 'interrupt') {
    say({ type: 'result', subtype: 'interrupted' })
    process.exit(3)
  }
  if (said.type === 'user') {
    prompt = said.message.content
    say({ type: 'assistant', message: { content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }] } })
    say({ type: 'control_request', request_id: 'may-1', request: { subtype: 'can_use_tool', tool_name: 'Bash' } })
  }
  if (said.type === 'control_response') {
    say({ type: 'result', subtype: 'success', result: prompt + ': ' + said.response.response.behavior })
    process.exit(0)
  }
}
`

/** Takes a prompt, says its items, and ends, as Codex does. */
const codex = `
import { text } from 'node:stream/consumers'
const prompt = await text(process.stdin)
const say = (value) => console.log(JSON.stringify(value))
say({ type: 'thread.started', thread_id: 't-1' })
say({ type: 'item.completed', item: { id: 'i1', type: 'command_execution', command: 'ls', exit_code: 0, status: 'completed' } })
say({ type: 'item.completed', item: { id: 'i2', type: 'agent_message', text: 'for ' + prompt } })
`

beforeAll(() => {
  writeFileSync(join(dir, 'claude.mjs'), claude)
  writeFileSync(join(dir, 'codex.mjs'), codex)
  writeFileSync(join(dir, 'dates.mjs'), 'console.log("Monday")')
  writeFileSync(join(dir, 'told.mjs'), 'console.log(JSON.stringify({ type: "hello" }))')
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const start = (script: string, options: SpawnOptionsWithoutStdio = {}): ChildProcess =>
  spawn(process.execPath, [join(dir, script)], { ...options, stdio: ['pipe', 'pipe', 'inherit'] })

interface Manners {
  readonly prompt: string
  readonly behavior: string
  readonly interrupts?: boolean
}

async function coder({ prompt, behavior, interrupts = false }: Manners): Promise<unknown> {
  const child = start('claude.mjs')
  const say = (value: unknown): void => void child.stdin!.write(`${JSON.stringify(value)}\n`)
  const ended = once(child, 'exit')
  const id = randomUUID()
  say({ type: 'control_request', request_id: id, request: { subtype: 'initialize' } })
  const heard: unknown[] = []
  for await (const line of createInterface({ input: child.stdout! })) {
    const said = JSON.parse(line) as {
      type: string
      response?: { request_id: string }
      request_id?: string
      result?: string
    }
    heard.push(said.result ?? said.type)
    if (said.type === 'control_response') {
      expect(said.response?.request_id).toBe(id)
      say({ type: 'user', message: { role: 'user', content: prompt } })
    }
    if (said.type === 'control_request' && interrupts)
      say({ type: 'control_request', request_id: 'stop', request: { subtype: 'interrupt' } })
    else if (said.type === 'control_request')
      say({ type: 'control_response', response: { request_id: said.request_id, response: { behavior } } })
  }
  return [...heard, await ended]
}

const usual: Manners = { prompt: 'tidy up', behavior: 'allow' }

async function recorded(id: string, agent: () => Promise<unknown>): Promise<Tape> {
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'coder', id }, agent)
  return readTape(recorder.lastTape!)
}

test.each([
  ['to its end, twice at once', async () => Promise.all([coder(usual), coder({ ...usual, prompt: 'look round' })])],
  ['that is interrupted', () => coder({ ...usual, interrupts: true })],
])(
  'a command-line agent that says lines of JSON is replayed %s without it, with its tool calls in the trace',
  async (name, agent) => {
    const tape = await recorded(name.replaceAll(/\W+/g, '-'), agent)
    expect(tape.close?.unrecorded).toBeUndefined()
    await installReplay()
    rmSync(ran)
    const run = await replayTape(tape, agent)
    expect(run.problems.map(({ message }) => message)).toEqual([])
    expect([run.comparison.outcomeEqual, existsSync(ran)]).toEqual([true, false])
    expect(JSON.stringify(renderBaseline(traceOf(run.events)))).toContain('Bash(command)')
  },
)

test('what is said otherwise to a command-line agent, or left out, is different', async () => {
  const tape = await recorded('changed', () => coder(usual))
  await installReplay()
  for (const changed of [{ prompt: 'tidy down' }, { behavior: 'deny' }]) {
    const run = await replayTape(tape, () => coder({ ...usual, ...changed }))
    expect(verdictOf(run).verdict).toBe('different')
    expect(run.problems[0]?.message).toMatch(/SEND on stdio:node claude\.mjs/)
  }
})

async function runToEnd(script: string, prompt: string, options?: SpawnOptionsWithoutStdio): Promise<unknown> {
  const child = start(script, options)
  child.stdin!.end(prompt)
  let text = ''
  for await (const piece of child.stdout!.setEncoding('utf8')) text += piece as string
  return text
}

test('a command that takes a prompt and says items is replayed, another prompt is different', async () => {
  const tape = await recorded('codex', () => runToEnd('codex.mjs', 'tidy up'))
  await installReplay()
  const run = await replayTape(tape, () => runToEnd('codex.mjs', 'tidy up'))
  expect([run.problems, run.comparison.outcomeEqual]).toEqual([[], true])
  expect(renderBaseline(traceOf(run.events))).toEqual(['command_execution(command)'])
  expect(verdictOf(await replayTape(tape, () => runToEnd('codex.mjs', 'tidy down'))).verdict).toBe('different')
})

test('a child that is started once more, otherwise or not at all is different', async () => {
  const speak = (...args: string[]) => spawn(process.execPath, [join(dir, 'says.mjs'), ...args])
  writeFileSync(join(dir, 'says.mjs'), 'console.log(JSON.stringify({ type: "hello" }))')
  const hear = async (child: ChildProcess): Promise<unknown> => {
    let text = ''
    for await (const piece of child.stdout!.setEncoding('utf8')) text += piece as string
    return text
  }
  const usually = ['--url', 'https://a.example/mcp', `--root=${dir}/work`]
  const tape = await recorded('says', () => hear(speak(...usually)))
  await installReplay()
  const told = async (agent: () => Promise<unknown>) => {
    const { problems } = await replayTape(tape, agent)
    return problems.map(({ code }) => code)
  }
  expect(await told(() => hear(speak(...usually)))).toEqual([])
  // Folders are those of the machine.
  expect(await told(() => hear(speak(...usually.slice(0, 2), '--root=/elsewhere/work')))).toEqual([])
  expect(await told(async () => [speak(...usually), await hear(speak(...usually))][1])).toEqual(['HARVEST_ESCAPE'])
  for (const other of [['--url', 'https://b.example/mcp'], ['--root=/other'], []])
    expect(await told(() => hear(speak(...other)))).toEqual(['HARVEST_ESCAPE'])
  const [other] = (await replayTape(tape, () => hear(speak('--url', 'https://b.example/mcp')))).problems
  expect(other?.message).toMatch(
    /started differently .*b\.example[^]*recorded +\S+ \S*says\.mjs --url https:\/\/a\.example/,
  )
  expect(await told(async () => Promise.resolve('{"type":"hello"}\n'))).toEqual(['HARVEST_UNUSED'])
})

test('a child that says anything else is an escape at once, with its name and what to write', async () => {
  const tape = await recorded('dates', () => runToEnd('dates.mjs', ''))
  expect(tape.close?.unrecorded).toEqual([expect.stringContaining('dates.mjs')])
  await installReplay()
  const { problems, escapes, outcome } = await replayTape(tape, () => runToEnd('dates.mjs', ''))
  expect(problems.map(({ code }) => code)).toEqual(['HARVEST_ESCAPE'])
  expect(problems[0]?.message).toMatch(/dates\.mjs[^]*wrap the function that starts it in tool\(\) or value\(\)/)
  expect([escapes.length, outcome.status]).toEqual([1, 'threw'])
})

test('a child in another folder, or with another variable, is another one to ask, and so unproven', async () => {
  const usual = { env: { ...process.env, TENANT: 't-1', PATH: `./bin:${process.env['PATH']}` } }
  const hear = (options: SpawnOptionsWithoutStdio) => () => runToEnd('told.mjs', '', options)
  const tape = await recorded('told', hear(usual))
  const [started] = tape.events.filter(({ kind }) => kind === 'spawn')
  expect(started).toMatchObject({ cwd: '.', env: { TENANT: 't-1', PATH: './bin:$PATH' } })
  await installReplay()
  const told = async (options: SpawnOptionsWithoutStdio) => {
    const { verdict, unproven, differences } = verdictOf(await replayTape(tape, hear(options)))
    expect(differences).toEqual([])
    return [verdict, ...unproven.map(({ part, words }) => `${part}: ${words}`)]
  }
  const of = 'of process node told.mjs'
  expect(await told(usual)).toEqual(['same'])
  // What the machine has under another name, and what it has otherwise: that may have been so when recorded.
  const { PATH } = process.env
  expect(await told({ env: { ...usual.env, SEARCH: PATH, HOME: '/elsewhere' } })).toEqual(['same'])
  expect(await told({ env: { ...usual.env, TENANT: 't-2' } })).toEqual([
    'unproven',
    `variable TENANT ${of}: [-t-1-] {+t-2+}`,
  ])
  expect(await told({ env: { ...usual.env, TENANT: undefined, DRY: '1' } })).toEqual([
    'unproven',
    `variable TENANT ${of}: [-t-1-] {+(absent)+}`,
    `variable DRY ${of}: [-(absent)-] {+1+}`,
  ])
  expect(await told({ ...usual, cwd: 'test' })).toEqual(['unproven', `folder ${of}: [-.-] {+test+}`])
  expect(await told({ ...usual, cwd: tmpdir() })).toEqual(['unproven', `folder ${of}: [-.-] {+(elsewhere)+}`])
})

/** As an older recorder would have written it. */
const older = (tape: Tape): Tape => {
  const events = tape.events.filter((event) => event.kind !== 'exchange' || event.method !== 'END')
  const flags = tape.header.flags.filter((flag) => flag !== socketsFlag && flag !== 'ends-1')
  return { ...tape, events, header: { ...tape.header, flags } }
}

test('a child whose input is no longer ended, or is ended now, is different', async () => {
  const talk =
    (ends: boolean, waits = true) =>
    async () => {
      const child = start('echo.mjs')
      child.stdin!.write('{"q":1}\n')
      const [said] = (await once(child.stdout!, 'data')) as [Buffer]
      if (ends) child.stdin!.end()
      if (waits) await once(child, 'exit')
      return JSON.parse(String(said)) as unknown
    }
  writeFileSync(
    join(dir, 'echo.mjs'),
    'process.stdin.on("data", () => console.log("{}")).on("end", () => process.exit(3)); setTimeout(() => process.exit(3), 300)',
  )
  const told = async (tape: Tape, agent: () => Promise<unknown>) => {
    const result = await replayTape(tape, agent)
    return [verdictOf(result).verdict, ...result.problems.map(({ code }) => code)]
  }
  const [ended, open] = [await recorded('ended', talk(true)), await recorded('open', talk(false))]
  await installReplay()
  expect(await told(ended, talk(true))).toEqual(['same'])
  expect(await told(open, talk(false))).toEqual(['same'])
  expect(await told(ended, talk(false))).toEqual(['different', 'HARVEST_UNUSED'])
  expect(await told(ended, talk(false, false))).toEqual(['different', 'HARVEST_UNUSED'])
  expect(await told(open, talk(true))).toEqual(['different', 'HARVEST_DIVERGENCE'])
  for (const ends of [true, false]) expect(await told(older(ended), talk(ends))).toEqual(['same'])
})

test('a child that runs as another user, or as another program under its name, is unproven', async () => {
  const own = process.getuid!()
  const run = (options: SpawnOptionsWithoutStdio) => () => runToEnd('told.mjs', '', options)
  const tape = await recorded('as-whom', run({ argv0: 'node', uid: own }))
  await installReplay()
  const told = async (options: SpawnOptionsWithoutStdio, recordedRun = tape) => {
    const { verdict, unproven } = verdictOf(await replayTape(recordedRun, run(options)))
    return [verdict, ...unproven.map(({ part, words }) => `${part}: ${words}`)]
  }
  const of = 'of process node told.mjs'
  expect(await told({ argv0: 'node', uid: own })).toEqual(['same'])
  expect(await told({ argv0: 'node' })).toEqual(['same'])
  const free = { detached: true, killSignal: 'SIGINT', signal: new AbortController().signal } as const
  expect(await told({ argv0: 'node', uid: own, ...free })).toEqual(['same'])
  expect(await told({ argv0: 'node', uid: 65_533 })).toEqual(['unproven', expect.stringContaining(`user ${of}: `)])
  expect(await told({ argv0: 'node', gid: 65_533 })).toEqual(['unproven', expect.stringContaining(`group ${of}: `)])
  const other = await replayTape(tape, async () => {
    const child = spawn('/opt/other', [join(dir, 'told.mjs')], { argv0: 'node', uid: own })
    child.stdin.end('')
    let text = ''
    for await (const piece of child.stdout.setEncoding('utf8')) text += piece as string
    return text
  })
  expect(verdictOf(other).unproven.map(({ part }) => part)).toEqual([`program ${of}`])
  expect(await told({ argv0: 'node', uid: 65_533 }, older(tape))).toEqual(['same'])
})
