// Over 300 lines: one matcher: the levels by which a recorded question is found, in their order.
import {
  canonicalJson,
  type FormedRequest,
  inOtherForm,
  type ModelRequest,
  readForm,
  readModelRequest,
} from '../providers/index.ts'
import { headersFlag, type Json, type TapeHeader } from '../tape/index.ts'
import { hostDrift, Hosts, originOf, steadyPath, writtenOrigin, writtenPath } from './address.ts'
import { findConversation, isSameTurn } from './conversation.ts'
import { type LiveWhole, sameWhole } from './cut-request.ts'
import { closeness, parse, parseRequest, spelled } from './difference.ts'
import { isFaithful, parseExactly } from '../json/faithful.ts'
import { clientDrift, isRpcRequest, steadyRpc, withoutNotes } from './rpc.ts'
import type { ExchangeState } from './step.ts'
import { sameTarget } from './target.ts'
import type { DriftClass, MatchLevel } from './types.ts'

/** A request of the replayed agent in the form the tape has its requests in: redacted, boundary steadied. */
export interface MatchRequest {
  readonly via: ExchangeState['event']['via']
  readonly method: string
  readonly url: string
  readonly bodyText: string
  /** What its headers say is asked for, see `targetOf`. */
  readonly target: string
  /** The body is larger than the recorder keeps, and `bodyText` is its two ends. */
  readonly whole?: LiveWhole
}

export interface FoundDrift {
  readonly class: DriftClass
  readonly path: string
  /** The same for people. Default: `path`. */
  readonly part?: string
  /** Excerpts of both sides at the first difference. */
  readonly recorded: string
  readonly live: string
  /** Both sides of the whole part, where that is more than the excerpts. */
  readonly before?: Json | undefined
  readonly now?: Json | undefined
  /** Which of an agent's calls it is about, where the part itself does not say: the instructions they are made with. */
  readonly scope?: string
  /** Tells changes apart that look the same: a digest of the value behind a placeholder. */
  readonly id?: string
  /** The part belongs to the conversation itself. */
  readonly isData?: true
  /** Variables with one value on this machine, which was sent here: for which of them it stands is unknown. */
  readonly sharedBy?: readonly string[]
}

export type Match =
  | {
      readonly kind: 'found'
      readonly step: ExchangeState
      readonly level: MatchLevel
      readonly drift: readonly FoundDrift[]
    }
  /** Several recorded answers are equally close. */
  | { readonly kind: 'ambiguous'; readonly candidates: readonly ExchangeState[] }
  /** The recorded answer calls a tool the request does not offer any more. */
  | { readonly kind: 'toolGone'; readonly step: ExchangeState; readonly tool: string }
  /** The request demands what the recorded answer does not do. */
  | { readonly kind: 'contradicted'; readonly step: ExchangeState; readonly how: string }
  /** No recorded answer is for this question; `nearest` is what comes closest. */
  | { readonly kind: 'none'; readonly nearest: ExchangeState | undefined; readonly exhausted: boolean }

/** An answer that was recorded in the other form. */
export interface InOtherForm {
  /** The request, with the form it asks for. */
  readonly asked: FormedRequest
  readonly answer: Extract<Match, { kind: 'found' }>
}

type TapeFacts = Pick<TapeHeader, 'imported'> & Partial<Pick<TapeHeader, 'flags'>>

/**
 * Request matching: decides which recorded exchange answers a request. Four levels, strictest first; each asks only what
 * the one before left open, and none guesses between different conversations.
 *
 * 1. `exact`: the same address and body, byte for byte
 * 2. `canonical`: the same JSON value, the same query, written differently; Gemini's fields and bytes in either of their spellings
 * 3. `conversation`: a model call with the same messages; instructions, tool schemas or settings may differ
 * 4. `reworded`: the one open model call that is due at this place of the run, no matter what its messages say
 *
 * The first two find the recorded question. The others find what stands in its place: another question, whose recorded
 * answer proves nothing and only shows what follows.
 *
 * At every level a host that is not on the tape may stand for one that is, and headers that name an operation or a part
 * are part of the question.
 */
export class Matcher {
  /** By written path, then by body. Made when something else is asked than what comes next: bodies are long, and each is hashed. */
  #bodies: ReadonlyMap<string, ReadonlyMap<string, ExchangeState[]>> | undefined
  /** Every step before this one is taken. */
  #next = 0
  /** Made when something is asked that the tape does not have as it is. */
  #paths: ReadonlyMap<string, ExchangeState[]> | undefined
  readonly #canonical = new Map<string, Map<string, ExchangeState[]>>()
  readonly #steps: readonly ExchangeState[]
  readonly #serve: MatchLevel
  #asked: { readonly question: MatchRequest; readonly model: ModelRequest | undefined } | undefined
  readonly #tape: TapeFacts
  /** Every header that says what is asked for is on the tape. */
  readonly #isWhole: boolean
  /** The tape is the log of an MCP client that was not the agent. */
  readonly #isForeign: boolean
  readonly #isDue: (step: ExchangeState) => boolean
  readonly #isByOrder: boolean
  readonly #hosts: Hosts

  constructor(
    steps: readonly ExchangeState[],
    serve: MatchLevel,
    tape: TapeFacts,
    isDue: (step: ExchangeState) => boolean,
    /** Of calls at once whose questions were all changed, the order may decide: only where each such answer is reported. */
    { isByOrder = false } = {},
  ) {
    this.#steps = steps
    this.#serve = serve
    this.#tape = tape
    this.#isWhole = tape.flags?.includes(headersFlag) === true
    this.#isForeign = tape.imported?.format.startsWith('mcp-') ?? false
    this.#isDue = isDue
    this.#isByOrder = isByOrder
    this.#hosts = new Hosts(steps.map((step) => step.event.url))
  }

  get #exact(): ReadonlyMap<string, ReadonlyMap<string, ExchangeState[]>> {
    if (this.#bodies !== undefined) return this.#bodies
    const byWrittenPath = Map.groupBy(this.#steps, (step) => writtenPath(step.event))
    return (this.#bodies = new Map(
      [...byWrittenPath].map(([path, group]) => [path, Map.groupBy(group, ({ bodyText }) => bodyText)]),
    ))
  }

  get #byPath(): ReadonlyMap<string, ExchangeState[]> {
    return (this.#paths ??= Map.groupBy(this.#steps, (step) => steadyPath(step.event)))
  }

  /** The step that answers a request of exactly these bytes to exactly this address, as things stand now, if its headers fit. */
  expected(asked: Omit<MatchRequest, 'target'>): ExchangeState | undefined {
    const next = this.#nextIfAsked(asked)
    if (next !== undefined) return next
    const steps = this.#same(asked)
    dropTaken(steps)
    return steps?.[0]?.event.url === asked.url ? steps[0] : undefined
  }

  /** The first open step of all, if it is of exactly these bytes, to exactly this address. */
  #nextIfAsked({ method, url, bodyText }: Omit<MatchRequest, 'target'>): ExchangeState | undefined {
    while (this.#steps[this.#next]?.taken) this.#next++
    const step = this.#steps[this.#next]
    const isAsked = step?.event.method === method && step.event.url === url && step.bodyText === bodyText
    return isAsked ? step : undefined
  }

  /** Whether the tape has an open request of exactly these bytes, to exactly this address. */
  holds(asked: MatchRequest): boolean {
    const next = this.#nextIfAsked(asked)
    if (next !== undefined && this.#isAimed(next, asked)) return true
    const steps = this.#same(asked)
    dropTaken(steps)
    return steps?.some((step) => !step.taken && step.event.url === asked.url && this.#isAimed(step, asked)) ?? false
  }

  /** Takes note that a request of exactly this address was answered without being looked for. */
  answered(url: string): void {
    this.#hosts.answered(url, url)
  }

  find(question: MatchRequest): Match {
    const answer = this.#climb(question)
    if (answer.kind === 'found') this.#hosts.answered(answer.step.event.url, question.url)
    return answer
  }

  /**
   * The answer to a request that asks for the other form of it: as a stream for what was recorded whole, or the other way
   * round. To be asked where {@link find} has found none. The form is no part of the question, see `inAskedForm`.
   */
  findInOtherForm(question: MatchRequest): InOtherForm | undefined {
    const { method, url, bodyText } = question
    if (this.#serve === 'exact' || method.toUpperCase() !== 'POST') return undefined
    const asked = readForm(url, bodyText)
    if (asked === undefined || !isFaithful(bodyText)) return undefined
    for (const other of inOtherForm(asked)) {
      const answer = this.find({ ...question, url: other.url, bodyText: other.text })
      if (answer.kind !== 'found') continue
      // It was written again here: that it is spelled differently says nothing.
      const drift = answer.drift.filter((found) => found.class !== 'encoding')
      return { asked, answer: { ...answer, level: answer.level === 'exact' ? 'canonical' : answer.level, drift } }
    }
    return undefined
  }

  #climb(question: MatchRequest): Match {
    const inTurn = this.#findInTurn(question)
    if (inTurn) return inTurn
    const next = this.#nextIfAsked(question)
    const isNext = next !== undefined && this.#mayAnswer(next, question)
    const exact = isNext ? [next] : this.#untaken(this.#same(question), question)
    const isEnough = this.#serve === 'exact' || (exact !== undefined && this.#tape.imported === undefined)
    const canonical = isEnough ? undefined : this.#findCanonical(question)
    // A recording from elsewhere may spell one question in several ways: it is answered in the order it was asked.
    if (exact && (!canonical || canonical[0] === exact[0])) return this.#found(exact, 'exact', question)
    if (canonical) return this.#found(canonical, 'canonical', question)
    if (this.#serve !== 'exact') {
      const conversation = this.#serve === 'canonical' ? undefined : this.#findConversation(question)
      if (conversation) return conversation
    }
    const samePath = this.#byPath.get(steadyPath(question)) ?? []
    // The question itself, answered as often as it was recorded, is nearer than any that is open.
    const again = samePath.find((step) => step.taken && isSame(step, question))
    const open = samePath.some((step) => !step.taken)
    return new NotFound(again !== undefined || !open, () => again ?? this.nearest(question))
  }

  /** The steps of the same address, but for the host, and the same body. */
  #same(asked: Omit<MatchRequest, 'target'>): ExchangeState[] | undefined {
    return this.#exact.get(writtenPath(asked))?.get(asked.bodyText)
  }

  #findCanonical(question: MatchRequest): readonly ExchangeState[] | undefined {
    const key = steadyPath(question)
    let index = this.#canonical.get(key)
    if (!index) {
      index = byBodies(this.#byPath.get(key) ?? [], this.#isForeign)
      this.#canonical.set(key, index)
    }
    // A host that stands for a recorded one is asked what that is asked, and one spelling of it is that one's.
    const asked = new Map((this.#byPath.get(key) ?? []).map(({ event: { url } }) => [originOf(url), url]))
    for (const url of asked.values()) {
      const found = this.#untaken(index.get(canonicalBody({ ...question, url }, this.#isForeign)), question)
      if (found) return found
    }
    return undefined
  }

  /**
   * What is said to a model over a connection names no conversation, and `response.create` is often the whole of it. A message
   * stands for the one whose turn it is, and not for a later one that is nearer to it.
   */
  #findInTurn(question: MatchRequest): Match | undefined {
    if (!this.#isByOrder || this.#serve !== 'reworded' || !question.method.startsWith('SEND')) return undefined
    const same = this.#same(question)?.find((step) => !step.taken)
    if (same !== undefined && this.#isDue(same)) return undefined
    const asked = this.#modelOf(question)
    if (asked?.dialect !== 'openai-realtime' && asked?.dialect !== 'gemini-live') return undefined
    const isInTurn = (step: ExchangeState): boolean =>
      !step.taken && this.#mayAnswer(step, question) && isSameTurn(step.asked, asked) && this.#isDue(step)
    const due = this.#steps.filter((step) => isInTurn(step))
    return due.length === 0 ? undefined : this.#findConversation(question, due)
  }

  /** A question is looked for in several places, and taken apart once. */
  #modelOf(question: MatchRequest): ModelRequest | undefined {
    const { method, url, bodyText: body } = question
    if (this.#asked?.question !== question) this.#asked = { question, model: readModelRequest({ method, url, body }) }
    return this.#asked.model
  }

  #findConversation(question: MatchRequest, among = this.#steps): Match | undefined {
    return findConversation(question, this.#modelOf(question), {
      steps: among.filter((step) => this.#mayAnswer(step, question)),
      mayReword: this.#serve === 'reworded',
      isDue: this.#isDue,
      isByOrder: this.#isByOrder,
    })
  }

  /** The open steps of a list that a live host may ask; absent without one. */
  #untaken(steps: ExchangeState[] | undefined, question: MatchRequest): readonly ExchangeState[] | undefined {
    dropTaken(steps)
    const first = steps?.find((step) => !step.taken && this.#mayAnswer(step, question))
    if (!steps || !first) return undefined
    // A new host may stand for either of two recorded ones: which one is unknown.
    const origin = originOf(first.event.url)
    if (origin === originOf(question.url)) return [first]
    const other = steps.find(
      (step) => !step.taken && originOf(step.event.url) !== origin && this.#mayAnswer(step, question),
    )
    return other ? [first, other] : [first]
  }

  #mayAnswer(step: ExchangeState, question: MatchRequest): boolean {
    return this.#hosts.mayAnswer(step.event.url, question.url) && this.#isAimed(step, question)
  }

  /** What is no part of address and body text: an operation its headers name, and all of a body with two ends. */
  #isAimed({ event: { request } }: ExchangeState, { target, whole }: MatchRequest): boolean {
    return sameTarget(request.headers, target, this.#isWhole) && sameWhole(request.whole, whole) !== 'other'
  }

  #found(steps: readonly ExchangeState[], level: 'exact' | 'canonical', question: MatchRequest): Match {
    const [step] = steps
    if (!step || steps.length > 1) return { kind: 'ambiguous', candidates: steps }
    const drift: FoundDrift[] = []
    if (level === 'canonical') {
      const client = isRpcRequest(parse(question.bodyText)) ? clientDrift(step.bodyText, question.bodyText) : []
      const spelling = { path: '', part: 'body', recorded: 'same value', live: 'written differently' }
      drift.push(...(client.length > 0 ? client : [{ class: 'encoding', ...spelling } as const]))
    }
    if (originOf(step.event.url) !== originOf(question.url))
      drift.push(otherHost(step, writtenOrigin(step.event.url), writtenOrigin(question.url)))
    return { kind: 'found', step, level, drift }
  }

  /** The recorded exchange most like a request, open ones first. */
  nearest(question: MatchRequest): ExchangeState | undefined {
    const samePath = this.#byPath.get(steadyPath(question)) ?? []
    const pool = samePath.some((step) => !step.taken)
      ? samePath.filter((step) => !step.taken)
      : samePath.length > 0
        ? samePath
        : this.#steps
    let best: ExchangeState | undefined
    let bestScore = -1
    for (const step of pool.slice(0, 500)) {
      const score =
        closeness(step.bodyText, question.bodyText) + closeness(addressText(step.event), addressText(question))
      if (score > bestScore) {
        best = step
        bestScore = score
      }
    }
    return best
  }
}

/** The nearest recorded request is looked for only when someone asks: most questions without an answer have one elsewhere. */
class NotFound {
  readonly kind = 'none'
  readonly exhausted: boolean
  readonly #look: () => ExchangeState | undefined

  constructor(exhausted: boolean, look: () => ExchangeState | undefined) {
    this.exhausted = exhausted
    this.#look = look
  }

  get nearest(): ExchangeState | undefined {
    return this.#look()
  }
}

function otherHost(step: ExchangeState, recorded: string, live: string): FoundDrift {
  return {
    class: hostDrift(step, step.event),
    path: 'url',
    part: step.asked ? 'host of the model' : 'host',
    recorded,
    live,
  }
}

/** Taken steps at the front are dropped, so that a thousand equal requests cost a thousand looks, not a million. */
function dropTaken(steps: ExchangeState[] | undefined): void {
  while (steps?.[0]?.taken) steps.shift()
}

/** A body in one spelling; one that is not JSON, or has a key twice, stands for itself. */
function canonicalBody(asked: Pick<MatchRequest, 'bodyText' | 'via' | 'url'>, isForeign: boolean): string {
  const parsed = parseRequest(asked.bodyText, asked.url)
  const isExact = parsed === undefined || isFaithful(asked.bodyText)
  const value = isExact ? parsed : spelled(parseExactly(asked.bodyText), asked.url)
  if (value === undefined) return `text ${asked.bodyText}`
  return `${isExact ? 'json' : 'exact'} ${canonicalJson(isRpcRequest(value) ? steadyRpc(value, asked.via, isForeign) : value)}`
}

/**
 * Steps by their bodies in one spelling. A request in the log of another MCP client stands there a second time, as a
 * client asks it that keeps no notes in it.
 */
function byBodies(steps: readonly ExchangeState[], isForeign: boolean): Map<string, ExchangeState[]> {
  const index = new Map<string, ExchangeState[]>()
  const add = (key: string, step: ExchangeState): void => {
    const list = index.get(key) ?? []
    index.set(key, list)
    list.push(step)
  }
  for (const step of steps) {
    const { via, url } = step.event
    add(canonicalBody({ bodyText: step.bodyText, via, url }, isForeign), step)
    const request = isForeign ? parse(step.bodyText) : undefined
    const bare = isRpcRequest(request) ? withoutNotes(steadyRpc(request, via, isForeign)) : undefined
    if (bare !== undefined) add(`json ${canonicalJson(bare)}`, step)
  }
  return index
}

/** The same bytes, for the same host. */
function isSame({ bodyText, event }: ExchangeState, question: MatchRequest): boolean {
  if (bodyText !== question.bodyText || originOf(event.url) !== originOf(question.url)) return false
  return sameWhole(event.request.whole, question.whole) !== 'other'
}

function addressText({ method, url }: { readonly method: string; readonly url: string }): string {
  return `${method} ${url}`
}
