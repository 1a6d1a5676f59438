import { setTimeout as sleep } from 'node:timers/promises'
import { type LiveOptions, liveWorld } from './live.ts'
import type { WorldServer } from './server.ts'
import type { Deeds, Scene } from './types.ts'

/** What one run of an agent came to. */
export interface Ran {
  readonly deeds: Deeds
  readonly outcome: Outcome
  /** Bodies of the requests to the model. */
  readonly requests: readonly object[]
}

export type Outcome = { readonly returned: unknown } | { readonly threw: string }

export type Agent = (input: unknown) => Promise<unknown>

/**
 * Runs an agent in a fresh world behind a server. What it does after it returned is still seen, and so is what it left
 * unhandled.
 */
export async function runIn(
  server: WorldServer,
  scene: Scene,
  agent: Agent,
  input: unknown,
  options?: LiveOptions,
): Promise<Ran> {
  const world = liveWorld(scene.open(), options)
  server.enter(world)
  const outcome = await outcomeOf(agent, input)
  const { decisions, calls } = structuredClone(world.deeds)
  // Requests that were on their way when the agent returned belong to nobody. In turns: one long wait of a machine that does
  // other work is over in the turn in which they are made.
  for (let turn = 0; turn < 10; turn++) await sleep(3)
  return { deeds: { decisions, calls }, outcome, requests: world.requests }
}

/** How an agent ended. */
export async function outcomeOf(agent: Agent, input: unknown): Promise<Outcome> {
  try {
    return { returned: await agent(input) }
  } catch (error) {
    return { threw: (error as Error).message }
  }
}

/**
 * What of a run others notice, as text that can be compared: decisions turn by turn, requests that change something in
 * their order, and reads of a turn in any order. How a thrown error is worded is no behaviour; that one was thrown is.
 */
export function noticed({ deeds: { decisions, calls }, outcome }: Ran): string {
  const turns = decisions.map((decision) => (typeof decision === 'string' ? decision : decision.map(sorted).sort()))
  const isRead = (call: Deeds['calls'][number]) =>
    call.method === 'GET' || (call.method === 'TOOL' && /^\/(list|read)_/.test(call.path))
  const byTurn = Object.entries(Object.groupBy(calls, ({ turn }) => turn)).map(([turn, of = []]) => ({
    turn,
    reads: of.filter(isRead).map(sorted).sort(),
    writes: of.filter((call) => !isRead(call)).map(sorted),
  }))
  return withoutUuids(JSON.stringify({ turns, byTurn, ending: ended(outcome) }, null, 1))
}

/** How a run ended, as text that can be compared. */
export function endingOf({ outcome }: Ran): string {
  return withoutUuids(ended(outcome))
}

function ended(outcome: Outcome): string {
  return 'threw' in outcome ? 'threw' : sorted(outcome.returned)
}

/** Ids are drawn anew in each run: what matters is where the same one stands. */
function withoutUuids(text: string): string {
  const known = new Map<string, string>()
  return text.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (uuid) => {
    const name = known.get(uuid) ?? `uuid ${known.size + 1}`
    known.set(uuid, name)
    return name
  })
}

/** JSON with the keys of every object in one order. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  )
}
