import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Subject, subjects } from '../../bench/catch/agents/index.ts'
import { applied, benign, type Edit } from '../../bench/catch/edits.ts'
import { liveWorld } from '../../bench/catch/world/live.ts'
import type { Agent } from '../../bench/catch/world/run.ts'
import { startWorld, type WorldServer } from '../../bench/catch/world/server.ts'
import type { Asked, Decision } from '../../bench/catch/world/types.ts'
import { type ProveAnswer, type ProveRequest, proveTask } from '../../src/blame/prove-task.ts'
import { writeCase } from '../../src/cases/index.ts'
import { type BudgetLimits, openBudget, type TaskContext } from '../../src/fork/index.ts'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay, replayTape, verdictOf } from '../../src/replay/index.ts'
import { type Json, parseTape, readTape, type Tape } from '../../src/tape/index.ts'
import { renderBaseline, traceOf } from '../../src/trace/index.ts'

interface Recorded {
  readonly subject: Subject
  readonly tape: Tape
  readonly case: string
  /** What its model was told first. */
  readonly system: string
}

/** Who decides instead of the world's own mind, where it does not leave that to it. */
type Mind = (asked: Asked, own: (asked: Asked) => Decision) => Decision

interface Asking {
  readonly mind?: Mind
  readonly limits?: BudgetLimits
  readonly signal?: AbortSignal
}

// Inside the repository, as deep as the agents of the bench: their imports are found from there.
const base = mkdtempSync(resolve('.prove-'))
const sources = join(base, 'a/b/c')
let server: WorldServer
const recorded = new Map<string, Recorded>()
let files = 0

beforeAll(async () => {
  mkdirSync(sources, { recursive: true })
  server = await startWorld()
  process.env['GATEWAY'] = server.url
  await installReplay()
  // What the agents print is not what is tested.
  for (const name of ['log', 'info', 'debug'] as const) vi.spyOn(console, name).mockReturnValue(undefined)
  for (const subject of subjects) recorded.set(subject.name, await record(subject))
})
afterAll(async () => {
  vi.restoreAllMocks()
  await server[Symbol.asyncDispose]()
  rmSync(base, { recursive: true, force: true })
})

async function load(name: string, edit?: Edit): Promise<Agent> {
  const source = readFileSync(`bench/catch/agents/${name}/agent.ts`, 'utf8')
  const file = join(sources, `${name}-${++files}.ts`)
  writeFileSync(file, edit === undefined ? source : applied(source, edit))
  return ((await import(pathToFileURL(file).href)) as { agent: Agent }).agent
}

async function record(subject: Subject): Promise<Recorded> {
  const { name, scene } = subject
  const agent = await load(name)
  const world = scene.open()
  const heard: string[] = []
  const decide = (asked: Asked): Decision => {
    heard.push(asked.system)
    return world.decide(asked)
  }
  server.enter(liveWorld(world, { decide }))
  const recorder = createRecorder({ dir: join(base, 'tapes') })
  const [input] = scene.inputs
  await recorder.run({ agent: name, input, id: name }, async () => agent(input))
  const tape = readTape(recorder.lastTape ?? '')
  const { outcome } = tape.close ?? {}
  const text = writeCase({
    id: name,
    agent: name,
    tape: `${name}.tape.jsonl`,
    expect: 'pass',
    baseline: renderBaseline(traceOf(tape.events), {}) as readonly Json[],
    ...(outcome?.status === 'returned' ? { outcome: outcome.value ?? null } : {}),
  })
  return { subject, tape, case: text, system: heard[0] ?? '' }
}

/** The changes of an edited agent that are unproven; `undefined` when its replay is another verdict. */
async function unprovenKeys({ tape }: Recorded, agent: Agent): Promise<readonly string[] | undefined> {
  const { verdict, unproven } = verdictOf(await replayTape(tape, agent))
  return verdict === 'unproven' ? unproven.map(({ key }) => key) : undefined
}

async function prove(of: Recorded, agent: Agent, keys: readonly string[], asking: Asking = {}): Promise<ProveAnswer> {
  const { subject, tape } = of
  const { mind, limits = {}, signal = new AbortController().signal } = asking
  const context: TaskContext = {
    tape,
    tapeFile: tape.source,
    case: { file: join(base, `${subject.name}.case.yaml`), text: of.case },
    async load() {
      const world = subject.scene.open()
      const own = (asked: Asked): Decision => world.decide(asked)
      server.enter(liveWorld(world, { decide: (asked) => (mind === undefined ? own(asked) : mind(asked, own)) }))
      return agent
    },
    importModule: async (file) => (await import(file)) as object,
    replay: {},
    accepted: () => new Set(),
    timeoutMs: 20_000,
    parallel: 1,
    budget: openBudget(limits),
    limits,
    prices: {},
    signal,
    say: () => undefined,
  }
  const request: ProveRequest = { folder: join(base, 'proofs', `${++files}`), keys }
  return (await proveTask(request as unknown as Json, context)) as unknown as ProveAnswer
}

describe('the agents of the bench, with the model of their world', () => {
  it.each(subjects.map(({ name }) => name))(
    'proves no unproven regression of %s, and every harmless edit',
    async (name) => {
      const of = recordedOf(name)
      const wrong: string[] = []
      let asked = 0
      for (const edit of of.subject.edits) {
        const agent = await load(name, edit)
        const keys = await unprovenKeys(of, agent)
        if (keys === undefined) continue
        asked++
        const { decision, reasons } = await prove(of, agent, keys)
        if ((decision === 'proven') === edit.isRegression) wrong.push(`${edit.name}: ${decision} ${reasons.join(' ')}`)
      }
      expect(asked).toBeGreaterThan(0)
      expect(wrong).toEqual([])
    },
  )
})

describe('six agents whose model is right with some probability', () => {
  // An agent that tells its customer something else when it declines needs a tool that is not on its tape.
  const ownWay = ['travel', 'docs', 'billing'] as const
  const offTape = ['refund', 'triage', 'ops'] as const

  it.each(offTape)(
    '%s is not proven when its model is never right, nor called worse by what is off its tape',
    async (name) => {
      const { of, agent, keys } = await reworded(name)
      const { decision, asks, control, reasons } = await prove(of, agent, keys, { mind: rightWith(of, 0, 1) })
      expect({ decision, asks, control: control.bad }).toEqual({
        decision: 'offline',
        asks: { good: 0, bad: 0, ungraded: 5 },
        control: 0,
      })
      expect(reasons[0]).toContain('not on the tape')
    },
  )

  it.each(ownWay)('%s is called worse when its model is never right about the new prompt', async (name) => {
    const { of, agent, keys } = await reworded(name)
    const { decision, asks, control, branch } = await prove(of, agent, keys, { mind: rightWith(of, 0, 1) })
    expect({ decision, asks: asks.good, control: control.bad }).toEqual({ decision: 'worse', asks: 0, control: 0 })
    expect(parseTape(branch ?? '', join(base, 'tapes/branch.tape.jsonl')).header.parent?.id).toBe(of.tape.header.id)
  })

  it.each(ownWay)('%s is called flaky, not worse, when the recorded prompt does no better', async (name) => {
    const { of, agent, keys } = await reworded(name)
    const { decision, control } = await prove(of, agent, keys, { mind: rightWith(of, 0.3, 0.3) })
    expect(decision).toBe('flaky')
    expect(control.bad).toBeGreaterThan(0)
  })

  it('is proven only with enough asks, however right it was at first', async () => {
    const { of, agent, keys } = await reworded('triage')
    const proof = await prove(of, agent, keys, { mind: rightWith(of, 0.9, 1) })
    expect(proof.decision).toBe('proven')
    expect(proof.asks.good).toBeGreaterThanOrEqual(6)
    expect(proof.model).toMatch(/claude/)
  })
})

describe('a case that names an oracle', () => {
  it('has its asks judged by that function alone', async () => {
    const { of, agent, keys } = await reworded('travel')
    writeFileSync(
      join(base, 'oracle.mjs'),
      'export const isRight = (run) => !/cannot/.test(JSON.stringify(run.value))\n',
    )
    writeFileSync(join(base, 'lenient.mjs'), 'export const isRight = () => true\n')
    const judged = (file: string): Recorded => ({
      ...of,
      case: `${of.case}oracle: ./${basename(base)}/${file}#isRight\n`,
    })
    const mind = rightWith(of, 0, 1)
    const strict = await prove(judged('oracle.mjs'), agent, keys, { mind })
    expect([strict.decision, strict.asks]).toEqual(['worse', { good: 0, bad: 2, ungraded: 0 }])
    const lenient = await prove(judged('lenient.mjs'), agent, keys, { mind })
    expect([lenient.decision, lenient.asks.good]).toEqual(['proven', 6])
    expect(lenient.judgedBy).toContain('lenient.mjs#isRight sha256-')
  })
})

describe('the budget of a proof', () => {
  it('is never passed: an ask begins only when all it may use fits', async () => {
    const { of, agent, keys } = await reworded('refund')
    const whole = await prove(of, agent, keys)
    const each = whole.used.tokens / (whole.asks.good + whole.control.good)
    for (const tokens of [Math.round(each / 2), Math.round(20 * each)]) {
      const { decision, used } = await prove(of, agent, keys, { limits: { tokens } })
      expect(decision).toBe('budget')
      expect(used.tokens).toBeLessThanOrEqual(tokens)
    }
  })

  it('in dollars needs a price for every model', async () => {
    const of = recordedOf('refund')
    const edit = {
      name: 'another model',
      isRegression: false,
      changes: [["model: 'gpt-5'", "model: 'house-1'"]],
    } as const
    const agent = await load('refund', edit)
    const keys = (await unprovenKeys(of, agent)) ?? []
    const limits = { costUsd: 1 }
    await expect(prove(of, agent, keys, { limits })).rejects.toMatchObject({
      code: 'HARVEST_BUDGET_PRICE',
      message: expect.stringContaining('--max-tokens'),
    })
    expect((await prove(of, agent, keys, { limits: { tokens: 10_000_000 } })).model).toBe('house-1')
  })

  it('counts an agent that asks in a circle as bad, and stops it', async () => {
    const { of, agent, keys } = await reworded('triage')
    const calls: Asked[] = []
    const mind: Mind = (asked, own) => {
      if (asked.system === of.system) return own(asked)
      calls.push(asked)
      // The first decision, for ever.
      return own({ ...asked, results: [] })
    }
    const { decision } = await prove(of, agent, keys, { mind })
    expect(decision).not.toBe('proven')
    expect(calls.length).toBeLessThan(20 * 3 * 6)
  })
})

function recordedOf(name: string): Recorded {
  const of = recorded.get(name)
  if (of === undefined) throw new Error(`${name} was not recorded`)
  return of
}

/** The agent after its first harmless edit of what its model is told first. */
async function reworded(name: string) {
  const of = recordedOf(name)
  const polite = benign('asked politely', ['You settle disputes.', 'Please settle disputes.'])
  const edits = [...of.subject.edits, ...(name === 'billing' ? [polite] : [])]
  for (const edit of edits.filter(({ isRegression }) => !isRegression)) {
    const agent = await load(name, edit)
    const { verdict, unproven } = verdictOf(await replayTape(of.tape, agent))
    if (verdict === 'unproven' && unproven.some((one) => one.class === 'instructions'))
      return { of, agent, keys: unproven.map(({ key }) => key) }
  }
  throw new Error(`no edit of ${name} words its instructions anew`)
}

/** A model that is right with these probabilities, drawn once a run, and else declines. */
function rightWith({ system }: Recorded, changed: number, unchanged: number): Mind {
  let state = 7
  const random = (): number => {
    // Park and Miller's generator: the same numbers on every machine.
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  let isRight = true
  return (asked, own) => {
    if (asked.results.length === 0) isRight = random() < (asked.system === system ? unchanged : changed)
    return isRight ? own(asked) : 'I cannot help with that.'
  }
}
