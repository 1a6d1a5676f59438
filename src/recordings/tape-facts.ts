import { HarvestError } from '../errors/index.ts'
import { textAt } from '../json/canonical.ts'
import { contentOf, type TapeContent } from './content.ts'
import { CallsOnce } from '../providers/counted.ts'
import { readMcpCall, readModelCall, type Usage } from '../providers/index.ts'
import { type ImportedModelCall, importedModelCall } from '../providers/imported-model-call.ts'
import {
  type ExchangeEvent,
  isStartKnown,
  isStep,
  isTimed,
  type KeptReason,
  type Outcome,
  readTape,
  readTapeHeader,
  type RetentionClass,
  type RunAttributes,
  type RunUsage,
  streamTape,
  type Tape,
  type TapeClose,
  type TapeEvent,
  type TapeHeader,
} from '../tape/index.ts'
import { CutOff, type OpenCall } from '../tape/cut-off.ts'

/** What a list of tapes says about one of them: no body, no argument, no answer. */
export interface TapeFacts {
  /** `truncated`: its last line is missing. `unreadable`: no tape, or a damaged one; see `problem`. */
  readonly state: 'closed' | 'truncated' | 'unreadable'
  readonly id?: string
  readonly agent?: string
  /** ISO 8601; absent when an import does not know it. */
  readonly startedAt?: string
  /** Id of the tape a branch begins like. */
  readonly branchOf?: string
  /** Keyed tags of who it is about. */
  readonly subjects?: readonly string[]
  readonly session?: string
  readonly attributes?: RunAttributes
  /** Commit the tape names. */
  readonly commit?: string
  /** How the run ended; absent unless closed. */
  readonly outcome?: Outcome['status']
  readonly events?: number
  readonly steps?: number
  /** Of a truncated tape: the calls that were under way. */
  readonly open?: readonly OpenCall[]
  /** Absent unless closed, and when an import has no times. */
  readonly durationMs?: number
  /** Models asked or answering, sorted. */
  readonly models: readonly string[]
  /** Tools and retrievers called, or asked for by a model, sorted. */
  readonly tools: readonly string[]
  /**
   * What its models decided, in order: the tools each answer asked for, sorted and with ` ∥ ` between them; the same again and
   * again counts once. Where no model asked for a tool, the tools that were called.
   */
  readonly decisions?: readonly string[]
  /** How the run ended, with the name of its error: `returned`, `threw TypeError`. Absent unless closed. */
  readonly ending?: string
  /** Tokens of each model the run called. */
  readonly usage: readonly ModelUsage[]
  /** What the recorder counted. */
  readonly counted?: RunUsage
  readonly kept: readonly KeptReason[]
  readonly retention?: RetentionClass
  /** ISO 8601. */
  readonly until?: string
  /** Reason of a hold that was written with the tape; see also `holdOf`. */
  readonly hold?: string
  readonly incomplete?: string
  readonly problem?: { readonly code: string; readonly what: string }
}

/** Every count that says what tokens cost. */
export type Tokens = Required<Omit<Usage, 'reasoningTokens'>>

/** What one model was used for in one run. */
export interface ModelUsage {
  readonly asked: string
  readonly answered?: string
  readonly calls: number
  /** Absent when an answer did not tell. */
  readonly tokens?: Tokens
}

/** Characters of an outcome up to which the index has it, so that a list does not open the tape. */
const shortOutcome = 1_000

/** Bytes up to which a tape is read in one piece: six times as fast as line by line, and still flat in memory. */
const wholeCap = 4 * 1024 * 1024

/**
 * Reads what a list says about a tape, verifying every line of it. A long one is read line by line, so that memory stays
 * flat. Never throws for what is wrong with the tape: that is a fact about it.
 *
 * @param bytes - its size, as far as known
 */
export async function readFacts(file: string, bytes: number): Promise<TapeFacts> {
  return (await readIndexed(file, bytes)).facts
}

/** What the index keeps of a tape. */
export interface IndexedTape {
  readonly facts: TapeFacts
  /** How the run ended, as JSON; absent of one that did not end, or with a long text. */
  readonly ended?: string
  /** Absent of a long tape, and of one that cannot be read. */
  readonly content?: TapeContent
}

/** The facts of a tape, how its run ended, and, unless it is long, what it says. */
export async function readIndexed(file: string, bytes: number): Promise<IndexedTape> {
  try {
    if (bytes > wholeCap) return indexed(await readByLine(file))
    const tape = readTape(file)
    return { ...indexed(seenIn(tape)), content: contentOf(tape) }
  } catch (error) {
    return { facts: { state: 'unreadable', models: [], tools: [], usage: [], kept: [], problem: problemOf(error) } }
  }
}

function indexed(seen: Seen): IndexedTape {
  const ended = seen.close === undefined ? undefined : JSON.stringify(seen.close.outcome)
  return { facts: factsOf(seen), ...(ended !== undefined && ended.length <= shortOutcome && { ended }) }
}

function factsOf(seen: Seen): TapeFacts {
  const { header, close } = seen
  const { id, agent, startedAt, pins, parent, subjects, session, attributes } = header
  return {
    state: close === undefined ? 'truncated' : 'closed',
    id,
    agent,
    ...(isStartKnown(header) && { startedAt }),
    ...(close !== undefined && isTimed(header) && { durationMs: close.at }),
    ...(parent !== undefined && { branchOf: parent.id }),
    ...(subjects !== undefined && { subjects }),
    ...(session !== undefined && { session: session.id }),
    ...(attributes !== undefined && { attributes }),
    ...(typeof pins.commit === 'string' && { commit: pins.commit }),
    ...seen.facts(),
  }
}

function seenIn({ header, events, close }: Tape): Seen {
  const seen = new Seen(header)
  for (const event of events) seen.event(event)
  seen.close = close
  return seen
}

async function readByLine(file: string): Promise<Seen> {
  const seen = new Seen(readTapeHeader(file))
  for await (const item of streamTape(file)) {
    if (item.kind === 'close') seen.close = item
    else seen.event(item)
  }
  return seen
}

/** What the lines of a tape add up to. */
class Seen {
  readonly header: TapeHeader
  close: TapeClose | undefined
  #events = 0
  #steps = 0
  readonly #models = new Set<string>()
  readonly #tools = new Set<string>()
  readonly #decisions: string[] = []
  readonly #called: string[] = []
  readonly #usage = new Map<string, ModelUsage>()
  readonly #calls = new CallsOnce()
  readonly #cutOff: CutOff

  constructor(header: TapeHeader) {
    this.header = header
    this.#cutOff = new CutOff(header)
  }

  event(event: TapeEvent): void {
    this.#events++
    this.#cutOff.add(event)
    const told = importedModelCall(this.header, event)
    if (told !== undefined) this.#told(told)
    if (!isStep(event)) return
    this.#steps++
    if (event.kind === 'exchange') this.#exchange(event)
    else if (event.kind !== 'value') this.#call(event.name)
  }

  #call(name: string): void {
    this.#tools.add(name)
    if (this.#called.at(-1) !== name) this.#called.push(name)
  }

  #exchange(event: ExchangeEvent): void {
    const mcp = readMcpCall(event)
    if (mcp !== undefined) this.#call(mcp.name)
    const model = readModelCall(event)
    if (model === undefined) return
    const { request, response } = model
    for (const id of [request.model, response?.model ?? '']) if (id !== '') this.#models.add(id)
    const asked = (response?.toolCalls ?? []).map(({ name }) => name)
    for (const name of asked) this.#tools.add(name)
    const decision = asked.sort().join(' ∥ ')
    if (decision !== '' && this.#decisions.at(-1) !== decision) this.#decisions.push(decision)
    // A call that was refused is not billed; every other one that tells no tokens has an unknown cost.
    const isRefused = response?.usage === undefined && response?.error !== undefined
    if (!isRefused) this.#calls.add(model)
  }

  #told({ model, answered, usage, isError }: ImportedModelCall): void {
    for (const id of [model, answered ?? '']) if (id !== '') this.#models.add(id)
    if (!isError || usage !== undefined) this.#count(model, answered, usage)
  }

  #count(asked: string, answered: string | undefined, usage: Usage | undefined): void {
    const key = JSON.stringify([asked, answered])
    const before = this.#usage.get(key)
    const tokens = before !== undefined && before.tokens === undefined ? undefined : added(before?.tokens, usage)
    this.#usage.set(key, {
      asked,
      ...(answered !== undefined && answered !== asked && { answered }),
      calls: (before?.calls ?? 0) + 1,
      ...(tokens !== undefined && { tokens }),
    })
  }

  facts(): Omit<TapeFacts, 'state'> {
    const { close } = this
    for (const { request, response } of this.#calls.all) this.#count(request.model, response?.model, response?.usage)
    return {
      events: this.#events,
      steps: this.#steps,
      models: [...this.#models].sort(),
      tools: [...this.#tools].sort(),
      decisions: this.#decisions.length > 0 ? this.#decisions : this.#called,
      usage: [...this.#usage.values()],
      kept: [],
      ...(close === undefined ? openFacts(this.#cutOff) : closingFacts(close)),
    }
  }
}

function openFacts({ calls }: CutOff): Partial<TapeFacts> {
  return calls.length === 0 ? {} : { open: calls }
}

function closingFacts(close: TapeClose): Partial<TapeFacts> {
  const { outcome, incomplete, kept = [], retention, usage } = close
  return {
    outcome: outcome.status,
    ending: endingOf(outcome),
    kept,
    ...(usage !== undefined && { counted: usage }),
    ...(retention !== undefined && { retention: retention.class }),
    ...(retention?.until !== undefined && { until: retention.until }),
    ...(retention?.hold !== undefined && { hold: retention.hold }),
    ...(incomplete !== undefined && { incomplete }),
  }
}

function endingOf(outcome: Outcome): string {
  if (outcome.status === 'exited') return `exited ${outcome.code}`
  const name = outcome.status === 'threw' ? textAt(outcome.error, 'name') : undefined
  return name === undefined ? outcome.status : `${outcome.status} ${name}`
}

function added(before: Tokens | undefined, usage: Usage | undefined): Tokens | undefined {
  if (usage?.inputTokens === undefined && usage?.outputTokens === undefined) return undefined
  const { inputTokens = 0, outputTokens = 0, cachedTokens = 0, cacheWriteTokens = 0 } = usage
  // More than was sent can neither have come from the cache nor gone there.
  const cached = Math.min(cachedTokens, inputTokens)
  return {
    inputTokens: (before?.inputTokens ?? 0) + inputTokens,
    outputTokens: (before?.outputTokens ?? 0) + outputTokens,
    cachedTokens: (before?.cachedTokens ?? 0) + cached,
    cacheWriteTokens: (before?.cacheWriteTokens ?? 0) + Math.min(cacheWriteTokens, inputTokens - cached),
  }
}

function problemOf(error: unknown): { readonly code: string; readonly what: string } {
  if (HarvestError.is(error)) return { code: error.code, what: error.facts.what }
  // What the system says about a file that cannot be read; anything else is a mistake of ours.
  if (error instanceof Error && 'syscall' in error)
    return { code: 'HARVEST_TAPE_UNREADABLE', what: `The tape cannot be read: ${error.message}` }
  throw error
}
