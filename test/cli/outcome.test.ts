import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { parseCase } from '../../src/cases/index.ts'
import { createRecorder } from '../../src/record/index.ts'
import { readTape, serializeTape, type TapeClose } from '../../src/tape/index.ts'
import { answered, asked, url } from '../importers/samples.ts'
import { deskAgent as refundDesk, deskProject, openDesk, usual } from './desk.ts'
import { warmHarvest as harvest, warmRun as run } from './harvest.ts'
import { ask } from './in-process.ts'
import { printed } from './printed.ts'
import { configFor, project } from './project.ts'
import { hasTerminal, onTerminal } from './terminal.ts'

const notCompared = 'outcome: not compared (the import did not see it)'

const json = [{ name: 'Content-Type', value: 'application/json' }]
const content = { mimeType: 'application/json', text: answered }
const cassette = JSON.stringify({
  log: {
    version: '1.2',
    entries: [
      {
        startedDateTime: '2026-03-04T05:06:07.089Z',
        time: 820,
        request: { method: 'POST', url, headers: json, postData: { mimeType: 'application/json', text: asked } },
        response: { status: 200, statusText: 'OK', headers: json, content },
      },
    ],
  },
})

/** Asks as the recording does, and returns which tools the model wants. `DESK` changes how it ends. */
const deskAgent = `import OpenAI from 'openai'
export async function desk() {
  const client = new OpenAI({ apiKey: 'invented', maxRetries: 0 })
  const { choices } = await client.chat.completions.create({
    model: 'gpt-5', messages: [{ role: 'user', content: 'Look up A-17.' }],
  })
  if (process.env.DESK === 'throws') throw new TypeError('no stock')
  return { wants: (choices[0].message.tool_calls ?? []).map((call) => call.function.name) }
}
`

/** What a proxy saw of the desk's agent: its models' answers, and not how the run ended. */
async function harOfDesk(address: string): Promise<string> {
  const messages: object[] = [
    { role: 'system', content: 'Look it up first.' },
    { role: 'user', content: 'Refund A-100.' },
  ]
  const entries: object[] = []
  for (;;) {
    const request = { method: 'POST', url: `${address}/v1/chat/completions`, headers: json }
    const body = JSON.stringify({ model: 'gpt-4o', messages })
    const response = await fetch(request.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const text = await response.text()
    entries.push({
      startedDateTime: `2026-03-04T05:06:0${entries.length}.000Z`,
      time: 20,
      request: { ...request, postData: { mimeType: 'application/json', text: body } },
      response: { status: 200, statusText: 'OK', headers: json, content: { mimeType: 'application/json', text } },
    })
    const { message } = (JSON.parse(text) as { choices: [{ message: Asked }] }).choices[0]
    const [call] = message.tool_calls ?? []
    if (call === undefined) return JSON.stringify({ log: { version: '1.2', entries } })
    const { order_id, amount } = JSON.parse(call.function.arguments) as { order_id: string; amount?: number }
    const result = call.function.name === 'refund' ? { order_id, refunded: amount } : { order_id, total: 25 }
    messages.push(message, { role: 'tool', tool_call_id: call.id, content: JSON.stringify(result) })
  }
}

interface Asked {
  readonly tool_calls?: readonly { readonly id: string; readonly function: { name: string; arguments: string } }[]
}

/** A project whose inbox holds the import of a cassette. */
async function imported(har = cassette): Promise<string> {
  const cwd = project({
    'vitest.config.ts': configFor({ desk: './src/desk.ts#desk' }),
    'src/desk.ts': deskAgent,
    'src/oracle.ts': 'export const isRight = ({ value }) => value?.wants.length === 1\n',
    'cassettes/desk.har': har,
  })
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  const args = ['import', join(cwd, 'cassettes/desk.har'), '--as', 'desk', '--agent', 'desk', '--input', '{}']
  expect((await ask(...args, '--dir', join(cwd, 'recordings'))).code).toBe(0)
  return cwd
}

const tapeIn = (cwd: string): string => join(cwd, 'recordings/inbox/desk.tape.jsonl')
const caseIn = (cwd: string, id: string): string => join(cwd, `recordings/golden/${id}.case.yaml`)

/** Runs the golden set as a user does. */
const test = (cwd: string, env: Record<string, string> = {}) =>
  run(process.execPath, [resolve('node_modules/vitest/vitest.mjs'), 'run'], { cwd, env: { CI: '1', ...env } })

describe('an import whose file does not state how the run ended', () => {
  it('has an unknown outcome, on a closing line that older versions read as they read every import', async () => {
    const cwd = await imported()
    expect(readTape(tapeIn(cwd)).close?.outcome).toEqual({ status: 'unknown' })
    const last = readFileSync(tapeIn(cwd), 'utf8').trimEnd().split('\n').at(-1) ?? ''
    expect(JSON.parse(last)).toMatchObject({ kind: 'close', outcome: { status: 'returned', unknown: true } })
  })

  it('has an unknown outcome when an older version imported it', async () => {
    const cwd = await imported()
    const { header, events, close } = readTape(tapeIn(cwd))
    const older: TapeClose['outcome'] = { status: 'returned' }
    writeFileSync(tapeIn(cwd), serializeTape(header, events, { ...(close as TapeClose), outcome: older }))
    expect(readTape(tapeIn(cwd)).close?.outcome).toEqual({ status: 'unknown' })
    expect((await ask('ls', '--dir', join(cwd, 'recordings'))).out).toContain('unknown')
  })

  it('is shown as unknown by show, ls, diff and export, and in their --json', async () => {
    const cwd = await imported()
    const [tape, dir] = [tapeIn(cwd), ['--dir', join(cwd, 'recordings')]]
    expect((await ask('show', tape)).out).toContain('unknown: the import did not see how the run ended')
    expect((await ask('show', tape, '--json')).out).toContain('"outcome":{"status":"unknown"}')
    expect((await ask('ls', ...dir)).out).toMatch(/desk .*unknown/)
    expect(JSON.parse((await ask('ls', ...dir, '--outcome', 'unknown', '--json')).out)).toMatchObject({
      tapes: [{ id: 'desk', outcome: 'unknown' }],
    })
    expect((await ask('ls', ...dir, '--outcome', 'returned')).out).not.toContain('desk')
    const diff = await ask('diff', tape, tape)
    expect(diff.out).toContain('outcome  not compared (the import did not see it)')
    expect(JSON.parse((await ask('diff', tape, tape, '--json')).out)).toMatchObject({ outcome: { same: null } })
    const trace = await ask('export', tape, '--format', 'json', '--out', join(cwd, 'trace.json'))
    expect(trace.notes + trace.out).toContain('the outcome is unknown: the import did not see how the run ended')
    expect(JSON.parse(readFileSync(join(cwd, 'trace.json'), 'utf8'))).toMatchObject({ outcome: { status: 'unknown' } })
    await ask('export', tape, '--format', 'otlp', '--out', join(cwd, 'spans.json'))
    expect(readFileSync(join(cwd, 'spans.json'), 'utf8')).toMatch(
      /"vitest_harvest\.outcome","value":\{"stringValue":"unknown"\}/,
    )
  })

  it('compares no outcome in a replay, and its receipt says so', { tags: 'thorough' }, async () => {
    const cwd = await imported()
    const args = ['replay', tapeIn(cwd), '--agent', './src/desk.ts#desk']
    const { code, stderr } = await harvest(args, { cwd })
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining(notCompared) as string })
    const told = JSON.parse((await harvest([...args, '--json'], { cwd })).stdout) as { comparison: object }
    expect(told).toMatchObject({ comparison: { outcomeEqual: null }, outcomeDiffers: [] })
    const thrown = await harvest(args, { cwd, env: { DESK: 'throws' } })
    expect(thrown.stderr).toContain(`${notCompared}; the agent threw TypeError: no stock`)
    expect(thrown.code).toBe(1)
  })

  it('has to be told to blame what a good run is', async () => {
    const cwd = await imported()
    const { code, stderr } = await harvest(['blame', tapeIn(cwd), '--live', '--cross-version'], { cwd })
    expect(stderr).toContain('HARVEST_ORACLE_MISSING')
    expect(stderr).toContain('unknown (the import did not see it)')
    expect(code).toBe(2)
  })

  it('is graded by the calls it made, as --ok and --bad name them, by fork --critical and blame', {
    tags: 'thorough',
  }, async () => {
    const cwd = await imported()
    const critical = ['fork', tapeIn(cwd), '--critical']
    const { code, stdout, stderr } = await harvest([...critical, '--bad', 'lookup_order(*)'], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('graded by --bad lookup_order(*); the recorded run is bad')
    expect(stdout).toContain('the outcome was not compared (the import did not see it), ok')
    expect(stdout).toContain('critical: 1\n')
    const blamed = ['blame', tapeIn(cwd), '--dry-run', '--cross-version']
    expect(await harvest([...blamed, '--bad', 'lookup_order(*)'], { cwd })).toMatchObject({ code: 0 })
    // What neither fits has no grade, and what to do about that leads on.
    const both = ['--ok', 'lookup_order(order_id: "A-18")', '--bad', 'lookup_order(order_id: "A-19")', '--any-name']
    const unmade = await harvest([...critical, ...both], { cwd })
    expect(unmade).toMatchObject({ code: 2, stderr: expect.stringContaining('HARVEST_ORACLE_UNGRADED') as string })
    const named = await harvest(printed(unmade.stderr, 'if what it did was bad'), { cwd })
    expect(named.stdout).toContain('the recorded run is bad')
  })

  it("is graded alike by blame and fork, as today's code ends it, and what blame prints behind its verdict makes a case", {
    tags: 'thorough',
  }, async () => {
    const desk = await openDesk((messages) =>
      messages.filter(({ role }) => role === 'tool').length === 1
        ? { tool: 'refund', args: { order_id: 'A-100', amount: 2500 } }
        : usual(messages),
    )
    const cwd = deskProject()
    onTestFinished(async () => {
      rmSync(cwd, { recursive: true, force: true })
      await desk.close()
    })
    writeFileSync(join(cwd, 'desk.har'), await harOfDesk(desk.url))
    // Its tools are not on the tape: they are functions of the agent.
    const own = refundDesk.replace(/^import .*$/m, 'const tools = <T>(own: T): T => own')
    writeFileSync(join(cwd, 'src/desk.ts'), own)
    const env = { DESK_URL: desk.url }
    const here = (...args: string[]) => harvest(args, { cwd, env })
    const input = JSON.stringify({ text: 'Refund A-100.' })
    expect((await here('import', 'desk.har', '--as', 'desk', '--agent', 'desk', '--input', input)).code).toBe(0)
    const asked = ['--ok', 'refund(amount: 25)', '--cross-version']
    const critical = await here('fork', 'desk', '--critical', ...asked)
    expect(critical).toMatchObject({ code: 0, stderr: '' })
    expect(critical.stdout).toContain('graded by --ok refund(amount: 25); the recorded run is bad')
    desk.decide = usual
    const forked = await here('fork', 'desk', '--step', '2', '--live', '--runs', '3', ...asked)
    expect(forked.stdout).toContain('graded by --ok refund(amount: 25): 3 ok; the recorded run is bad')
    const blamed = await here('blame', 'desk', ...asked, '--live', '--max-runs', '60')
    expect(blamed.stdout).toContain('graded by --ok refund(amount: 25); the recorded run: bad')
    const made = await here(
      ...printed(blamed.stdout, 'to make it a test, before it is fixed', { "'<id>'": 'of-import' }),
    )
    expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('the known bad run, reproduced') as string })
    expect(parseCase(readFileSync(caseIn(cwd, 'of-import'), 'utf8'), 'of-import')).toMatchObject({
      expect: 'fail',
      ok: ['refund(amount: 25)'],
    })
  })

  it('is not promoted in a pipe until a flag says what to check', async () => {
    const cwd = await imported()
    const { code, stderr } = await harvest(['promote', 'desk', '--as', 'desk-a17'], { cwd })
    expect(stderr.replaceAll(cwd, '.')).toMatchInlineSnapshot(`
      "Cannot promote a tape with an unknown outcome: name the right one

        tape      ./recordings/inbox/desk.tape.jsonl
        imported  har
        outcome   unknown (the import did not see it)

      The recording does not state how its run ended, and a case never checks a guess.
      → to check the recorded tool calls alone: npx vitest-harvest promote desk --as desk-a17 --baseline
      → to name the function that grades runs: npx vitest-harvest promote desk --as desk-a17 --oracle ./src/oracle.ts#isRight
      → to state what the agent returns: npx vitest-harvest promote desk --as desk-a17 --outcome '{"refunded":25}'
      (HARVEST_PROMOTE_OUTCOME)
      "
    `)
    expect(code).toBe(2)
    expect(existsSync(join(cwd, 'recordings/golden'))).toBe(false)
  })

  it('is promoted with its tool calls alone by --baseline: the case says nothing of the outcome, and a throw is red', {
    tags: 'thorough',
  }, async () => {
    const cwd = await imported()
    const { stdout, stderr } = await harvest(['promote', 'desk', '--as', 'desk-a17', '--baseline'], { cwd })
    expect(stderr).toBe('')
    expect(stdout).toContain(notCompared)
    const kase = parseCase(readFileSync(caseIn(cwd, 'desk-a17'), 'utf8'), 'desk-a17')
    expect(kase).toMatchObject({ baseline: ['lookup_order(order_id)'] })
    expect(kase).not.toHaveProperty('outcome')
    expect((await test(cwd)).code).toBe(0)
    const thrown = await test(cwd, { DESK: 'throws' })
    expect(thrown.stdout + thrown.stderr).toContain('The agent threw, and its case expects a return value')
    expect(thrown.code).toBe(1)
  })

  it('that states no order of its two calls is a case whose every summary says that their order was not compared', {
    tags: 'thorough',
  }, async () => {
    const { log } = JSON.parse(cassette) as { log: { version: string; entries: readonly object[] } }
    const [entry = {}] = log.entries
    const untimed = { ...entry, startedDateTime: undefined, time: undefined }
    const cwd = await imported(JSON.stringify({ log: { ...log, entries: [untimed, untimed] } }))
    const agent = deskAgent.replace('export async function desk() {', 'async function once() {')
    writeFileSync(join(cwd, 'src/desk.ts'), `${agent}export const desk = async () => (await once(), once())\n`)
    const { stdout, stderr } = await harvest(['promote', 'desk', '--as', 'desk-a17', '--baseline'], { cwd })
    expect(`${stderr}${stdout}`).toContain('not compared: 1 order of steps\n')
    const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: join(cwd, 'steps.md') }
    writeFileSync(env.GITHUB_STEP_SUMMARY, '')
    const words = ['run', '--reporter=default', '--reporter=json', '--outputFile.json=report.json']
    const program = resolve('node_modules/vitest/vitest.mjs')
    const green = await run(process.execPath, [program, ...words], { cwd, env: { CI: '1', ...env } })
    const line = 'not compared: order of steps 1 (golden/desk-a17: imported from har)'
    expect([green.code, green.stdout]).toEqual([0, expect.stringContaining(`Order  ${line}`)])
    expect(readFileSync(env.GITHUB_STEP_SUMMARY, 'utf8')).toContain(line)
    expect(readFileSync(join(cwd, 'report.json'), 'utf8')).toContain('"notCompared":{"order of steps":1}')
  })

  it('is replayed with the agent of its case, which may be another than that of its tape', {
    tags: 'thorough',
  }, async () => {
    const cwd = await imported()
    expect((await harvest(['promote', 'desk', '--as', 'desk-a17', '--baseline'], { cwd })).code).toBe(0)
    const clerk = { desk: './src/desk.ts#desk', clerk: './src/clerk.ts#clerk' }
    writeFileSync(join(cwd, 'vitest.config.ts'), configFor(clerk))
    writeFileSync(join(cwd, 'src/clerk.ts'), "export const clerk = async () => ({ wants: ['lookup_order'] })\n")
    expect((await harvest(['replay', 'desk-a17'], { cwd })).code).toBe(0)
    const file = caseIn(cwd, 'desk-a17')
    writeFileSync(file, readFileSync(file, 'utf8').replace('agent: desk', 'agent: clerk'))
    const { code, stderr } = await harvest(['replay', 'desk-a17'], { cwd })
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('HARVEST_UNUSED') as string })
    expect((await harvest(['replay', 'desk-a17', '--agent', 'desk'], { cwd })).code).toBe(0)
  })

  it('is promoted with what a person says: an oracle, or an outcome that is checked from then on', {
    tags: 'thorough',
  }, async () => {
    const cwd = await imported()
    const promote = (...args: string[]) => harvest(['promote', 'desk', ...args], { cwd })
    expect((await promote('--as', 'graded', '--oracle', './src/oracle.ts#isRight')).code).toBe(0)
    expect(readFileSync(caseIn(cwd, 'graded'), 'utf8')).toContain('oracle: ./src/oracle.ts#isRight')
    const other = await promote('--as', 'told', '--outcome', '{"wants":["refund"]}')
    expect(other.stderr).toContain('The return value of the agent differs from the outcome of this case')
    expect(other.code).toBe(1)
    expect((await promote('--as', 'told', '--outcome', '{"wants":["lookup_order"]}')).code).toBe(0)
    expect(parseCase(readFileSync(caseIn(cwd, 'told'), 'utf8'), 'told').outcome).toEqual({ wants: ['lookup_order'] })
    expect((await promote('--as', 'bad', '--outcome', '{wants}')).stderr).toContain('Invalid --outcome: expected JSON')
  })

  it.skipIf(!hasTerminal).each([
    ['Enter', '', undefined],
    ['an oracle', './src/oracle.ts#isRight', './src/oracle.ts#isRight'],
  ])('is asked about on a terminal: %s', { tags: 'thorough' }, async (_, answer, oracle) => {
    const cwd = await imported()
    const args = ['promote', 'desk', '--as', 'desk-a17']
    const { code, output } = await onTerminal(args, { cwd, answer, prompt: 'Oracle (' })
    expect(output).toContain('The import did not see how this run ended: its outcome is unknown.')
    expect(code).toBe(0)
    expect(parseCase(readFileSync(caseIn(cwd, 'desk-a17'), 'utf8'), 'desk-a17').oracle).toBe(oracle)
  })
})

/** An agent of the real SDK whose key is refused: it rightly throws. `DENIED` makes it do something else about that. */
const deniedAgent = `import OpenAI from 'openai'
export async function desk({ baseURL }) {
  const client = new OpenAI({ apiKey: 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH', baseURL, maxRetries: 0 })
  try {
    return await client.chat.completions.create({ model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] })
  } catch (error) {
    if (process.env.DENIED === 'returns') return 'sorry'
    if (process.env.DENIED === 'throws else') throw new TypeError('no answer')
    throw error
  }
}
`

describe('a recorded 401 whose agent rightly throws', () => {
  let cwd = ''
  beforeAll(async () => {
    cwd = project({ 'vitest.config.ts': configFor({ desk: './src/desk.ts#desk' }), 'src/desk.ts': deniedAgent })
    mkdirSync(join(cwd, 'recordings/inbox'), { recursive: true })
    const message = 'Incorrect API key provided: sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH.'
    const body = JSON.stringify({
      error: { message, type: 'invalid_request_error', param: null, code: 'invalid_api_key' },
    })
    const server = createServer((request, response) => {
      const headers = { 'content-type': 'application/json', 'x-request-id': 'req_invented' }
      request.resume().on('end', () => response.writeHead(401, headers).end(body))
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const input = { baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
    const recorder = createRecorder({ dir: join(cwd, 'recordings/inbox') })
    const client = new OpenAI({
      apiKey: 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH',
      ...input,
      maxRetries: 0,
    })
    const agent = () => client.chat.completions.create({ model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] })
    await expect(recorder.run({ agent: 'desk', id: 'denied', input }, agent)).rejects.toThrow('401')
    server.close()
  })
  afterAll(() => rmSync(cwd, { recursive: true, force: true }))

  it('becomes a case that holds the shape of the error', async () => {
    const { code, stderr } = await harvest(['promote', 'denied', '--as', 'denied'], { cwd })
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(parseCase(readFileSync(caseIn(cwd, 'denied'), 'utf8'), 'denied').outcome).toEqual({
      $threw: {
        name: 'AuthenticationError',
        message: '401 Incorrect API key provided: redacted-openai-key-1.',
        code: 'invalid_api_key',
        status: 401,
      },
    })
  })

  it.each([
    ['green while the agent throws it', '', 0, 'passed'],
    ['red when the agent returns instead', 'returns', 1, 'The agent returned, but threw when recorded'],
    [
      'red when it throws something else',
      'throws else',
      1,
      'The error of the agent differs from the outcome of this case',
    ],
  ])('is %s', { tags: 'thorough' }, async (_, DENIED, code, text) => {
    const ended = await test(cwd, { DENIED })
    expect(ended.stdout + ended.stderr).toContain(text)
    expect(ended.code).toBe(code)
  })
})
