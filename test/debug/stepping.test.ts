import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { DebugChild, type Launch } from '../../src/debug/code/child.ts'
import { createRecorder } from '../../src/record/index.ts'
import { run } from '../cli/harvest.ts'
import { ask } from '../cli/in-process.ts'

let dir: string

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'harvest-stepping-'))
})

afterAll(() => rmSync(dir, { recursive: true, force: true }))

interface Told {
  readonly stopped: boolean
  readonly in: string
  readonly place: { readonly file: string; readonly line: number }
  readonly isChanged: boolean
  readonly source: readonly (readonly [line: number, text: string])[]
}

/** The answers to commands, one each. */
async function told(tape: string, module: string, commands: string): Promise<readonly Told[]> {
  const { out } = await ask('debug', tape, '--module', module, '--json', '-x', commands)
  return out.split('\n').map((line) => JSON.parse(line) as Told)
}

/** `execute: (args) => …`: the line of each stop. */
function linesAt(stops: readonly Told[]): readonly (string | false | undefined)[] {
  return stops.map(({ stopped, place, source }) => stopped && source.find(([line]) => line === place.line)?.[1].trim())
}

describe('an agent that waits for an SDK and its streams', () => {
  const agent = 'fixtures/debug/streams-refund.ts'
  let tape: string

  beforeAll(async () => {
    const { code, stderr } = await run(process.execPath, [resolve('fixtures/debug/record-streams.ts'), dir, 'streams'])
    if (code !== 0) throw new Error(stderr)
    tape = join(dir, 'streams.tape.jsonl')
  })

  const [lookup, refund] = ['execute: (args) => shop.lookup_order(args),', 'execute: (args) => shop.refund(args),']
  const [trim, end] = ['const line = answer.trim()', 'return line']

  it('is stepped through statement by statement, in its own files alone, and back', { tags: 'thorough' }, async () => {
    const commands = 'code; next; step; step; back; next; next; next'
    const stops = await told(tape, `${agent}#streamsRefund`, commands)
    expect(linesAt(stops)).toEqual([lookup, refund, refund, trim, refund, trim, end, false])
    expect(stops.some(({ isChanged }) => isChanged)).toBe(false)
  })

  it('is run on to the function that waits for the answer, though it asks otherwise than on the tape', {
    tags: 'thorough',
  }, async () => {
    vi.stubEnv('HARVEST_TEST_PROMPT', 'Refund what is asked for.')
    const stops = await told(tape, `${agent}#streamsRefund`, 'code; next; finish; finish').finally(vi.unstubAllEnvs)
    expect(linesAt(stops)).toEqual([lookup, refund, trim, false])
    expect(stops[2]).toMatchObject({ in: 'streamsRefund', differs: { step: 1, part: 'system prompt' } })
  })
})

describe('a caller', () => {
  it('is stopped at where its loop goes on, before the call that was left', async () => {
    const { file, tape } = await recorded(
      'loops',
      `const half = tool('half', async (n) => n / 2)
async function once(n) {
  const result = await half(n)
  return result
}
export async function loops() {
  const found = []
  for (let n = 0; n < 2; n++) {
    found.push(n)
    await once(n)
  }
  return found
}`,
    )
    const stops = await told(tape, `${file}#loops`, 'code; finish; next; goto 2; code; finish; next; finish')
    const [answered, turn, push] = ['return result', 'for (let n = 0; n < 2; n++) {', 'found.push(n)']
    const lines = linesAt(stops.filter(({ stopped }) => stopped !== undefined))
    expect(lines).toEqual([answered, turn, push, answered, turn, 'return found', false])
  })
})

describe('the text of a stop', () => {
  const code = `const half = tool('half', async (n) => n / 2)
export async function halves() {
  const result = await half(4)
  return result
}`

  it('is that of the file, which was not changed because it begins with a byte order mark', async () => {
    const { file, tape } = await recorded('halves', code)
    writeFileSync(file, `\uFEFF${readFileSync(file, 'utf8').replaceAll('\n', '\r\n')}`)
    const [stop] = await told(tape, `${file}#halves`, 'code')
    expect(stop).toMatchObject({ isChanged: false, place: { line: 5 } })
    expect(linesAt([stop as Told])).toEqual(['return result'])
  })

  it('is that of the file it was compiled from, which was changed only where it is another one', {
    tags: 'thorough',
  }, async () => {
    const { file, tape } = await recorded('halves', code)
    const text = readFileSync(file, 'utf8')
    const source = join(dirname(file), 'halves.source.ts')
    writeFileSync(source, text)
    // Compiled with a helper before it: one line on top, all others one below their own.
    const map = {
      version: 3,
      sources: ['helper.ts', 'halves.source.ts'],
      sourcesContent: ['// A helper', text],
      names: [],
      mappings: `;ACAA${';AACA'.repeat(text.split('\n').length - 1)}`,
    }
    const inline = Buffer.from(JSON.stringify(map)).toString('base64')
    writeFileSync(file, `// A helper\n${text}\n//# sourceMappingURL=data:application/json;base64,${inline}`)
    const [stop] = await told(tape, `${file}#halves`, 'code')
    expect(stop).toMatchObject({
      isChanged: false,
      place: { file: expect.stringMatching(/halves\.source\.ts$/), line: 5 },
    })
    expect(linesAt([stop as Told])).toEqual(['return result'])
    writeFileSync(source, `${text}\n// another line`)
    expect(await told(tape, `${file}#halves`, 'code')).toMatchObject([{ isChanged: true, place: { line: 5 } }])
  })
})

describe('a process that is led', () => {
  const pausedAt = (functionName: string): object => ({
    event: 'Debugger.paused',
    params: {
      reason: 'other',
      callFrames: [{ functionName, location: { scriptId: '7', lineNumber: 11, columnNumber: 0 }, scopeChain: [] }],
    },
  })

  /** A child that answers what it is asked by a script. */
  async function led(hear: (message: { readonly method?: string; readonly go?: object }) => readonly object[]) {
    const launch: Launch = (address) => {
      const socket = connect(address)
      const say = (message: object): void => void socket.write(`${JSON.stringify(message)}\n`)
      socket.once('connect', () => {
        say({ event: 'Debugger.scriptParsed', params: { scriptId: '7', url: pathToFileURL(resolve('agent.ts')).href } })
        say({ ready: { root: 'file:///package/', pid: 1, rss: 1 } })
      })
      createInterface({ input: socket }).on('line', (line) => {
        const { id, ...message } = JSON.parse(line) as { readonly id?: number; readonly method?: string }
        if (id !== undefined) say({ id, result: {} })
        for (const answer of hear(message)) say(answer)
      })
      return { stop: () => socket.destroy(), failed: new Promise(() => {}) }
    }
    const child = await DebugChild.start(launch, { limitMs: 2_000 })
    onTestFinished(() => child.close())
    return child
  }

  it('is given the answer that it keeps back, also where it stood still when it said so', async () => {
    const child = await led(({ method, go }) => {
      // While the agent stands still, a message is under way.
      if (method === 'Debugger.stepOver') return [pausedAt('foreign'), { held: 3 }]
      if (method === 'Debugger.resume') return []
      return go === undefined ? [] : [pausedAt('next')]
    })
    expect(await child.resumeUntilPaused('Debugger.stepOver')).toMatchObject(pausedAs('foreign'))
    expect(await child.resumeUntilPaused('Debugger.resume')).toMatchObject(pausedAs('next'))
  })

  it('is not waited for without an end: it is said where it runs, and how to wait longer', async () => {
    const child = await led(({ method }) => (method === 'Debugger.pause' ? [pausedAt('spins')] : []))
    await expect(child.finish()).rejects.toMatchObject({
      code: 'HARVEST_DEBUG_CODE',
      facts: {
        what: 'The agent did not stand still within 2 s',
        where: { 'runs in': 'agent.ts:12' },
        fix: ['to wait longer: --timeout 10m'],
      },
    })
    await expect(child.finish()).rejects.toThrow('The process of the agent ended')
  })

  it('that is not loaded in time says so', async () => {
    const launch: Launch = () => ({ stop: () => {}, failed: new Promise(() => {}) })
    await expect(DebugChild.start(launch, { limitMs: 50 })).rejects.toThrow('The agent was not loaded within 0.05 s')
  })
})

function pausedAs(functionName: string): object {
  return { paused: { callFrames: [{ functionName }] } }
}

/** An agent of tools alone, and its tape. */
async function recorded(id: string, code: string): Promise<{ readonly file: string; readonly tape: string }> {
  const folder = mkdtempSync(join(dir, 'recorded-'))
  const file = join(folder, `${id}.ts`)
  writeFileSync(file, `import { tool } from '${pathToFileURL(resolve('src/record/index.ts')).href}'\n${code}`)
  const agents = (await import(pathToFileURL(file).href)) as Readonly<Record<string, () => Promise<unknown>>>
  const recorder = createRecorder({ dir: folder })
  await recorder.run({ agent: id, id }, () => agents[id]?.() ?? Promise.reject(new Error(`no agent ${id}`)))
  return { file, tape: recorder.lastTape ?? '' }
}
