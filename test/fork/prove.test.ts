import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { subjects } from '../../bench/catch/agents/index.ts'
import { benign } from '../../bench/catch/edits.ts'
import type { Asked } from '../../bench/catch/world/types.ts'
import { provedAgents } from '../../bench/prove/agents.ts'
import { rightWith } from '../../bench/prove/chance.ts'
import { type Desk, type Mind, openDesk, type Recorded } from '../../bench/prove/desk.ts'
import { proveEdits, wronglyCalled } from '../../bench/prove/edits.ts'
import { gateRates } from '../../bench/prove/exact.ts'
import { makeReady, models, proveOnce, type Ready } from '../../bench/prove/sessions.ts'
import { stopAndGoOn } from '../../bench/prove/stops.ts'
import { parseTape } from '../../src/tape/index.ts'

// Inside the repository: the imports of the agents are found from there.
const repository = process.cwd()
const base = mkdtempSync(resolve('.prove-'))
const scratch = mkdtempSync(join(tmpdir(), 'harvest-prove-'))
const never = { changed: 0, recorded: 1 }
let desk: Desk
const ready = new Map<string, Ready>()

beforeAll(async () => {
  desk = await openDesk(base)
  // What the agents print is not what is tested.
  for (const name of ['log', 'info', 'debug'] as const) vi.spyOn(console, name).mockReturnValue(undefined)
  for (const agent of provedAgents) ready.set(agent.subject.name, await makeReady(desk, agent))
})
// A proof is of the code that is here, which git tells: of all this repository, each time. Here is none.
beforeEach(() => void vi.spyOn(process, 'cwd').mockReturnValue(scratch))
afterAll(async () => {
  vi.restoreAllMocks()
  await desk[Symbol.asyncDispose]()
  for (const folder of [base, scratch]) rmSync(folder, { recursive: true, force: true })
})

/** A slice of `npm run bench -- prove`, which proves thousands. */
describe('six agents whose model is right with some probability', () => {
  it.each(provedAgents.map(({ subject }) => subject.name))(
    '%s ends as the gate says of its asks',
    { tags: 'thorough' },
    async (name) => {
      // Never wrong, flaky before and now, never right.
      for (const model of [0, 4, 5]) {
        const session = await proveOnce(desk, readyOf(name), models[model]!, 10 * model)
        expect(session, JSON.stringify(models[model])).toMatchObject({
          isAsDrawn: true,
          decision: ['proven', '', '', '', 'flaky', 'worse'][model],
        })
      }
    },
  )

  it('an agent that is worse leaves its first bad run as a branch', async () => {
    const { of, agent, keys } = readyOf('travel')
    const { decision, asks, control, branch } = await desk.prove(of, agent, keys, rightWith(of, never, 0))
    expect({ decision, asks: asks.good, control: control.bad }).toEqual({ decision: 'worse', asks: 0, control: 0 })
    expect(parseTape(branch ?? '', join(dirname(of.tape.source), 'branch.tape.jsonl')).header.parent?.id).toBe(
      of.tape.header.id,
    )
  })

  it('one that threw needs a key only where it asked no model: else it is told how it ended', async () => {
    const { of, agent, keys } = readyOf('travel')
    const failing = async (): Promise<never> => {
      throw new Error('no key')
    }
    const late = (input: unknown): Promise<unknown> => Promise.resolve(agent(input)).then(failing)
    await expect(desk.prove(of, failing, keys)).rejects.toMatchObject({ code: 'HARVEST_PROVE_AGENT' })
    await expect(desk.prove(of, late, keys)).rejects.toMatchObject({ code: 'HARVEST_OUTCOME_KIND' })
  })

  it('one that needs what is not on its tape is neither proven nor called worse', async () => {
    const { subject, reworded } = provedAgents[0]!
    const { of, agent, keys } = await makeReady(desk, { subject, reworded })
    const { decision, asks, control, reasons } = await desk.prove(of, agent, keys, rightWith(of, never, 0))
    expect({ decision, asks, control: control.bad }).toEqual({
      decision: 'offline',
      asks: { good: 0, bad: 0, ungraded: 5 },
      control: 0,
    })
    expect(reasons[0]).toContain('not on the tape')
  })

  it('goes on where it was killed, at whichever place of its log', { tags: 'thorough' }, async () => {
    const git = (...args: string[]): Buffer =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: scratch })
    git('init', '--quiet')
    git('commit', '--quiet', '--allow-empty', '-m', 'empty')
    const stopped = await stopAndGoOn(desk, readyOf('docs'), join(scratch, 'proofs'), 5)
    expect(stopped.flatMap(({ wrong }) => wrong ?? [])).toEqual([])
    expect(stopped.length).toBe(5)
    rmSync(join(scratch, '.git'), { recursive: true })
  })
})

describe('the rates of the gate', () => {
  it('are those of the documents', () => {
    const proven = (changed: number): number => gateRates({ changed, recorded: 1 }).shares.proven
    expect([1, 0.9, 0.7, 0.5].map((rate) => Math.round(proven(rate) * 100))).toEqual([100, 96, 34, 3])
    expect(gateRates({ changed: 1, recorded: 1 }).asks).toBe(6)
    expect(gateRates({ changed: 0, recorded: 1 }).asks).toBe(2)
    expect(gateRates({ changed: 0.5, recorded: 0.5 }).shares.flaky).toBeGreaterThan(0.9)
  })
})

describe('edits of the bench, with the model of their world', () => {
  // The bench proves those of all agents.
  it('no unproven regression of two agents is proven, and every harmless edit is', { tags: 'thorough' }, async () => {
    for (const subject of subjects.filter(({ name }) => name === 'refund' || name === 'billing')) {
      const proved = await proveEdits(desk, await desk.record(subject))
      expect(proved.length).toBeGreaterThan(0)
      expect(wronglyCalled(subject, proved)).toEqual([])
    }
  })
})

describe('a case that names an oracle', () => {
  it('has its asks judged by that function alone', { tags: 'thorough' }, async () => {
    vi.mocked(process.cwd).mockReturnValue(repository)
    const { of, agent, keys } = readyOf('travel')
    writeFileSync(
      join(base, 'oracle.mjs'),
      'export const isRight = (run) => !/cannot/.test(JSON.stringify(run.value))\n',
    )
    writeFileSync(join(base, 'lenient.mjs'), 'export const isRight = () => true\n')
    const judged = (file: string): Recorded => ({
      ...of,
      case: `${of.case}oracle: ./${basename(base)}/${file}#isRight\n`,
    })
    const strict = await desk.prove(judged('oracle.mjs'), agent, keys, rightWith(of, never, 0))
    expect([strict.decision, strict.asks]).toEqual(['worse', { good: 0, bad: 2, ungraded: 0 }])
    const lenient = await desk.prove(judged('lenient.mjs'), agent, keys, rightWith(of, never, 0))
    expect([lenient.decision, lenient.asks.good]).toEqual(['proven', 6])
    expect(lenient.judgedBy).toContain('lenient.mjs#isRight sha256-')
  })
})

describe('a case that says with ok and bad what a good run is', () => {
  it('has its asks judged by that, not by its outcome and baseline', async () => {
    const { of, agent, keys } = readyOf('travel')
    const judged = (words: string): Recorded => ({ ...of, case: `${of.case}${words}\n` })
    const lenient = await desk.prove(judged("bad: ['cancel_everything(*)']"), agent, keys, rightWith(of, never, 0))
    expect([lenient.decision, lenient.asks.good]).toEqual(['proven', 6])
    expect(lenient.judgedBy).toMatch(/^ok and bad sha256-/)
    const always = { changed: 1, recorded: 1 }
    const strict = await desk.prove(judged("ok: ['cancel_everything(*)']"), agent, keys, rightWith(of, always, 0))
    expect([strict.decision === 'proven', strict.asks.good, strict.control.good]).toEqual([false, 0, 0])
  })
})

describe('the budget of a proof', () => {
  it('is never passed: an ask begins only when all it may use fits', async () => {
    const { of, agent, keys } = readyOf('refund')
    const whole = await desk.prove(of, agent, keys)
    const each = whole.used.tokens / (whole.asks.good + whole.control.good)
    for (const tokens of [Math.round(each / 2), Math.round(20 * each)]) {
      const { decision, used } = await desk.prove(of, agent, keys, { limits: { tokens } })
      expect(decision).toBe('budget')
      expect(used.tokens).toBeLessThanOrEqual(tokens)
    }
  })

  it('pays the calls of the function of the case too, and is never passed by them', { tags: 'thorough' }, async () => {
    vi.mocked(process.cwd).mockReturnValue(repository)
    const { of, agent, keys } = readyOf('travel')
    let judged = 0
    const server = createServer((request, response) => {
      judged++
      request.resume().on('end', () => response.setHeader('content-type', 'application/json').end(judgement))
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const { port } = server.address() as AddressInfo
    const judge = (model: string): Recorded => {
      const file = `judge-${model}.mjs`
      const source = `import OpenAI from 'openai'
export const isRight = async ({ value }) => {
  const client = new OpenAI({ baseURL: 'http://127.0.0.1:${port}/v1', apiKey: 'k', maxRetries: 0 })
  const messages = [{ role: 'user', content: 'Is it right? ' + JSON.stringify(value) }]
  const { choices } = await client.chat.completions.create({ model: '${model}', messages })
  return choices[0].message.content === 'yes'
}
`
      writeFileSync(join(base, file), source)
      return { ...of, case: `${of.case}oracle: ./${basename(base)}/${file}#isRight\n` }
    }
    const mind = rightWith(of, { changed: 1, recorded: 1 }, 0)
    const whole = await desk.prove(judge('gpt-4o'), agent, keys, { ...mind, parallel: 2 })
    const asks = whole.asks.good + whole.control.good
    expect([whole.decision, judged]).toEqual(['proven', asks])
    // A hundred thousand tokens for each of them.
    expect(whole.used.tokens).toBeGreaterThan(100_000 * asks)
    for (const parallel of [1, 2]) {
      judged = 0
      const { decision, used } = await desk.prove(judge('gpt-4o'), agent, keys, {
        ...mind,
        parallel,
        limits: { tokens: 800_000 },
      })
      expect([decision, judged > 1, used.tokens <= 800_000], `${parallel}`).toEqual(['budget', true, true])
      expect(used.tokens).toBeGreaterThan(100_000 * judged)
    }
    judged = 0
    const unpriced = desk.prove(judge('house-1'), agent, keys, { ...mind, limits: { costUsd: 1 } })
    await expect(unpriced).rejects.toMatchObject({ code: 'HARVEST_BUDGET_PRICE' })
    expect(judged).toBe(1)
    server.closeAllConnections()
    server.close()
  })

  it('in dollars needs a price for every model', async () => {
    const { of } = readyOf('refund')
    const edits = [of.tooled!, benign('another model', ["model: 'gpt-5'", "model: 'house-1'"])]
    const agent = await desk.load('refund', ...edits)
    const keys = (await desk.unprovenKeys(of, agent)) ?? []
    await expect(desk.prove(of, agent, keys, { limits: { costUsd: 1 } })).rejects.toMatchObject({
      code: 'HARVEST_BUDGET_PRICE',
      message: expect.stringContaining('--max-tokens'),
    })
    expect((await desk.prove(of, agent, keys, { limits: { tokens: 10_000_000 } })).model).toBe('house-1')
  })

  it('counts an agent that asks in a circle as bad, and stops it', async () => {
    const { of, agent, keys } = readyOf('triage')
    const calls: Asked[] = []
    const mind = (): Mind => (asked, own) => {
      if (asked.system === of.system) return own(asked)
      calls.push(asked)
      // The first decision, for ever.
      return own({ ...asked, results: [] })
    }
    const { decision } = await desk.prove(of, agent, keys, { mind })
    expect(decision).not.toBe('proven')
    expect(calls.length).toBeLessThan(20 * 3 * 6)
  })
})

/** What a model that judges says. */
const judgement = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o',
  choices: [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 99_000, completion_tokens: 1_000, total_tokens: 100_000 },
})

function readyOf(name: string): Ready {
  const each = ready.get(name)
  if (each === undefined) throw new Error(`${name} was not recorded`)
  return each
}
