import type { Cursor } from '../cursor.ts'
import type { ForeignCall, ForeignModelCall, ForeignRequest, ForeignStep } from '../types.ts'
import { type ImportedToolResult, readMessage, type ConversationMessage } from '../messages.ts'
import { Waiting } from './waiting.ts'

/** What a format knows of a message beside what it says. */
export interface MessageFacts {
  /** When it was said, epoch ms. */
  readonly at?: number
  /** Names the answer of a model that several messages are parts of, one after the other or with answers of tools between. */
  readonly response?: string
  /** Of what a model said: which model, what it used, how it ended. */
  readonly model?: Partial<Pick<ForeignModelCall, 'answered' | 'asked' | 'provider' | 'usage' | 'finish' | 'error'>>
}

/**
 * The steps of a conversation: each message of the assistant is an answer of a model, and what tools said are calls that
 * ran. Calls that were asked for in one message are of one group.
 *
 * An answer is joined to its call by id, else by name, else in order.
 *
 * @throws HarvestError `HARVEST_IMPORT_SHAPE`
 */
export function conversationSteps(
  messages: Iterable<Cursor>,
  factsOf: (message: Cursor) => MessageFacts = () => ({}),
): readonly ForeignStep[] {
  return saidSteps(told(messages, factsOf))
}

/** As {@link conversationSteps}, of messages that are read already. */
export function saidSteps(
  said: Iterable<readonly [said: ConversationMessage, facts: MessageFacts]>,
): readonly ForeignStep[] {
  const talk = new ConversationDraft()
  for (const [message, facts] of said) talk.add(message, facts)
  return withoutSharedIds(talk.steps)
}

function* told(
  messages: Iterable<Cursor>,
  factsOf: (message: Cursor) => MessageFacts,
): Generator<readonly [ConversationMessage, MessageFacts]> {
  for (const message of messages) yield [saidIn(message), factsOf(message)]
}

/** Who speaks has to be named, by the role or by the type of an item; what is said may be left out. */
function saidIn(message: Cursor): ConversationMessage {
  if (message.map.at('type').maybeText === undefined) void message.at('role').text
  return readMessage(message.value)
}

/** A call without an answer yet. */
interface Open extends ForeignRequest {
  readonly group: string
  readonly at?: number
  /** Where it stands in the steps already: a call that no model asked for. */
  readonly index?: number
}

class ConversationDraft {
  readonly steps: ForeignStep[] = []
  readonly #open = new Waiting<Open>()
  /** Where the answer of a model stands in the steps. */
  readonly #responses = new Map<string, number>()
  #group = 0

  add(said: ConversationMessage, { at, response, model }: MessageFacts): void {
    const when = at === undefined ? {} : { startedMs: at }
    const group = response === undefined ? `${this.#group++}` : `response ${response}`
    if (said.role === 'assistant') {
      this.#answered(said, { ...when, ...model }, response)
      for (const call of said.calls) this.#open.add({ ...call, group, ...(at === undefined ? {} : { at }) })
    } else {
      if (said.text !== '' || (said.results.length === 0 && said.calls.length === 0))
        this.steps.push({ kind: 'message', ...when, from: said.role, to: 'model', body: said.body })
      for (const call of said.calls) this.#ownCall(call, group, at)
    }
    for (const answer of said.results) this.#answer(answer, at)
  }

  #answered(
    { text, calls }: ConversationMessage,
    facts: Partial<ForeignModelCall>,
    response: string | undefined,
  ): void {
    const known = response === undefined ? undefined : this.#responses.get(response)
    const before = known === undefined ? undefined : this.steps[known]
    if (known === undefined || before?.kind !== 'model') {
      if (response !== undefined) this.#responses.set(response, this.steps.length)
      this.steps.push({ kind: 'model', ...facts, ...(text === '' ? {} : { text }), toolCalls: calls })
      return
    }
    const { startedMs: _, ...later } = facts
    const whole = [before.text ?? '', text].filter((part) => part !== '').join('\n')
    this.steps[known] = {
      ...before,
      ...later,
      ...(whole === '' ? {} : { text: whole }),
      toolCalls: [...before.toolCalls, ...calls],
    }
  }

  /** A call of a user: it stands where it was asked for, also without an answer. */
  #ownCall(call: ForeignRequest, group: string, at: number | undefined): void {
    const when = at === undefined ? {} : { startedMs: at }
    this.#open.add({ ...call, group, ...(at === undefined ? {} : { at }), index: this.steps.length })
    this.steps.push({ kind: 'tool', ...when, name: call.name, args: call.args, group })
  }

  #answer(answer: ImportedToolResult, at: number | undefined): void {
    const open = this.#open.take(answer)
    const name = open?.name ?? answer.name
    const { value, error } = answer
    if (name === undefined) {
      // An answer without a call: what it said is all there is.
      const when = at === undefined ? {} : { startedMs: at }
      this.steps.push({ kind: 'message', ...when, from: 'tool', to: 'model', body: value })
      return
    }
    const start = open?.at ?? at
    const step: ForeignCall = {
      kind: 'tool',
      ...(start === undefined ? {} : { startedMs: start }),
      ...(start === undefined || at === undefined || at < start ? {} : { tookMs: at - start }),
      name,
      args: open?.args ?? {},
      ...(error === undefined ? { result: value } : { error }),
      ...(open?.id === undefined ? {} : { callId: open.id }),
      ...(open === undefined ? {} : { group: open.group }),
    }
    if (open?.index === undefined) this.steps.push(step)
    else this.steps[open.index] = step
  }
}

/** Some agents number the calls of each message again: such ids join nothing, and name and arguments have to. */
function withoutSharedIds(steps: readonly ForeignStep[]): readonly ForeignStep[] {
  const seen = new Set<string>()
  const shared = new Set<string>()
  for (const { id } of steps.flatMap((step) => (step.kind === 'model' ? step.toolCalls : [])))
    if (id !== undefined) (seen.has(id) ? shared : seen).add(id)
  if (shared.size === 0) return steps
  return steps.map((step) => {
    if (step.kind === 'model') return { ...step, toolCalls: step.toolCalls.map((call) => withoutId(call, shared)) }
    if (step.kind !== 'tool' || step.callId === undefined || !shared.has(step.callId)) return step
    const { callId: _, ...rest } = step
    return rest
  })
}

function withoutId(call: ForeignRequest, shared: ReadonlySet<string>): ForeignRequest {
  return call.id !== undefined && shared.has(call.id) ? { name: call.name, args: call.args } : call
}
