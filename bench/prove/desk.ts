import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type ProveAnswer, type ProveRequest, proveTask } from '../../src/blame/prove-task.ts'
import { writeCase } from '../../src/cases/index.ts'
import { type BudgetLimits, openBudget } from '../../src/live/index.ts'
import { type TaskContext } from '../../src/jobs/index.ts'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay, replayTape, verdictOf } from '../../src/replay/index.ts'
import { type Json, readTape, type Tape } from '../../src/tape/index.ts'
import { renderBaseline, traceOf } from '../../src/trace/index.ts'
import type { Subject } from '../catch/agents/index.ts'
import { applied, type Edit } from '../catch/edits.ts'
import { liveWorld } from '../catch/world/live.ts'
import type { Agent } from '../catch/world/run.ts'
import { startWorld } from '../catch/world/server.ts'
import type { Asked, Decision } from '../catch/world/types.ts'

/** An agent that was recorded in its world. */
export interface Recorded {
  readonly subject: Subject
  /** What every version of it has. */
  readonly tooled?: Edit
  readonly tape: Tape
  /** The text of its case. */
  readonly case: string
  /** What its model was told first. */
  readonly system: string
}

/** Who decides instead of the world's own mind, where it does not leave that to it. One is made for each ask. */
export type Mind = (asked: Asked, own: (asked: Asked) => Decision) => Decision

/** How a proof is made. */
export interface Asking {
  /** The mind of the next ask. Default: the world's own. */
  readonly mind?: () => Mind
  readonly limits?: BudgetLimits
  readonly signal?: AbortSignal
  /** Where its log is kept. Default: another folder each time. */
  readonly folder?: string
  readonly prove?: TaskContext['prove']
  /** Default 1. */
  readonly parallel?: number
}

/** Agents, their world, and proofs of them, in this process. */
export interface Desk extends AsyncDisposable {
  /** The agent's module, after its edits. */
  load(name: string, ...edits: readonly Edit[]): Promise<Agent>
  record(subject: Subject, tooled?: Edit): Promise<Recorded>
  /** The changes of an agent that are unproven; `undefined` when its replay is another verdict. */
  unprovenKeys(of: Recorded, agent: Agent): Promise<readonly string[] | undefined>
  /** A whole proof: the replay, the asks and their controls through real forks, and the verdict. */
  prove(of: Recorded, agent: Agent, keys: readonly string[], asking?: Asking): Promise<ProveAnswer>
}

const agents = resolve(import.meta.dirname, '../catch/agents')

/**
 * Opens a desk. Its agents find their imports from `base`, so that lies inside the repository.
 *
 * @param base - an empty folder of the caller, directly in the repository
 */
export async function openDesk(base: string): Promise<Desk> {
  // As deep as the agents of the bench.
  const sources = join(base, 'a/b/c')
  mkdirSync(sources, { recursive: true })
  const server = await startWorld()
  process.env['GATEWAY'] = server.url
  await installReplay()
  let files = 0
  return {
    load,
    record,
    unprovenKeys,
    prove,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
    },
  }

  async function load(name: string, ...edits: readonly Edit[]): Promise<Agent> {
    const source = edits.reduce(applied, readFileSync(join(agents, name, 'agent.ts'), 'utf8'))
    const file = join(sources, `${name}-${++files}.ts`)
    writeFileSync(file, source)
    return ((await import(pathToFileURL(file).href)) as { agent: Agent }).agent
  }

  async function record(subject: Subject, tooled?: Edit): Promise<Recorded> {
    const { name, scene } = subject
    const agent = await load(name, ...(tooled === undefined ? [] : [tooled]))
    const world = scene.open()
    const heard: string[] = []
    const decide = (asked: Asked): Decision => {
      heard.push(asked.system)
      return world.decide(asked)
    }
    server.enter(liveWorld(world, { decide }))
    const recorder = createRecorder({ dir: join(base, 'tapes', `${++files}`) })
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
    return { subject, tape, case: text, system: heard[0] ?? '', ...(tooled === undefined ? {} : { tooled }) }
  }

  async function unprovenKeys({ tape }: Recorded, agent: Agent): Promise<readonly string[] | undefined> {
    const { verdict, unproven } = verdictOf(await replayTape(tape, agent))
    return verdict === 'unproven' ? unproven.map(({ key }) => key) : undefined
  }

  async function prove(of: Recorded, agent: Agent, keys: readonly string[], asking: Asking = {}): Promise<ProveAnswer> {
    const { subject, tape } = of
    const { mind, limits = {}, signal = new AbortController().signal, folder, prove: plan, parallel = 1 } = asking
    const context: TaskContext = {
      tape,
      tapeFile: tape.source,
      case: { file: join(base, `${subject.name}.case.yaml`), text: of.case },
      async load() {
        const world = subject.scene.open()
        const own = (asked: Asked): Decision => world.decide(asked)
        const decide = mind?.()
        server.enter(liveWorld(world, { decide: (asked) => (decide === undefined ? own(asked) : decide(asked, own)) }))
        return agent
      },
      accepted: () => new Map(),
      isGreen: () => false,
      difference: () => undefined,
      importModule: async (file) => (await import(file)) as object,
      replay: {},
      ...(plan === undefined ? {} : { prove: plan }),
      timeoutMs: 120_000,
      parallel,
      budget: openBudget(limits),
      limits,
      prices: {},
      signal,
      surroundings: { reads: () => ({ salt: '', set: [], unset: [], values: '', files: {} }), changedSince: () => [] },
      say: () => undefined,
      saySpent: () => undefined,
    }
    const request: ProveRequest = { folder: folder ?? join(base, 'proofs', `${++files}`), keys }
    return (await proveTask(request as unknown as Json, context)) as unknown as ProveAnswer
  }
}
