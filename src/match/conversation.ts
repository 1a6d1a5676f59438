import {
  asksForStream,
  canonicalJson,
  keepsConversation,
  type ModelRequest,
  readAddress,
  readModelCall,
  readForm,
  type WireForm,
} from '../providers/index.ts'
import type { Json } from '../tape/index.ts'
import { steadyPath, originOf } from './address.ts'
import { contradiction } from './contradiction.ts'
import { namesSameData } from './data-names.ts'
import { changedBeside } from './beside-parts.ts'
import { likeness, parse } from './difference.ts'
import { isFaithful } from '../json/faithful.ts'
import type { Match, FoundDrift, MatchRequest } from './matcher.ts'
import { mediaRequest } from './media.ts'
import { changedParts } from './question-parts.ts'
import type { ExchangeState } from './step.ts'
import type { MatchLevel } from './types.ts'

/** What the search for a conversation needs to know beside the question. */
export interface ConversationSearch {
  /** Every exchange a live host may ask, taken or not. */
  readonly steps: readonly ExchangeState[]
  /** Whether a call may be answered by its place in the run. */
  readonly mayReword: boolean
  /** Whether all a step waited for when it was recorded was answered. */
  readonly isDue: (step: ExchangeState) => boolean
  /** Whether the order of calls may decide which of several changed questions this is. */
  readonly isByOrder: boolean
}

/**
 * Finds the recorded model call that stands at the place of a changed one: the same conversation with other instructions,
 * tools or settings; or, where the conversation itself was changed, the one open call that is due and has as many messages
 * of the same speakers.
 *
 * @param asked - the question as a model is asked; absent: none is
 *
 * What it finds is another question than the recorded one, and each difference is drift.
 *
 * @returns `undefined` when nothing here can answer; an ambiguity or a contradiction is an answer of its own
 */
export function findConversation(
  question: MatchRequest,
  asked: ModelRequest | undefined,
  search: ConversationSearch,
): Match | undefined {
  const { bodyText: body } = question
  // Where an answer is not reported as that to another question, images and speech are services.
  const live = asked ?? (search.isByOrder ? mediaRequest(question) : undefined)
  // Without a message nothing says which conversation it is; a number that was rounded may belong to another one.
  if (!live || live.messages.length === 0 || !isWholly(body)) return undefined
  if (keepsConversation(live.dialect)) return undefined
  const operation = operationFor(question, live, search.steps)
  const form = formOf(question, live)
  const known = search.steps.filter(
    (step) =>
      step.asked &&
      sameKind(step, step.asked, live) &&
      formOf({ url: step.event.url, bodyText: step.bodyText }, step.asked) === form &&
      operation(step.event.url, step.asked),
  )
  const messages = canonicalJson(live.messages)
  const isSame = ({ asked }: ExchangeState): boolean =>
    asked !== undefined && canonicalJson(asked.messages) === messages
  const same = known.filter(isSame)
  if (same.some((step) => !step.taken)) return pick(same, question, live, 'conversation', search)
  // Embeddings are functions of their text.
  if (!search.mayReword || same.length > 0 || live.dialect === 'openai-embeddings') return undefined
  // A conversation that was answered in the other form, as a stream or whole, is asked once more: it is no other one.
  const before = search.steps.find((step) => step.taken && step.asked?.dialect === live.dialect && isSame(step))
  if (before !== undefined) return { kind: 'none', nearest: before, exhausted: true }
  // Of several calls that are due at once nothing says which one this is: `pick` has to see all of them.
  const due = known.filter((step) => !step.taken && search.isDue(step))
  const speakers = speakersOf(live)
  if (!due.some((step) => step.asked && speakersOf(step.asked) === speakers)) return undefined
  return pick(due, question, live, 'reworded', search)
}

/** Whether both ask for the same turn of a conversation: as many messages of the same speakers. */
export function isSameTurn(recorded: ModelRequest | undefined, asked: ModelRequest): boolean {
  return recorded !== undefined && speakersOf(recorded) === speakersOf(asked)
}

/** Who speaks in each message, and what kinds of parts they say: a turn more, or one less, is another conversation. */
function speakersOf({ messages }: ModelRequest): string {
  return JSON.stringify(messages.map((message) => speakerOf(message)))
}

function speakerOf(message: Json): Json {
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return typeof message
  const { role, type, speaker } = message as { readonly [key: string]: Json | undefined }
  return [role ?? speaker ?? null, type ?? null]
}

/** A stream cannot stand in for a whole answer. Ollama streams where nothing is said. */
function formOf({ url, bodyText }: Pick<MatchRequest, 'url' | 'bodyText'>, model: ModelRequest): WireForm {
  return readForm(url, bodyText)?.form ?? (asksForStream(model) ? 'stream' : 'whole')
}

/** The same kind of call. */
function sameKind(step: ExchangeState, recorded: ModelRequest, live: ModelRequest): boolean {
  return (
    recorded.dialect === live.dialect &&
    namesSameData(recorded, live) &&
    // The parameters of embeddings are the form of the answer.
    (live.dialect !== 'openai-embeddings' || canonicalJson(recorded.params) === canonicalJson(live.params)) &&
    isWholly(step.bodyText)
  )
}

/** Whether a body says all that its text does; a form does. */
function isWholly(bodyText: string): boolean {
  return parse(bodyText) === undefined || isFaithful(bodyText)
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
  question: MatchRequest,
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

/** Path and query with a `*` in the place of the model, where the path names one. */
function pathWithout(url: string, model: string): string {
  const path = steadyPath({ method: '', url }).trim()
  const isOfPath = readAddress(url).model === model
  const found = model === '' ? null : namedIn(isOfPath ? anyHead : bareHead, model).exec(path)
  return found ? `${path.slice(0, found.index)}*${path.slice(found.index + found[0].length)}` : path
}

/** Behind what an address has a model: of those that `readAddress` reads, and of others whose body names the model as well. */
const [anyHead, bareHead] = ['models?|tunedModels|endpoints|deployments|agents|run|workers-ai', 'models?|deployments']

/** A model as whole segments of a path, each character of it written or escaped. A part of a segment is another word. */
function namedIn(head: string, model: string): RegExp {
  const spelled = [...model].map((char) => {
    const written = char.replace(/\W/g, String.raw`\$&`)
    const octets = Buffer.from(char).toString('hex').toUpperCase()
    return /[\w.~-]/.test(char) ? written : `(?:${written}|${octets.replace(/../g, '%$&')})`
  })
  return new RegExp(`(?<=/(?:${head})/)${spelled.join('')}(?=[/: ]|$)`)
}

/** How much nearer the best candidate must be than the next. */
const clearMargin = 0.15

/**
 * Of several candidates the nearest, if it is nearest by a clear margin. Of several that are due at once, whose questions
 * were all changed, the one that was made first: an agent makes calls that do not wait for each other in the order of its
 * code. The difference says that the order decided; and where the words clearly say another one, neither is taken.
 */
function pick(
  candidates: readonly ExchangeState[],
  question: MatchRequest,
  live: ModelRequest,
  level: MatchLevel,
  search: ConversationSearch,
): Match {
  const scored = candidates
    .map((step) => ({ step, score: step.asked ? nearness(step.asked, live) : 0 }))
    .sort((a, b) => b.score - a.score || a.step.event.n - b.step.event.n)
  const open = scored.filter(({ step }) => !step.taken)
  const [best] = open
  if (!best) return { kind: 'none', nearest: scored[0]?.step, exhausted: true }
  // A call answered before that is nearer than all that are left: this one is asked once more, or in another's place.
  const before = scored.find(
    ({ step, score }) => step.taken && score > best.score && step.bodyText !== best.step.bodyText,
  )
  if (before) return { kind: 'none', nearest: before.step, exhausted: true }
  const near = open.filter(({ score }) => best.score - score < clearMargin).map(({ step }) => step)
  // Of prompts rewritten at once the words alone do not say which is whose.
  const rivals = level === 'reworded' ? open.map(({ step }) => step) : near
  // Identical questions asked several times are answered in the order they were asked.
  const isOpen = rivals.some((step) => step.bodyText !== best.step.bodyText && !isToldApart(best.step, step, live))
  const step = isOpen ? firstMade(rivals, live, search) : best.step
  if (step === undefined || !near.includes(step)) {
    const other = step ?? near.find(({ bodyText }) => bodyText !== best.step.bodyText)
    const candidates = other === undefined ? [best.step] : [best.step, other]
    return { kind: 'ambiguous', candidates: candidates.sort((a, b) => a.number - b.number) }
  }
  const { asked } = step
  if (!asked) return { kind: 'found', step, level, drift: [] }
  const broken = contradiction(asked, live, readModelCall(step.event)?.response)
  if (broken !== undefined) return { ...broken, step }
  const found = drift(step, asked, question, live)
  return { kind: 'found', step, level, drift: isOpen ? found.map(byOrder) : found }
}

/** Which of several due calls is made now, by the order they were recorded in; those are not considered whose settings are not its own if others have them. */
function firstMade(
  rivals: readonly ExchangeState[],
  live: ModelRequest,
  { isDue, isByOrder }: ConversationSearch,
): ExchangeState | undefined {
  if (!isByOrder) return undefined
  let left = rivals.filter((step) => isDue(step))
  for (const part of ['instructions', 'model', 'tools', 'params'] as const) {
    const equal = left.filter(
      ({ asked }) => asked && canonicalJson(asked[part] as Json) === canonicalJson(live[part] as Json),
    )
    if (equal.length > 0) left = equal
  }
  const [first] = left.sort((a, b) => a.event.n - b.event.n)
  return isSameTurn(first?.asked, live) ? first : undefined
}

/** A reader has to see that nothing but the order tells which recorded question it is compared with. */
function byOrder(found: FoundDrift): FoundDrift {
  return { ...found, part: `${found.part ?? found.path} of a call matched by order` }
}

/**
 * Whether the instructions say which of two calls this is: those of the one, and of the other none. Two agents at work
 * side by side have a prompt each, and that of one of them changed.
 */
function isToldApart(best: ExchangeState, rival: ExchangeState, live: ModelRequest): boolean {
  const of = (request: ModelRequest | undefined): string => canonicalJson((request?.instructions ?? []) as Json)
  const asked = of(live)
  return live.instructions.length > 0 && of(best.asked) === asked && of(rival.asked) !== asked
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

function drift(
  step: ExchangeState,
  recorded: ModelRequest,
  question: MatchRequest,
  live: ModelRequest,
): readonly FoundDrift[] {
  const place = (url: string, { model }: ModelRequest): string => originOf(url) + pathWithout(url, model)
  const [before, now] = [place(step.event.url, recorded), place(question.url, live)]
  // Which betas are asked for stands in a header: the mark in the address decides nothing, see `operationFor`.
  const isMark =
    live.dialect === 'anthropic' &&
    place(withoutMark(step.event.url), recorded) === place(withoutMark(question.url), live)
  const difference = { path: 'url', recorded: before.trim(), live: now.trim() }
  const endpoint: readonly FoundDrift[] =
    before === now
      ? []
      : isMark
        ? [{ class: 'encoding', part: 'address', ...difference }]
        : [{ class: 'endpoint', part: 'host of the model', ...difference }]
  const sides = [
    { url: step.event.url, bodyText: step.bodyText, asked: recorded },
    { url: question.url, bodyText: question.bodyText, asked: live },
  ] as const
  const parts = changedParts(recorded, live, [step.event.url, question.url])
  return [...endpoint, ...parts, ...changedBeside(sides, parts)]
}
