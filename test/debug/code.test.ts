import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CodeSession, type CodeStop, DebugSession } from '../../src/debug/index.ts'
import { evaluateIn } from '../../src/debug/code/values.ts'
import { launchOf } from '../../src/cli/debug/launch.ts'
import { readTape } from '../../src/tape/index.ts'
import { looksAtRows } from '../../fixtures/debug/looks-at-rows.ts'
import { run } from '../cli/harvest.ts'
import { ask } from '../cli/in-process.ts'
import { createRecorder } from '../../src/record/index.ts'
import { servedTools } from '../../fixtures/debug/served-tools.ts'

const agentFile = 'fixtures/debug/refund-agent.ts'
const module = `${agentFile}#refundAgent`
const lines = readFileSync(agentFile, 'utf8').split('\n')
/** The number of the line that begins with this text. */
const lineOf = (text: string): number => lines.findIndex((line) => line.trim().startsWith(text)) + 1

let dir: string
let tape: string

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'harvest-debug-code-'))
  const { code, stderr } = await run(process.execPath, [resolve('fixtures/debug/record-refund.ts'), dir, 'refund-100x'])
  if (code !== 0) throw new Error(stderr)
  tape = join(dir, 'refund-100x.tape.jsonl')
})

afterAll(() => rmSync(dir, { recursive: true, force: true }))

async function debug(commands: string, ...options: readonly string[]) {
  return ask('debug', tape, '--module', module, ...options, '-x', commands)
}

async function debugJson(commands: string): Promise<readonly Record<string, never>[]> {
  const { out } = await debug(commands, '--json')
  return out.split('\n').map((line) => JSON.parse(line) as Record<string, never>)
}

describe('the agent in its own code', () => {
  it('stands still where the answer of a step arrives, with its variables, and goes on and back', {
    tags: 'thorough',
  }, async () => {
    const [, code, print, next, finish, back, again, before] = await debugJson(
      'goto 6; code; print messages.at(-1).content; next; finish; back; back; back',
    )
    const answered = lineOf('const body =')
    expect(code).toMatchObject({
      stopped: true,
      step: 6,
      moves: [],
      in: 'ask',
      place: { file: agentFile, line: answered },
      callers: [{ in: 'refundAgent', line: lineOf('const reply =') }],
      isChanged: false,
    })
    expect(code).toMatchObject({
      source: [
        [answered - 1, '  })'],
        [answered, lines[answered - 1]],
        [answered + 1, lines[answered]],
      ],
    })
    const locals = Object.fromEntries((code as never as CodeStop).locals.map(({ name, text }) => [name, text]))
    expect(locals).toMatchObject({ messages: 'Array(7)', response: 'Response' })
    expect(print).toMatchObject({ value: '{"customer":"C-7","refunds":1,"note":"paid 2500 cents"}' })
    expect(next).toMatchObject({ place: { line: answered + 1 }, moves: ['next'] })
    expect(finish).toMatchObject({
      in: 'refundAgent',
      place: { line: lineOf('const tookMs') },
      moves: ['next', 'finish'],
    })
    expect(back).toMatchObject({ place: { line: answered + 1 }, moves: ['next'] })
    expect(again).toMatchObject({ place: { line: answered }, moves: [] })
    // The same place one step before: a tool.
    expect(before).toMatchObject({ step: 5, in: 'runTool', place: { line: lineOf('return result') } })
  })

  it('tells tools apart that ran side by side and were answered in one burst', async () => {
    const answers = await debugJson('goto 2; code; print call.function.name; goto 3; code; print call.function.name')
    expect(answers[2]).toMatchObject({ value: 'lookup_order' })
    expect(answers[5]).toMatchObject({ value: 'refund_policy' })
  })

  it('is looked at without being disturbed, and whoever wants to change it gets another replay', {
    tags: 'thorough',
  }, async () => {
    const { out } = await debug(
      'goto 4; code; print Date.now(); print messages.push(1); call messages.push(1); print messages.length; next',
    )
    const [, , , , , , clock, changes, ...rest] = out.split('\n')
    expect(clock).toBe('that would read a recorded clock: `clock` prints it, `call Date.now()` does it all the same')
    expect(changes).toBe('that could change something in the agent: `call messages.push(1)` does it all the same')
    expect(rest.slice(0, 2)).toEqual(['6', '6'])
    expect(rest.join('\n')).toContain('messages = Array(5)')
  })

  it('that asked otherwise than on the tape is told so at every stop: the answers are those to another question', async () => {
    const module = join(dir, 'other-text.mjs')
    const other = `refundAgent({ ...ticket, text: 'Please refund A-100.' })`
    const text = `import { refundAgent } from ${JSON.stringify(pathToFileURL(resolve(agentFile)).href)}
export const agent = (ticket) => ${other}\n`
    writeFileSync(module, text)
    const { out } = await ask('debug', tape, '-x', 'goto 4; code', '--module', `${module}#agent`)
    expect(out).toContain('in ask, called by refundAgent')
    expect(out).toContain('step 1 asked otherwise than on the tape: user message')
    expect((await debug('goto 4; code')).out).not.toContain('otherwise')
  })

  it('shows its lines and its variables, as text', async () => {
    const { out, code } = await debug('goto 1; code; locals; source; nonsense; print nothing')
    expect(out).toContain(
      `${agentFile}:${lineOf('const body =')} in ask, called by refundAgent refund-agent.ts:${lineOf('const reply =')}`,
    )
    expect(out).toContain(
      `→ ${lineOf('const body =')}    const body = (await response.json()) as { choices: [{ message: Message }] }`,
    )
    expect(out).toContain('ReferenceError: nothing is not defined')
    expect(code).toBe(2)
  })

  it('that ends where it stands is told so, and the next stop is another replay', async () => {
    const { out, code } = await debug('goto 4; code; call process.exit(3); locals; code; print messages.length')
    const said = out.split('\n')
    const at = said.indexOf('The process of the agent ended')
    expect(at).toBeGreaterThan(0)
    expect(out).toContain('the agent does not stand in its code\n→ code')
    expect(said.at(-1)).toBe('5')
    expect(code).toBe(2)
  })

  it('is not kept by a look that has no end', async () => {
    const asked: object[] = []
    const cdp = (_: string, params: object): Promise<never> => {
      asked.push(params)
      return Promise.reject(new Error('Inspector error -32000: Execution was terminated'))
    }
    const look = evaluateIn({ cdp } as never, { callFrameId: '1' } as never, 'for (;;);', false)
    expect(await look).toEqual({ error: 'it took longer than 10 s', isSideEffect: false })
    expect(asked).toMatchObject([{ throwOnSideEffect: true, timeout: 10_000 }])
  })

  it('is needed for moves in code, and its absence is said', async () => {
    const { out } = await debug('next; locals')
    expect(out).toBe(Array(2).fill('the agent does not stand in its code\n→ code').join('\n'))
  })

  it('is not skipped to where no replay is kept', async () => {
    const { out } = await debug('goto 2; code skip; code slowly')
    expect(out.split('\n').slice(1)).toEqual([
      'no replay is kept before step 2: there is nothing to skip to',
      '→ code full',
      'code takes full, skip or auto',
      '→ code',
    ])
  })

  it('that cannot be loaded is named', async () => {
    const { out, code } = await ask('debug', tape, '--module', 'no/such/agent.ts#agent', '-x', 'code')
    expect(out).toContain('The agent could not be loaded')
    expect(code).toBe(2)
  })
})

describe('a long run', () => {
  it('skips to the replay that is kept before a step, and says by how many steps', { tags: 'thorough' }, async () => {
    // Replays of runs that take no time are not kept.
    const rows = 4_000
    const recorder = createRecorder({ dir })
    await recorder.run({ agent: 'long', id: 'long', input: { rows } }, () => looksAtRows({ rows }))
    const file = recorder.lastTape ?? ''
    const { steps } = new DebugSession(readTape(file))
    const session = new CodeSession(
      steps,
      launchOf({ file, recordings: 'recordings' }, given({ module: 'fixtures/debug/looks-at-rows.ts#looksAtRows' })),
    )
    try {
      await session.enter(rows - 1)
      await session.checkpointed()
      expect(session.checkpoints.length).toBeGreaterThan(0)
      const kept = session.checkpoints.findLast((step) => step <= rows - 1) ?? 0
      const stop = await session.enter(rows, [], 'skip')
      const at = session.checkpoints.includes(rows) ? rows : Math.max(kept, (stop as CodeStop).step)
      expect(stop).toMatchObject({ step: at, in: 'looksAtRows', ...(at === rows ? {} : { skipped: rows - at }) })
      expect(await session.evaluate('row')).toMatchObject({ value: at })
    } finally {
      session.close()
    }
  })
})

describe('an answer that no statement of the agent was waiting for', () => {
  it('is stopped at where the next statement runs, with the steps that were answered by then', {
    tags: 'thorough',
  }, async () => {
    const recorder = createRecorder({ dir })
    await recorder.run({ agent: 'served', id: 'served' }, () => servedTools())
    const file = 'fixtures/debug/served-tools.ts'
    const { out } = await ask(
      'debug',
      recorder.lastTape ?? '',
      ...['--module', `${file}#servedTools`, '--json', '-x', 'goto 1; code; goto 2; code; print both.length'],
    )
    const [, first, , inside, print] = out.split('\n').map((line) => JSON.parse(line) as Record<string, never>)
    const line = readFileSync(file, 'utf8').split('\n').indexOf('  return both.length') + 1
    const place = { in: 'servedTools', place: { file, line } }
    expect(first).toMatchObject({ stopped: true, step: 1, ...place, since: [3] })
    // Made inside step 1, whose code a replay does not run.
    expect(inside).toMatchObject({ stopped: true, step: 2, ...place, inside: 1, since: [3] })
    expect(print).toMatchObject({ value: 2 })
  })

  it('is looked for at so many places of the code, and where it has more, that is said', async () => {
    const recorder = createRecorder({ dir })
    await recorder.run({ agent: 'served', id: 'served in much code' }, () => servedTools())
    const module = join(dir, 'much-code.ts')
    const own = pathToFileURL(resolve('fixtures/debug/served-tools.ts')).href
    const functions = Array.from({ length: 1_000 }, (_, n) => `export function never${n}() { return seen + ${n} }\n`)
    const much = `let seen = 0\n${functions.join('')}`
    writeFileSync(module, `export { servedTools } from ${JSON.stringify(own)}\n${much}`)
    const { out } = await ask(
      'debug',
      recorder.lastTape ?? '',
      '--module',
      `${module}#servedTools`,
      '-x',
      'goto 1; code; next',
    )
    expect(out).toMatch(/^only 1,\d{3} places of your code were watched, and it has more: others may have run before$/m)
  })
})

describe('an answer that is kept back', () => {
  it('keeps everything back: no timer, no grace, no hang, however long it takes', { tags: 'thorough' }, async () => {
    const { stdout, code } = await run(process.execPath, [resolve('test/debug/held.child.ts'), tape])
    expect(code).toBe(0)
    const { held, ...rest } = JSON.parse(stdout) as { readonly held: number }
    expect(held).toBeGreaterThanOrEqual(5)
    expect(rest).toEqual({ problems: [], relaxed: 0, identical: 10, outcomeEqual: true })
  })
})

describe('an editor that attaches', () => {
  it('sees the same stop, and the port is open only where it was asked for', { tags: 'thorough' }, async () => {
    const { steps } = new DebugSession(readTape(tape))
    const launch = launchOf({ file: tape, recordings: 'recordings' }, given({ module }))
    const [open, shut] = [new CodeSession(steps, launch, { port: 0 }), new CodeSession(steps, launch)]
    try {
      const [stop, other] = [await open.enter(6), await shut.enter(6)]
      expect(other).not.toHaveProperty('port')
      const { port = '' } = stop as CodeStop
      expect(port).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\//)
      const editor = new WebSocket(port)
      const paused = new Promise<{ functionName: string }[]>((resolve) => {
        editor.addEventListener('message', ({ data }) => {
          const { method, params } = JSON.parse(String(data)) as {
            method?: string
            params: { callFrames: { functionName: string }[] }
          }
          if (method === 'Debugger.paused') resolve(params.callFrames)
        })
      })
      await new Promise((opened) => editor.addEventListener('open', opened))
      editor.send(JSON.stringify({ id: 1, method: 'Debugger.enable' }))
      expect((await paused)[0]?.functionName).toBe('ask')
      editor.close()
      // The next replay has the same port, as soon as the one before it is gone.
      const sameAgain = new CodeSession(steps, launch, { port: Number(new URL(port).port) })
      try {
        await expect(sameAgain.enter(6)).rejects.toThrow(`port ${new URL(port).port} is taken`)
        open.leave()
        expect(await sameAgain.enter(6)).toMatchObject({ port: expect.stringContaining(`:${new URL(port).port}/`) })
        expect(await sameAgain.back()).toMatchObject({ port: expect.stringContaining(`:${new URL(port).port}/`) })
      } finally {
        sameAgain.close()
      }
    } finally {
      open.close()
      shut.close()
    }
  })
})

describe('a replay that was looked at', () => {
  it('stops at every step and goes on as one nobody looked at', { tags: 'thorough' }, async () => {
    const { steps } = new DebugSession(readTape(tape))
    const session = new CodeSession(steps, launchOf({ file: tape, recordings: 'recordings' }, given({ module })))
    try {
      const places = []
      for (const { number } of steps) {
        const stop = await session.enter(number)
        if ('why' in stop) throw new Error(`step ${number}: ${stop.why}`)
        await session.evaluate('JSON.stringify(Object.keys(globalThis))')
        places.push(`${number} ${stop.in}:${stop.place.line}`)
        const { problems, comparison } = await session.runToEnd()
        expect({ problems, ...comparison }).toMatchObject({
          problems: [],
          identical: 10,
          recorded: 10,
          relaxed: 0,
          drawsMissed: 0,
          outcomeEqual: true,
        })
      }
      const [model, tool] = [`ask:${lineOf('const body =')}`, `runTool:${lineOf('return result')}`]
      expect(places).toEqual(
        [model, tool, tool, model, tool, model, tool, model, tool, model].map((at, index) => `${index + 1} ${at}`),
      )
    } finally {
      session.close()
    }
  })
})

function given(values: Readonly<Record<string, string>>) {
  return { args: [], rest: undefined, value: (name: string) => values[name], values: () => [], has: () => false }
}
