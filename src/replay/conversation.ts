import {
  canonicalJson,
  keepsConversation,
  type ModelRequest,
  readModelCall,
  readModelRequest,
} from '../providers/index.ts'
import type { Json } from '../tape/index.ts'
import { steadyPath, originOf } from './address.ts'
import { bodyDifference, firstDifference, likeness, parseRequest } from './difference.ts'
import { isFaithful } from './faithful.ts'
import type { Answer, FoundDrift, Question } from './ladder.ts'
import { isRewording } from './rewording.ts'
import type { ExchangeState } from './step.ts'
import type { ServeRung } from './types.ts'

/** What the search for a conversation needs to know beside the question. */
export interface ConversationSearch {
  /** Every exchange a live host may ask, taken or not. */
  readonly steps: readonly ExchangeState[]
  readonly input: Json | undefined
  readonly mayReword: boolean
  /** Whether all a step waited for when it was recorded was answered. */
  readonly isDue: (step: ExchangeState) => boolean
}

/**
 * Finds the recorded model call that continues the same conversation, when instructions, tools, settings or the
 * wording of a prompt were changed.
 *
 * @returns `undefined` when nothing here can answer; an ambiguity or a missing tool is an answer of its own
 */
export function findConversation(question: Question, search: ConversationSearch): Answer | undefined {
  const live = readModelRequest({ method: question.method, url: question.url, body: question.bodyText })
  // Without a message nothing says which conversation it is; a number that was rounded may belong to another one.
  if (!live || live.messages.length === 0 || !isFaithful(question.bodyText)) return undefined
  if (keepsConversation(live.dialect)) return undefined
  const operation = operationFor(question, live, search.steps)
  const known = search.steps.filter(
    (step) => step.model && sameKind(step, step.model, live) && operation(step.event.url, step.model),
  )
  const messages = canonicalJson(live.messages)
  const same = known.filter((step) => step.model && canonicalJson(step.model.messages) === messages)
  if (same.some((step) => !step.taken)) return pick(same, question, live, 'conversation', search)
  // Embeddings are functions of their text: a changed one has another answer.
  if (!search.mayReword || live.dialect === 'openai-embeddings') return undefined
  const reworded = known.filter((step) => step.model && isRewording(step.model.messages, live.messages, search.input))
  return reworded.some((step) => !step.taken) ? pick(reworded, question, live, 'reworded', search) : undefined
}

/** The same kind of call, answered in the same form: a stream cannot stand in for a whole answer. */
function sameKind(step: ExchangeState, recorded: ModelRequest, live: ModelRequest): boolean {
  return (
    recorded.dialect === live.dialect &&
    Boolean(recorded.params['stream']) === Boolean(live.params['stream']) &&
    differingParams(recorded, live).every((name) => settings.has(name)) &&
    isFaithful(step.bodyText)
  )
}

/**
 * Whether a recorded address asks for the operation of the live one: a token count cannot stand in for an answer.
 *
 * Anthropic's SDKs wrote `?beta=true` where their beta interface is used, and newer ones do not: which betas are asked for
 * stands in a header, and the mark decides nothing. It is passed over where no recorded call has the mark as the live one
 * has it. An agent that was recorded with both interfaces is answered by each for itself.
 *
 * @see https://github.com/anthropics/anthropic-sdk-typescript, "stop sending query params hardcoded in endpoint paths"
 */
function operationFor(
  question: Question,
  live: ModelRequest,
  steps: readonly ExchangeState[],
): (url: string, recorded: ModelRequest) => boolean {
  const asked = operationOf(question.url, live)
  const isAsked = (url: string, recorded: ModelRequest): boolean => operationOf(url, recorded) === asked
  if (live.dialect !== 'anthropic') return isAsked
  if (steps.some(({ event, model }) => model?.dialect === 'anthropic' && isAsked(event.url, model))) return isAsked
  const unmarked = operationOf(withoutMark(question.url), live)
  return (url, recorded) => operationOf(withoutMark(url), recorded) === unmarked
}

function withoutMark(url: string): string {
  if (!URL.canParse(url)) return url
  const bare = new URL(url)
  bare.searchParams.delete('beta', 'true')
  return bare.href
}

/** Last part of the path, and the query: `completions`, `*:generateContent`, `count_tokens`. */
function operationOf(url: string, { model }: ModelRequest): string {
  const [path = '', query = ''] = pathWithout(url, model).split(' ')
  return `${path.split('/').at(-1) ?? ''} ${query}`
}

function pathWithout(url: string, model: string): string {
  const path = steadyPath({ method: '', url }).trim()
  return model === '' ? path : path.replace(encodeURIComponent(model), '*').replace(model, '*')
}

/**
 * Parameters that may change without making it another question. All others may name a conversation kept by the
 * provider, data, or the form of the answer.
 */
const settings = new Set(
  [
    'temperature top_p top_k topP topK min_p seed stop stop_sequences presence_penalty frequency_penalty',
    'repetition_penalty logit_bias max_tokens max_completion_tokens max_output_tokens maxTokens max_tokens_to_sample',
    'response_format tool_choice parallel_tool_calls reasoning reasoning_effort thinking effort verbosity text store',
    'service_tier user metadata safety_identifier prompt_cache_key cache_control stream_options anthropic_version',
    'generationConfig safetySettings toolConfig inferenceConfig additionalModelRequestFields performanceConfig',
    'output_config tool_config functions_config truncation safe_prompt',
  ]
    .join(' ')
    .split(' '),
)

function differingParams(recorded: ModelRequest, live: ModelRequest): readonly string[] {
  const names = new Set([...Object.keys(recorded.params), ...Object.keys(live.params)])
  return [...names].filter(
    (name) => canonicalJson(recorded.params[name] ?? null) !== canonicalJson(live.params[name] ?? null),
  )
}

/** How much nearer the best candidate must be than the next. */
const clearMargin = 0.15

/** Of several candidates the nearest, if it is nearest by a clear margin or all hold the same answer's question. */
function pick(
  candidates: readonly ExchangeState[],
  question: Question,
  live: ModelRequest,
  rung: ServeRung,
  search: ConversationSearch,
): Answer {
  const scored = candidates
    .map((step) => ({ step, score: step.model ? nearness(step.model, live) : 0 }))
    .sort((a, b) => b.score - a.score || a.step.event.n - b.step.event.n)
  const best = scored.find(({ step }) => !step.taken)
  if (!best) return { kind: 'none', nearest: scored[0]?.step, exhausted: true }
  // Identical questions asked several times are answered in the order they were asked.
  const rivals = scored.filter(({ step }) => step.bodyText !== best.step.bodyText)
  // A call answered before that is nearer than all that are left: this one is asked once more, or in another's place.
  const before = rivals.find(({ step, score }) => step.taken && score > best.score)
  if (before) return { kind: 'none', nearest: before.step, exhausted: true }
  const rival = rivals.find(({ step, score }) => {
    if (step.taken) return false
    // Of two prompts rewritten at once nobody can tell which is whose.
    const isParallel = rung === 'reworded' && search.isDue(step)
    return isParallel || best.score - score < clearMargin
  })
  if (rival) return { kind: 'ambiguous', candidates: [best.step, rival.step] }
  const { model } = best.step
  const gone = model && toolGone(best.step, model, live)
  if (gone !== undefined) return { kind: 'toolGone', step: best.step, tool: gone }
  return { kind: 'found', step: best.step, rung, drift: model ? drift(best.step, model, question, live) : [] }
}

function nearness(recorded: ModelRequest, live: ModelRequest): number {
  const same = (part: 'tools' | 'params'): boolean =>
    canonicalJson(recorded[part] as Json) === canonicalJson(live[part] as Json)
  return (
    likeness(JSON.stringify(recorded.instructions), JSON.stringify(live.instructions)) +
    likeness(JSON.stringify(recorded.messages), JSON.stringify(live.messages)) +
    (same('tools') ? 0.1 : 0) +
    (same('params') ? 0.2 : 0) +
    (recorded.model === live.model ? 1 : 0)
  )
}

/** A tool the recorded answer calls and the live request no longer offers: the agent would be told to do what it cannot. */
function toolGone(step: ExchangeState, recorded: ModelRequest, live: ModelRequest): string | undefined {
  const [before, now] = [new Set(recorded.tools.flatMap(toolNames)), new Set(live.tools.flatMap(toolNames))]
  if ([...before].every((name) => now.has(name))) return undefined
  const calls = readModelCall(step.event)?.response?.toolCalls ?? []
  return calls.find(({ name, builtIn }) => !builtIn && before.has(name) && !now.has(name))?.name
}

function toolNames(tool: Json | undefined): readonly string[] {
  if (typeof tool !== 'object' || tool === null) return []
  if (Array.isArray(tool)) return (tool as readonly Json[]).flatMap(toolNames)
  const {
    name,
    function: fn,
    toolSpec,
    functionDeclarations,
    function_declarations: declared,
  } = tool as { readonly [key: string]: Json }
  return typeof name === 'string' ? [name] : [fn, toolSpec, functionDeclarations, declared].flatMap(toolNames)
}

function drift(
  step: ExchangeState,
  recorded: ModelRequest,
  question: Question,
  live: ModelRequest,
): readonly FoundDrift[] {
  const place = (url: string, { model }: ModelRequest): string => originOf(url) + pathWithout(url, model)
  const [before, now] = [place(step.event.url, recorded), place(question.url, live)]
  const endpoint: readonly FoundDrift[] =
    before === now ? [] : [{ class: 'endpoint', path: 'url', recorded: before.trim(), live: now.trim() }]
  const parts = modelDrift(recorded, live)
  return [...endpoint, ...(parts.length > 0 ? parts : movedInstructions(step, question))]
}

/** All parts are equal: then instructions stand at another place between the messages, or a number is spelled anew. */
function movedInstructions(step: ExchangeState, question: Question): readonly FoundDrift[] {
  const difference = bodyDifference(step.bodyText, question.bodyText)
  if (!difference) return []
  const [before, now] = [parseRequest(step.bodyText, step.event.url), parseRequest(question.bodyText, question.url)]
  const isSpelling = canonicalJson(before ?? null) === canonicalJson(now ?? null)
  return [{ class: isSpelling ? 'encoding' : 'instructions', ...difference }]
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
