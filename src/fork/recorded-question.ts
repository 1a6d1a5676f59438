import { canonicalJson, isGenerative, dialectSpoken } from '../providers/index.ts'
import { isList, isMap, parseJson, without } from '../json/canonical.ts'
import { type ExchangeState, stepStates } from '../match/step.ts'
import type { Json, Tape } from '../tape/index.ts'
import type { AskedModel } from './plan.ts'

/** A conversation with a model, as a request to it says it. */
interface Conversation {
  readonly body: { readonly [name: string]: Json }
  readonly field: string
  readonly turns: readonly Json[]
}

/** A recorded conversation, and what the agent asked in its place. */
interface Root extends Conversation {
  readonly path: string
  asked?: readonly Json[]
}

const fields = ['messages', 'input', 'contents', 'inputs']

/**
 * Asks what was recorded in the place of what the agent asks now: the control of a changed question.
 *
 * The first request of each conversation behind the kept steps is asked as it was recorded. Later ones are recorded up to
 * there and go on as this run went on: the agent of today acts on what its model says to the recorded question.
 *
 * @param keep - steps that are kept
 * @returns the request to send; `undefined` when it is unknown which recorded question stands in its place
 */
export function recordedQuestions(tape: Tape, keep: number): (asked: AskedModel) => AskedModel | undefined {
  const roots: Root[] = []
  for (const step of stepStates(tape).slice(keep)) {
    const root = rootOf(step)
    if (root !== undefined && !roots.some((other) => other.path === root.path && begins(root.turns, other.turns)))
      roots.push(root)
  }
  return ({ url, body }) => {
    const live = conversationOf(body)
    if (live === undefined) return undefined
    const open = roots.filter(({ asked }) => asked === undefined)
    const root =
      roots.find(({ asked }) => asked !== undefined && begins(live.turns, asked)) ??
      open.find(({ turns }) => spoken(turns).length === spoken(live.turns).length) ??
      // One that has more or fewer turns by now, and opens the same.
      open.find(({ turns }) => open.length === 1 && openingOf(turns) === openingOf(live.turns))
    if (root === undefined) return undefined
    root.asked ??= live.turns
    const turns = [...root.turns, ...live.turns.slice(root.asked.length)]
    const to = new URL(url)
    to.pathname = root.path
    return {
      url: to.href,
      body: JSON.stringify({ ...without(root.body, ...form), ...formOf(live.body), [root.field]: turns }),
    }
  }
}

/** How the client reads the answer, and what carries a conversation on: that is the live run's. */
const form = ['stream', 'stream_options', 'previous_response_id', 'conversation']

function formOf(body: Conversation['body']): Conversation['body'] {
  return Object.fromEntries(form.flatMap((name) => (name in body ? [[name, body[name] ?? null]] : [])))
}

function rootOf(step: ReturnType<typeof stepStates>[number]): Root | undefined {
  if (step.event.kind !== 'exchange') return undefined
  const { event, bodyText } = step as ExchangeState
  const { method, url } = event
  if (!isGenerative(dialectSpoken({ method, url, body: bodyText }))) return undefined
  const found = conversationOf(bodyText)
  return found && { ...found, path: new URL(url).pathname }
}

function conversationOf(text: string): Conversation | undefined {
  const body = parseJson(text)
  if (!isMap(body)) return undefined
  const field = fields.find((name) => Array.isArray(body[name]) || typeof body[name] === 'string')
  if (field === undefined) return undefined
  const turns = body[field]
  return { body, field, turns: isList(turns) ? turns : [{ role: 'user', content: turns ?? '' }] }
}

/** Whether a conversation goes on from another, or is the same. */
function begins(turns: readonly Json[], first: readonly Json[]): boolean {
  return (
    first.length <= turns.length && first.every((turn, i) => canonicalJson(turn) === canonicalJson(turns[i] ?? null))
  )
}

function openingOf(turns: readonly Json[]): string {
  return canonicalJson(spoken(turns)[0] ?? null)
}

/** Turns but for instructions: a changed question may have more or fewer of those. */
function spoken(turns: readonly Json[]): readonly Json[] {
  return turns.filter((turn) => !(isMap(turn) && (turn['role'] === 'system' || turn['role'] === 'developer')))
}
