import { isMap } from '../json/canonical.ts'
import { callsOf, type ModelCall, readMessage, resultsOf, textOf, toolNames } from '../providers/index.ts'
import type { Json } from '../tape/index.ts'

/** What a model request says that no earlier one of the run said. Numbers are `n` of the events. */
export interface Prompt {
  /** System prompt, developer messages; absent without one. */
  readonly instructions?: Repeated
  /** Names of the tools offered; absent without one. */
  readonly tools?: Repeated & { readonly names: readonly string[] }
  /** Messages of the request, instructions left out. */
  readonly messageCount: number
  /** The earlier request this one goes on from; absent when its first message is new. */
  readonly continues?: number
  /** Messages after those of `continues`. */
  readonly fresh: readonly PrintedMessage[]
}

interface Repeated {
  readonly text: string
  /** The first request that said the same; absent when it is this one. */
  readonly sameAs?: number
}

/** One message of a conversation, regardless of the dialect. */
export interface PrintedMessage {
  /** `user`, `assistant`, `tool`, …; `input` for a bare text. */
  readonly role: string
  readonly text: string
  /** Tools it asks for. */
  readonly calls: readonly string[]
  /** Tool results it carries. */
  readonly results: readonly CarriedResult[]
}

/** A tool result on its way to the model. */
export interface CarriedResult {
  readonly name?: string
  readonly text: string
  /** The step that had just this answer. */
  readonly sameAs?: number
}

interface Node {
  readonly parent: Node | undefined
  readonly depth: number
  readonly message: PrintedMessage
  readonly below: Map<string, Node>
  /** The earliest request that has this message at this place, after the same messages. */
  first: number
}

interface Shared {
  readonly text: string
  readonly names: readonly string[]
  first: number
}

/** Where a request stands in the conversations of its run. */
export interface Turn {
  readonly n: number
  readonly leaf: Node | undefined
  readonly instructions: Shared | undefined
  readonly tools: Shared | undefined
}

/**
 * All model conversations of a run, every message held once: agents send the whole conversation with each request.
 *
 * Requests may be added in any order; {@link promptOf} speaks of earlier ones by `n` and is right when all are in.
 */
export class Conversations {
  readonly #begun = new Map<string, Node>()
  readonly #instructions = new Map<string, Shared>()
  readonly #tools = new Map<string, Shared>()
  /** Names of tools by the id of the call, to tell whose result a message brings. */
  readonly #names = new Map<string, string>()
  readonly #said = new Set<string>()

  add({ n, request, response }: ModelCall): Turn {
    for (const { id, name } of response?.toolCalls ?? []) if (id !== undefined) this.#names.set(id, name)
    if (response !== undefined && response.text !== '') this.#said.add(response.text.trim())
    let leaf: Node | undefined
    for (const message of request.messages) leaf = this.#step(leaf, message, n)
    const { instructions, tools } = request
    return {
      n,
      leaf,
      instructions: share(this.#instructions, instructions, n, () => ({
        text: instructions.map(textOf).join('\n\n'),
        names: [],
      })),
      tools: share(this.#tools, tools, n, () => ({ text: '', names: tools.flatMap(toolNames) })),
    }
  }

  #step(parent: Node | undefined, message: Json, n: number): Node {
    const siblings = parent?.below ?? this.#begun
    const key = JSON.stringify(message)
    const known = siblings.get(key)
    if (known !== undefined) {
      known.first = Math.min(known.first, n)
      return known
    }
    const read = this.#read(message)
    const node: Node = { parent, depth: (parent?.depth ?? 0) + 1, message: read, below: new Map(), first: n }
    siblings.set(key, node)
    return node
  }

  #read(message: Json): PrintedMessage {
    const read = readMessage(message)
    const results = resultsOf(read).map(({ id, name, result }) => {
      const known = name ?? (id === undefined ? undefined : this.#names.get(id))
      return { ...(known === undefined ? {} : { name: known }), text: textOf(result) || valueText(result) }
    })
    const calls = callsOf(read).map(({ name }) => name)
    return { role: read.role, calls, results, text: results.length > 0 ? '' : textOf(message) }
  }

  /** What is new in a request. */
  promptOf({ n, leaf, instructions, tools }: Turn): Prompt {
    const fresh: PrintedMessage[] = []
    let node = leaf
    for (; node !== undefined && node.first === n; node = node.parent) fresh.push(node.message)
    const told = fresh.reverse().filter((message) => node === undefined || !this.#isEcho(message))
    return {
      ...(instructions === undefined ? {} : { instructions: repeated(instructions, n) }),
      ...(tools === undefined ? {} : { tools: { ...repeated(tools, n), names: tools.names } }),
      messageCount: leaf?.depth ?? 0,
      ...(node === undefined ? {} : { continues: node.first }),
      fresh: told,
    }
  }

  /** What tells its conversation from others, and what it was asked and hears. */
  laneOf({ leaf, instructions }: Turn): {
    readonly instructions: string
    readonly question: () => string
    readonly heard: readonly string[]
  } {
    const heard: string[] = []
    for (let node = leaf; node !== undefined && heard.length < heardMessages; node = node.parent)
      heard.push(wordsOf(node.message))
    const question = (): string => {
      let first: PrintedMessage | undefined
      for (let node = leaf; node !== undefined; node = node.parent)
        if (/^(user|input)$/.test(node.message.role)) first = node.message
      return first === undefined ? '' : wordsOf(first)
    }
    return { instructions: instructions?.text ?? '', question, heard }
  }

  /** What a model said comes back to it with the next request: it was printed where the model said it. */
  #isEcho({ role, text, results }: PrintedMessage): boolean {
    if (results.length > 0 || !/^(assistant|model|ai|CHATBOT|function|reasoning|message)$/.test(role)) return false
    return text.trim() === '' || this.#said.has(text.trim())
  }
}

/** Last messages of a question that are looked at. */
const heardMessages = 8

function wordsOf({ text, results }: PrintedMessage): string {
  return results.length === 0 ? text : results.map((result) => result.text).join('\n')
}

function repeated({ text, first }: Shared, n: number): Repeated {
  return first === n ? { text } : { text, sameAs: first }
}

function share(
  known: Map<string, Shared>,
  values: readonly Json[],
  n: number,
  read: () => Omit<Shared, 'first'>,
): Shared | undefined {
  if (values.length === 0) return undefined
  const key = JSON.stringify(values)
  const shared = known.get(key) ?? { ...read(), first: n }
  shared.first = Math.min(shared.first, n)
  known.set(key, shared)
  return shared
}

/** A value as a person reads it: text of several lines as it is, everything else as JSON. */
export function valueText(value: Json): string {
  if (typeof value === 'string' && value.includes('\n')) return value
  return errorText(value) ?? JSON.stringify(value)
}

/** `TypeError: order is undefined`, when the value is a recorded error. */
export function errorText(value: Json): string | undefined {
  if (!isMap(value) || value['$type'] !== 'error') return undefined
  const { name, message } = value
  return `${typeof name === 'string' ? name : 'Error'}: ${typeof message === 'string' ? message : ''}`
}
