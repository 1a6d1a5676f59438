import { canonicalJson, type ModelRequest, readModelRequest } from '../providers/index.ts'
import type { Json } from '../tape/index.ts'
import { closeness, firstDifference, likeness, parse } from './difference.ts'
import { isRewording } from './rewording.ts'
import type { ExchangeState } from './step.ts'
import type { DriftClass, ServeRung } from './types.ts'

/** A request of the replayed agent in the form the tape has its requests in: redacted, boundary steadied. */
export interface Question {
  readonly via: ExchangeState['event']['via']
  readonly method: string
  readonly url: string
  readonly bodyText: string
}

export interface FoundDrift {
  readonly class: DriftClass
  readonly path: string
  readonly recorded: string
  readonly live: string
}

export type Answer =
  | { readonly kind: 'found'; readonly step: ExchangeState; readonly rung: ServeRung; readonly drift: readonly FoundDrift[] }
  /** Two recorded answers are equally close. */
  | { readonly kind: 'ambiguous'; readonly candidates: readonly ExchangeState[] }
  /** No recorded answer is for this question; `nearest` is what comes closest. */
  | { readonly kind: 'none'; readonly nearest: ExchangeState | undefined; readonly exhausted: boolean }

/**
 * The serve key: decides which recorded exchange answers a request. Four rungs, strictest first; each asks only what
 * the one before left open, and none guesses between different conversations.
 *
 * 1. `exact`: the same body, byte for byte
 * 2. `canonical`: the same JSON value, written differently
 * 3. `conversation`: a model call with the same messages; instructions, tool schemas or parameters may differ
 * 4. `reworded`: the same, when a prompt template was rewritten around unchanged data
 */
export class Ladder {
  readonly #exact = new Map<string, ExchangeState[]>()
  readonly #byPath = new Map<string, ExchangeState[]>()
  readonly #canonical = new Map<string, Map<string, ExchangeState[]>>()
  readonly #steps: readonly ExchangeState[]
  readonly #serve: ServeRung
  readonly #input: Json | undefined

  constructor(steps: readonly ExchangeState[], serve: ServeRung, input: Json | undefined) {
    this.#steps = steps
    this.#serve = serve
    this.#input = input
    for (const step of steps) {
      add(this.#exact, `${address(step.event)}\n${step.bodyText}`, step)
      add(this.#exact, `${pathKey(step.event)}\n${step.bodyText}`, step)
      add(this.#byPath, pathKey(step.event), step)
    }
  }

  find(question: Question): Answer {
    const exact =
      untaken(this.#exact.get(`${address(question)}\n${question.bodyText}`)) ??
      untaken(this.#exact.get(`${pathKey(question)}\n${question.bodyText}`))
    if (exact) return found(exact, 'exact', endpointDrift(exact, question))
    if (this.#serve !== 'exact') {
      const canonical = this.#findCanonical(question)
      if (canonical) {
        const drift = { class: 'encoding', path: '', recorded: 'same value', live: 'written differently' } as const
        return found(canonical, 'canonical', [drift, ...endpointDrift(canonical, question)])
      }
      const conversation = this.#serve === 'canonical' ? undefined : this.#findConversation(question)
      if (conversation) return conversation
    }
    const nearest = this.nearest(question)
    const open = this.#byPath.get(pathKey(question))?.some((step) => !step.taken) ?? false
    return { kind: 'none', nearest, exhausted: !open }
  }

  #findCanonical(question: Question): ExchangeState | undefined {
    const value = canonicalBody(question.bodyText, question.via)
    if (value === undefined) return undefined
    const key = pathKey(question)
    let index = this.#canonical.get(key)
    if (!index) {
      index = new Map()
      for (const step of this.#byPath.get(key) ?? []) {
        const canonical = canonicalBody(step.bodyText, step.event.via)
        if (canonical !== undefined) add(index, canonical, step)
      }
      this.#canonical.set(key, index)
    }
    return untaken(index.get(value))
  }

  #findConversation(question: Question): Answer | undefined {
    const live = readModelRequest({ method: question.method, url: question.url, body: question.bodyText })
    if (!live) return undefined
    const open = this.#steps.filter((step) => !step.taken && step.model && sameOperation(step.model, live))
    const messages = canonicalJson(live.messages)
    const same = open.filter((step) => step.model && canonicalJson(step.model.messages) === messages)
    if (same.length > 0) return pick(same, live, 'conversation')
    if (this.#serve !== 'reworded') return undefined
    const input = this.#input
    const reworded = open.filter((step) => step.model && isRewording(step.model.messages, live.messages, input))
    return reworded.length > 0 ? pick(reworded, live, 'reworded') : undefined
  }

  /** The recorded exchange most like a request, open ones first. */
  nearest(question: Question): ExchangeState | undefined {
    const samePath = this.#byPath.get(pathKey(question)) ?? []
    const pool = samePath.some((step) => !step.taken) ? samePath.filter((step) => !step.taken) : samePath.length > 0 ? samePath : this.#steps
    let best: ExchangeState | undefined
    let bestScore = -1
    for (const step of pool.slice(0, 500)) {
      const score = closeness(step.bodyText, question.bodyText) + closeness(address(step.event), address(question))
      if (score > bestScore) {
        best = step
        bestScore = score
      }
    }
    return best
  }
}

/** Of several candidates the nearest, if it is nearest by a clear margin or all hold the same answer's question. */
function pick(candidates: readonly ExchangeState[], live: ModelRequest, rung: ServeRung): Answer {
  const scored = candidates
    .map((step) => ({ step, score: step.model ? nearness(step.model, live) : 0 }))
    .sort((a, b) => b.score - a.score || a.step.event.n - b.step.event.n)
  const [best, second] = scored
  if (!best) return { kind: 'none', nearest: undefined, exhausted: false }
  // Identical questions asked several times are answered in the order they were asked.
  const isTwin = second !== undefined && second.step.bodyText === best.step.bodyText
  if (second && !isTwin && best.score - second.score < clearMargin) {
    return { kind: 'ambiguous', candidates: [best.step, second.step] }
  }
  return found(best.step, rung, best.step.model ? modelDrift(best.step.model, live) : [])
}

/** How much nearer the best candidate must be than the next. */
const clearMargin = 0.15

function nearness(recorded: ModelRequest, live: ModelRequest): number {
  const text = (request: ModelRequest): string => JSON.stringify(request.messages)
  const instructions = (request: ModelRequest): string => JSON.stringify(request.instructions)
  return (
    likeness(instructions(recorded), instructions(live)) +
    likeness(text(recorded), text(live)) +
    (canonicalJson(recorded.tools) === canonicalJson(live.tools) ? 0.1 : 0)
  )
}

function modelDrift(recorded: ModelRequest, live: ModelRequest): readonly FoundDrift[] {
  const parts = ['model', 'instructions', 'tools', 'params', 'messages'] as const
  return parts.flatMap((part) => {
    const before = recorded[part] as Json
    const now = live[part] as Json
    if (canonicalJson(before) === canonicalJson(now)) return []
    const difference = firstDifference(before, now, part)
    return difference ? [{ class: part, ...difference }] : []
  })
}

/** The same kind of call, answered in the same form: a stream cannot stand in for a whole answer. */
function sameOperation(recorded: ModelRequest, live: ModelRequest): boolean {
  return recorded.dialect === live.dialect && Boolean(recorded.params['stream']) === Boolean(live.params['stream'])
}

function endpointDrift(step: ExchangeState, question: Question): readonly FoundDrift[] {
  const [recorded, live] = [origin(step.event.url), origin(question.url)]
  return recorded === live ? [] : [{ class: 'endpoint', path: 'url', recorded, live }]
}

function canonicalBody(text: string, via: Question['via']): string | undefined {
  const value = parse(text)
  if (value === undefined) return undefined
  if (via !== 'stdio' || typeof value !== 'object' || value === null || Array.isArray(value)) return canonicalJson(value)
  // The id of a JSON-RPC request is a counter of the client; the scripted child answers under the live one.
  return canonicalJson({ ...value, id: null })
}

interface Addressed {
  readonly method: string
  readonly url: string
}

function address({ method, url }: Addressed): string {
  return `${method} ${origin(url)}${pathOf(url)}`
}

/** Without the host: a test may point the agent elsewhere. */
function pathKey({ method, url }: Addressed): string {
  return `${method} ${pathOf(url)}`
}

function origin(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : ''
}

function pathOf(url: string): string {
  if (!URL.canParse(url)) return url
  const { pathname, searchParams, protocol } = new URL(url)
  if (protocol === 'stdio:') return pathname
  const query = [...searchParams].map(([name, value]) => `${name}=${value}`).sort()
  return query.length === 0 ? pathname : `${pathname}?${query.join('&')}`
}

function found(step: ExchangeState, rung: ServeRung, drift: readonly FoundDrift[]): Answer {
  return { kind: 'found', step, rung, drift }
}

function untaken(steps: ExchangeState[] | undefined): ExchangeState | undefined {
  // Taken steps at the front are dropped, so that a thousand equal requests cost a thousand looks, not a million.
  while (steps?.[0]?.taken) steps.shift()
  return steps?.find((step) => !step.taken)
}

function add<K>(map: Map<K, ExchangeState[]>, key: K, step: ExchangeState): void {
  const list = map.get(key)
  if (list) list.push(step)
  else map.set(key, [step])
}
