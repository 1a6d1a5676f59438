import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { vi } from 'vitest'
import { subjects } from '../agents/index.ts'
import type { Variant } from '../project.ts'
import { type LiveOptions, type LiveWorld, liveWorld, type Scripted } from '../world/live.ts'
import { BadRequest, type Call, type Decision, Overloaded, type WireRequest } from '../world/types.ts'
import { type Agent, type Outcome, outcomeOf } from '../world/run.ts'

/** What a test written by hand can look at. */
export interface Trial {
  /** What the fake services were asked, in order. */
  readonly calls: readonly Pick<Call, 'method' | 'path' | 'query' | 'body'>[]
  /** The conversation as the model was last asked, and how the agent ended. */
  readonly conversation: unknown
  /** The run as messages of OpenAI's: calls the agent really made, by turn. */
  readonly trajectory: readonly Message[]
  readonly outcome: Outcome
  readonly script: readonly Scripted[]
}

export interface Message {
  readonly role: 'user' | 'assistant' | 'tool'
  readonly content: string
  readonly tool_calls?: readonly { readonly function: { readonly name: string; readonly arguments: string } }[]
}

/** How long a variant is given for what it did not wait for. */
export const strayMs = 20

/** The variants a test file is for, the agents themselves first. */
export function variantsHere(): readonly Variant[] {
  return JSON.parse(readFileSync('variants.json', 'utf8')) as readonly Variant[]
}

export function sceneOf(name: string) {
  return subjects.find((subject) => subject.name === name)!.scene
}

/** Loads an agent anew. */
export async function load({ file }: Variant): Promise<Agent> {
  vi.resetModules()
  const { agent } = (await import(/* @vite-ignore */ resolve(file))) as { agent: Agent }
  return agent
}

/**
 * Runs a variant on the recorded input, with its services faked and the model faked or scripted; clock, random numbers
 * and ids are frozen, as tests of such agents do.
 *
 * @param script - answers of the model, in order, whatever it is asked; absent: the model decides for itself
 */
export async function trial(variant: Variant, script?: readonly Scripted[]): Promise<Trial> {
  const scene = sceneOf(variant.agent)
  const world = liveWorld(scene.open(), { ...(script !== undefined && { decide: recited(script) }), id: counted() })
  using _frozen = freeze()
  vi.stubGlobal('fetch', fetchOf(world))
  try {
    const outcome = await outcomeOf(await load(variant), scene.inputs[0])
    const calls = structuredClone(world.deeds.calls)
    const decisions = world.deeds.decisions.length
    return {
      calls: calls.map(({ method, path, query, body }) => ({ method, path, query, body })),
      conversation: { asked: world.requests.at(-1), outcome },
      trajectory: trajectoryOf(calls, decisions, outcome),
      outcome,
      script: world.script,
    }
  } finally {
    // What a variant did not wait for must not reach the world of the next one.
    await sleep(strayMs)
    vi.unstubAllGlobals()
  }
}

function recited(script: readonly Scripted[]): NonNullable<LiveOptions['decide']> {
  let next = 0
  return () => {
    const scripted = script[next++]
    if (scripted === undefined) throw new BadRequest('the mock has no answer left')
    if (typeof scripted === 'object' && 'overloaded' in scripted) throw new Overloaded()
    return scripted satisfies Decision
  }
}

/** Ids of a model's answers that are the same in every run. */
export function counted(): (prefix: string) => string {
  let last = 0
  return (prefix) => `${prefix}${String(++last).padStart(4, '0')}`
}

/** One moment, one row of random numbers and ids, the same for every variant; and back-offs of SDKs made short. */
export function freeze(): Disposable {
  const wait = globalThis.setTimeout
  const hurried = (work: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
    wait(() => work(...args), ms > 100 && ms < 65_000 ? ms / 50 : ms)
  globalThis.setTimeout = Object.assign(hurried, wait) as unknown as typeof setTimeout
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 2, 4, 5, 6, 7) })
  let seed = 1
  let ids = 0
  const random = vi.spyOn(Math, 'random').mockImplementation(() => {
    seed = (seed * 16_807) % 2_147_483_647
    return seed / 2_147_483_647
  })
  const uuid = vi.spyOn(crypto, 'randomUUID').mockImplementation(() => {
    return `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`
  })
  return {
    [Symbol.dispose]() {
      globalThis.setTimeout = wait
      random.mockRestore()
      uuid.mockRestore()
      vi.useRealTimers()
    },
  }
}

/** The world as a `fetch`. */
export function fetchOf(world: Pick<LiveWorld, 'answer'>): typeof fetch {
  return async (input, init) => {
    const { method, url, headers, body } = await wireOf(new Request(input, init))
    const { pathname, search } = new URL(url)
    const answer = world.answer({ method, url: pathname + search, headers, body })
    if (answer.delayMs > 0) await sleep(answer.delayMs)
    const isEmpty = answer.body === '' || answer.status === 202
    return new Response(isEmpty ? null : answer.body, { status: answer.status, headers: answer.headers })
  }
}

async function wireOf(request: Request): Promise<WireRequest> {
  const { method, url, headers } = request
  return { method, url, headers: Object.fromEntries(headers), body: await request.text() }
}

function trajectoryOf(calls: readonly Call[], turns: number, outcome: Outcome): readonly Message[] {
  const messages: Message[] = [{ role: 'user', content: 'the recorded input' }]
  for (let turn = 0; turn <= turns; turn++) {
    const made = calls.filter((call) => call.turn === turn)
    if (made.length === 0) continue
    const tool_calls = made.map(({ method, path, query, body }) => ({
      function: { name: `${method} ${path.split('/')[1]}`, arguments: JSON.stringify({ path, ...query, ...body }) },
    }))
    messages.push({ role: 'assistant', content: '', tool_calls })
    messages.push(...made.map(() => ({ role: 'tool' as const, content: '' })))
  }
  return [...messages, { role: 'assistant', content: JSON.stringify(outcome) }]
}
