import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { DebugClient } from '@vscode/debugadapter-testsupport'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRecorder, tool } from '../../src/record/index.ts'
import type { HarvestError } from '../../src/errors/index.ts'
import { readTape } from '../../src/tape/index.ts'
import { SessionBudget } from '../../src/cli/debug/budget.ts'
import { DapReader, framed } from '../../src/cli/debug/dap-stream.ts'
import { built } from '../support/built.ts'
import { parse } from '../../src/cli/parse.ts'
import { specs } from '../../src/cli/spec/index.ts'
import { run } from '../cli/harvest.ts'

let dir: string
let tape: string
const agent = 'fixtures/debug/refund-agent.ts#refundAgent'

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'harvest-debug-servers-'))
  const { code, stderr } = await run(process.execPath, [resolve('fixtures/debug/record-refund.ts'), dir, 'refund-100x'])
  if (code !== 0) throw new Error(stderr)
  tape = join(dir, 'refund-100x.tape.jsonl')
})

afterAll(() => rmSync(dir, { recursive: true, force: true }))

describe('a coding agent, over the client of the MCP SDK', () => {
  let client: Client
  beforeAll(async () => {
    client = new Client({ name: 'test', version: '1' })
    const args = [built('cli/main.js'), 'debug', '--mcp']
    await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }))
  })
  afterAll(() => client.close())

  async function call(name: string, given: Record<string, unknown>): Promise<{ text: string; isError: boolean }> {
    const { content, isError = false } = await client.callTool({ name, arguments: given })
    const [{ text = '' } = {}] = content as { text?: string }[]
    return { text, isError: isError === true }
  }

  it('finds six tools, of which one may cost', async () => {
    const { tools } = await client.listTools()
    expect(tools.map(({ name, annotations }) => `${name} ${annotations?.readOnlyHint}`)).toEqual([
      'open_tape true',
      'find true',
      'inspect true',
      'diff true',
      'stop_in_code true',
      'what_if false',
    ])
  })

  it('asks for a tape before anything else', async () => {
    const { text, isError } = await call('find', { rule: 'refund()' })
    expect(isError).toBe(true)
    expect(text).toBe('no tape is open\n→ call open_tape first')
  })

  it('opens a tape, finds the step, sees what the model saw, and stops in the code there', async () => {
    const opened = await call('open_tape', { tape, agent })
    expect(opened.text).toContain('10 steps (5 model, 5 tool)')
    expect((await call('find', { rule: 'refund(amount > 100)' })).text).toContain('1 of 10 steps: 7')
    const seen = await call('inspect', { step: 6, part: 'context' })
    expect(seen.text).toContain('the model saw 7 messages')
    expect(seen.text).toContain('as step 5 answered')
    expect((await call('diff', { from: 4, to: 6 })).text).toContain('5 messages the same, 0 gone, 2 new')
    const { text } = await call('stop_in_code', { step: 6, evaluate: ['messages.length', 'messages.push(1)'] })
    expect(text).toContain('in ask, called by refundAgent')
    expect(text).toContain('messages.length = 7')
    expect(text).toMatch(
      /^messages.push\(1\) = that could change something in the agent: only what reads is evaluated$/m,
    )
  })

  it('is sent to the call that prints the recorded clock where an expression would read it', async () => {
    await call('open_tape', { tape, agent })
    const { text } = await call('stop_in_code', { step: 4, evaluate: ['Date.now()'] })
    const [, named = '', given = ''] =
      /^Date\.now\(\) = that would read a recorded clock: (\w+) (\{.*\}) prints it$/m.exec(text) ?? []
    const answered = await call(named, JSON.parse(given) as Record<string, unknown>)
    expect(answered).toMatchObject({ isError: false, text: expect.stringMatching(/^clock {5}\d{4}-/m) as string })
  })

  it('is sent to another start of the server where no tape is of the name it gave, with the folder', async () => {
    const { text, isError } = await call('open_tape', { tape: 'refund-100x' })
    expect(isError).toBe(true)
    expect(text).not.toMatch(/: --dir/)
    expect(text).toContain(
      "if its recorder writes to another folder: start the server with npx vitest-harvest debug --mcp --dir '<folder>'",
    )
    const other = new Client({ name: 'test', version: '1' })
    const args = [built('cli/main.js'), 'debug', '--mcp', '--dir', dir]
    await other.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }))
    const opened = await other.callTool({ name: 'open_tape', arguments: { tape: 'refund-100x' } })
    await other.close()
    expect(opened).toMatchObject({ content: [{ text: expect.stringContaining('10 steps') as string }] })
  })

  it('gets less than 2 KB at a time, and is told how to go on', async () => {
    await call('open_tape', { tape, agent })
    const first = await call('inspect', { step: 10, part: 'raw' })
    expect(Buffer.byteLength(first.text)).toBeLessThan(2_048)
    const [, offset] = /the same call with offset (\d+)$/.exec(first.text) ?? []
    const second = await call('inspect', { step: 10, part: 'raw', offset: Number(offset) })
    expect(second.text).not.toBe(first.text)
  })

  it('gets less than 2 KB of any script, and no half of a character', async () => {
    const recorder = createRecorder({ dir })
    const cats = Array.from({ length: 30 }, (_, cat) => `${cat} ${'猫😺'.repeat(20)}`)
    const look = tool('look', async () => ({ cats }))
    await recorder.run({ agent: 'cats', id: 'cats' }, () => look())
    await call('open_tape', { tape: recorder.lastTape })
    let [whole, offset]: [string, number | undefined] = ['', 0]
    while (offset !== undefined) {
      const { text } = await call('inspect', { step: 1, part: 'result', offset })
      expect(Buffer.byteLength(text)).toBeLessThan(2_048)
      const [more = '', next] = /\n… \d+ more characters: the same call with offset (\d+)$/.exec(text) ?? []
      whole += text.slice(0, text.length - more.length)
      offset = next === undefined ? undefined : Number(next)
    }
    expect(whole.isWellFormed()).toBe(true)
    expect(whole).toContain(`29 ${'猫😺'.repeat(20)}`)
  })

  it('reads the rest of an answer, and makes no second call by that', async () => {
    await call('open_tape', { tape, agent })
    const asked = { step: 2, evaluate: ['process.pid', '"x".repeat(1900)', 'process.pid'] }
    const first = await call('stop_in_code', asked)
    const [, offset] = /the same call with offset (\d+)$/.exec(first.text) ?? []
    const rest = await call('stop_in_code', { ...asked, offset: Number(offset) })
    const [one, other] = [first.text, rest.text].map((text) => /process\.pid = (\d+)$/m.exec(text)?.[1])
    expect(other).toBe(one)
    expect(one).toMatch(/^\d+$/)
  })

  it('is told what is wrong with a call, as a person would be', async () => {
    await call('open_tape', { tape })
    expect(await call('inspect', { step: 99 })).toEqual({
      text: 'there is no step 99: this tape has 1 to 10\n→ to see them: open_tape',
      isError: true,
    })
    expect((await call('find', { rule: 'nevr refund()' })).text).toContain("did you mean 'never'?")
    expect((await call('inspect', { step: 1, prat: 'raw' })).text).toContain('inspect takes no prat')
    expect((await call('what_if', { step: 5, changes: ['result.note=""'], live: true })).text).toContain(
      'live models are off',
    )
    // Options of the line could spend what nobody consented to.
    for (const option of ['--live', '--tools=live'])
      expect(await call('what_if', { step: 5, changes: ['result.note=""', option] })).toMatchObject({
        isError: true,
        text: expect.stringContaining('a change cannot begin with -') as string,
      })
  })

  it('is told to name the agent where it opens the tape', { tags: 'thorough' }, async () => {
    const recorder = createRecorder({ dir })
    const look = tool('look', async () => 'seen')
    await recorder.run({ agent: 'unheard-of', id: 'unheard-of' }, () => look())
    await call('open_tape', { tape: recorder.lastTape })
    const { text, isError } = await call('stop_in_code', { step: 1 })
    expect(isError).toBe(true)
    expect(text).toContain(`: open_tape {"tape":${JSON.stringify(recorder.lastTape)},"agent":"./src/agent.ts#agent"}`)
    expect(text).not.toContain("'<tape>'")
  })

  it('reads the rest of an error as that of an answer', async () => {
    await call('open_tape', { tape })
    const asked = { rule: `nevr ${'refund() or '.repeat(300)}refund()` }
    const first = await call('find', asked)
    const [, offset] = /the same call with offset (\d+)$/.exec(first.text) ?? []
    const rest = await call('find', { ...asked, offset: Number(offset) })
    expect([first.isError, rest.isError]).toEqual([true, true])
    expect(rest.text).toContain("did you mean 'never'?")
    expect(first.text).not.toContain("did you mean 'never'?")
  })

  it('that sends what is no request is told so, and the next one is answered', async () => {
    const lines = [
      ...['[]', 'x', '{"id":1,"method":"initialize","params":null}', '{"id":0,"method":{"toString":1}}'],
      '{"id":2,"method":"ping"}',
    ]
    const served = await run(process.execPath, [built('cli/main.js'), 'debug', '--mcp'], { input: lines.join('\n') })
    expect(served).toMatchObject({ code: 0, stderr: '' })
    const answers = served.stdout.trim().split('\n')
    expect(answers.map((line) => JSON.parse(line) as object)).toMatchObject([
      { id: null, error: { code: -32600 } },
      { id: null, error: { code: -32700 } },
      { id: 1, result: { serverInfo: { name: 'vitest-harvest' } } },
      { id: 0, error: { code: -32601 } },
      { id: 2, result: {} },
    ])
  })
})

describe('an editor that asks to go on before it launched', () => {
  it('is answered once, that no tape is open', async () => {
    const commands = ['initialize', 'continue', 'reverseContinue', 'stepIn', 'disconnect']
    const input = commands.map((command, at) => framed({ seq: at + 1, type: 'request', command })).join('')
    const { stdout } = await run(process.execPath, [built('cli/main.js'), 'debug', '--dap'], { input })
    const answered = [...stdout.matchAll(/"request_seq":(\d+),"command":"\w+","success":(\w+)/g)]
    expect(answered.map(([, seq, success]) => `${seq} ${success}`)).toEqual([
      ...['1 true', '2 false', '3 false', '4 false', '5 true'],
    ])
  })
})

describe('an editor that launches a tape which is not there', () => {
  it('is sent to another start of the server, with the folder, which then launches it', async () => {
    const launch = { seq: 1, type: 'request', command: 'launch', arguments: { tape: 'refund-100x' } }
    const serve = (...options: readonly string[]) =>
      run(process.execPath, [built('cli/main.js'), 'debug', '--dap', ...options], { input: framed(launch) })
    const { stdout } = await serve()
    expect(stdout).toContain(
      "writes to another folder: start the server with npx vitest-harvest debug --dap --dir '<folder>'",
    )
    expect(stdout).not.toMatch(/: --dir/)
    expect((await serve('--dir', dir)).stdout).toContain('"command":"launch","success":true')
  })
})

describe('an editor that sends what no editor sends', () => {
  const requests = [
    ...['initialize', 'setFunctionBreakpoints', 'setBreakpoints', 'threads', 'stackTrace', 'scopes', 'variables'],
    ...['next', 'stepBack', 'stepOut', 'evaluate', 'completions', 'source', 'pause', 'toString', '__proto__', ''],
  ]
  const odd = [null, -1, 1e308, '', 'x', '__proto__', '('.repeat(20_000), [], [null], { toString: 1, valueOf: 1 }]
  const fields = ['expression', 'text', 'column', 'frameId', 'variablesReference', 'sourceReference', 'startFrame']

  it('is answered each time, and the server stays', async () => {
    const sent: object[] = [
      { seq: 1, type: 'request', command: 'initialize' },
      { seq: 2, type: 'request', command: 'launch', arguments: { tape } },
    ]
    for (const command of requests)
      for (const one of odd) {
        const all = Object.fromEntries(fields.map((name) => [name, one]))
        const given = [one, { ...all, breakpoints: one, source: one }, { ...all, breakpoints: [one, { name: one }] }]
        for (const args of given) sent.push({ seq: sent.length + 1, type: 'request', command, arguments: args })
      }
    sent.push({ seq: sent.length + 1, type: 'request', command: 'disconnect' })
    const input = sent.map(framed).join('')
    const served = await run(process.execPath, [built('cli/main.js'), 'debug', '--dap'], { input })
    expect(served).toMatchObject({ code: 0, stderr: '' })
    const answered = [...served.stdout.matchAll(/"request_seq":(\d+)/g)].map(([, seq]) => Number(seq))
    expect(answered).toEqual(sent.map((_, at) => at + 1))
  })

  it.each([
    ['a head that does not end', 'x'.repeat(4_096)],
    ['a length no message has', 'Content-Length: 99999999999999999999\r\n\r\n'],
    ['a command that is no text', framed({ seq: 1, type: 'request', command: { toString: 1 } })],
    ['a list', framed([])],
  ])('is refused where it is no message: %s', (_, bytes) => {
    expect(() => new DapReader().push(Buffer.from(bytes))).toThrow('stdin is not the Debug Adapter Protocol')
  })
})

describe('an editor, over the official client of the Debug Adapter Protocol', () => {
  const client = new DebugClient(process.execPath, resolve('test/debug/dap.child.ts'), 'harvest', undefined, true)
  beforeAll(async () => {
    built('cli/main.js')
    await client.start()
  })
  afterAll(() => client.stop())

  it('steps through the run in both directions, stops at rules, and unfolds what the model saw', async () => {
    const { body } = await client.initializeRequest()
    expect(body).toMatchObject({ supportsStepBack: true, supportsFunctionBreakpoints: true })
    await Promise.all([client.waitForEvent('initialized'), client.launchRequest({ tape, agent } as never)])
    const { body: set } = await client.setFunctionBreakpointsRequest({
      breakpoints: [{ name: 'refund(amount > 100)' }, { name: 'nevr refund()' }],
    })
    expect(set.breakpoints.map(({ verified }) => verified)).toEqual([true, false])
    await Promise.all([client.waitForEvent('stopped'), client.configurationDoneRequest()])
    await Promise.all([client.waitForEvent('stopped'), client.continueRequest({ threadId: 1 })])
    expect(await top()).toContain('7 tool refund(order_id: "A-100", amount: 2500)')
    await Promise.all([client.waitForEvent('stopped'), client.stepBackRequest({ threadId: 1 })])
    expect(await top()).toContain('6 model refund')
    const { body: scopes } = await client.scopesRequest({ frameId: 6 })
    expect(scopes.scopes.map(({ name }) => name)).toEqual(['Decision', 'Context window', 'Clock', 'State', 'Usage'])
    const { body: parts } = await client.variablesRequest({
      variablesReference: scopes.scopes[1]?.variablesReference ?? 0,
    })
    expect(parts.variables).toHaveLength(7)
    expect(parts.variables[6]).toMatchObject({ value: '{"customer":"C-7","refunds":1,"note":"paid 2500 cents"}' })
    const { body: difference } = await client.evaluateRequest({ expression: 'diff 4 6', context: 'repl' })
    expect(difference.result).toContain('5 messages the same, 0 gone, 2 new')
    await Promise.all([client.waitForEvent('stopped'), client.nextRequest({ threadId: 1 })])
    await Promise.all([client.waitForEvent('stopped'), client.reverseContinueRequest({ threadId: 1 })])
    expect(await top()).toContain('1 model')
    await expect(client.evaluateRequest({ expression: 'goto 99', context: 'repl' })).rejects.toThrow(
      'there is no step 99',
    )
    // What is watched is evaluated again at each stop.
    const watched = (expression: string) => client.evaluateRequest({ expression, context: 'watch' })
    for (const line of ['goto 3', 'call pay()', 'what_if 5 result.note=1 --live', 'continue'])
      await expect(watched(line)).rejects.toThrow('what is watched may only look')
    expect((await watched('inspect state')).body.result).not.toBe('')
    expect(await top()).toContain('1 model')
  })

  async function top(): Promise<string> {
    const { body } = await client.stackTraceRequest({ threadId: 1 })
    return body.stackFrames[0]?.name ?? ''
  }
})

describe('the budget of a server', () => {
  const used = { modelCalls: 2, inputTokens: 300, outputTokens: 20 }
  const paid = (text: string) => ({ text, tape: readTape(tape), runs: 4, prices: {} })
  const line = () => paid('what_if 7 a')

  it('is one for all its calls: each may use what those before it left, and a limit of its own is no more', () => {
    const budget = new SessionBudget({ costUsd: 1, tokens: 1_000, calls: 5 })
    expect(budget.within({ costUsd: 1 }, line())).toEqual({ costUsd: 1, tokens: 1_000, calls: 5 })
    budget.add({ ...used, costUsd: 0.3 })
    budget.add({ ...used, costUsd: 0.1 })
    expect(budget.within({ costUsd: 3, tokens: 100 }, line())).toEqual({ costUsd: 0.6, tokens: 100, calls: 1 })
    expect([budget.binds({ costUsd: 0.5, tokens: 100, calls: 0 }), budget.binds({})]).toEqual([false, true])
    expect(budget.withRoom('what_if 1 a', { 'max-cost': '0.5' })).toEqual({ 'max-cost': '0.90' })
    budget.add({ ...used, costUsd: 0 })
    expect(() => budget.within({}, line())).toThrow('the budget of this debugger is used up: --max-calls')
  })

  it('is no more than its limits: the default of fork is for a line where neither it nor the debugger names one', () => {
    const limitsOf = (budget: SessionBudget, ...options: readonly string[]) => {
      const parsed = parse(['fork', 'x', '--live', ...options], specs)
      return parsed.kind === 'run' ? budget.ofLine(parsed.given) : undefined
    }
    const [open, limited] = [new SessionBudget({}), new SessionBudget({ tokens: 100_000 })]
    expect(limitsOf(open)).toEqual({ costUsd: 1 })
    expect(limitsOf(limited)).toEqual({})
    expect(limitsOf(limited, '--max-cost', '2')).toEqual({ costUsd: 2 })
  })

  it('that is used up is raised by what was used and by what each refused line needs, once', () => {
    const budget = new SessionBudget({ calls: 5 })
    budget.add({ ...used, modelCalls: 5, costUsd: 0.1 })
    const refused = (text: string) => {
      try {
        return budget.within({}, paid(text))
      } catch (error) {
        return (error as HarvestError).facts
      }
    }
    const room = (text: string) => Number(/--max-calls (\d+)/.exec(JSON.stringify(refused(text)))?.[1])
    // Three times the five calls of the tape for each of four runs.
    expect(['one', 'other', 'other', 'one'].map(room)).toEqual([65, 125, 125, 125])
    expect(refused('one')).toMatchObject({ where: { used: '5 model calls, $0.1000' } })
  })

  it('in dollars is used up by a call whose cost is unknown', () => {
    const budget = new SessionBudget({ costUsd: 1 })
    budget.add(used)
    expect(() => budget.within({}, line())).toThrow('the budget of this debugger is used up: --max-cost')
  })
})
