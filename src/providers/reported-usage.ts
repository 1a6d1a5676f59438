import { at, isMap, type JsonMap, parseJson } from '../json/canonical.ts'
import { type Address, readAddress } from './dialect.ts'
import type { Draft } from './draft.ts'
import { readUsage as readAnthropicUsage } from './responses/anthropic.ts'
import { readUsage as readChatUsage } from './responses/openai-chat.ts'
import type { Usage } from './types.ts'

/** An exchange, as far as it takes to see what it used. */
export interface UsageSource {
  readonly method: string
  readonly url: string
  readonly status: number
  /** The body of the request; as long as it begins as it began, it may be cut. */
  readonly sent: Buffer
  /** The body of the answer. */
  readonly got: Buffer
}

export interface ReportedUsage {
  /** The model that was asked. */
  readonly model: string
  readonly usage: Usage
}

/**
 * What a model call used, of one whose answer came whole and ends with its usage, and whose request begins with its model:
 * most do. Neither the conversation that was sent is read, nor what was answered.
 *
 * @param names - of tools; an answer in which one of them stands has to be read
 * @returns `undefined` for all others: `readModelCall` knows what they are
 */
export function reportedUsage(source: UsageSource, names: NamesToFind): ReportedUsage | undefined {
  const { method, url, status } = source
  if (method !== 'POST' || status < 200 || status > 299) return undefined
  const form = formAt(url)
  const model = form && modelNamedFirst(source.sent)
  if (form === undefined || model === undefined) return undefined
  const { got } = source
  // Neither packed nor a stream.
  if (got[0] !== openBrace) return undefined
  // What is looked for is ASCII.
  const text = got.toString('latin1')
  if (!form.isAnswer(text) || names.mayStandIn(text)) return undefined
  const end = endOf(text)
  if (!form.counts.every((name) => typeof at(at(end, 'usage'), name) === 'number')) return undefined
  const counted: Counted = { usage: {} }
  form.readUsage(end!, counted)
  return { model, usage: counted.usage as Usage }
}

/**
 * The model that answered, of an answer as {@link reportedUsage} reads: where only one is named there. A quoted name followed by a
 * colon stands in no text of JSON, so that no other one can be meant.
 *
 * @returns `undefined` where it takes a closer look
 */
export function onlyModelNamed(got: Buffer): string | undefined {
  const text = got.toString('latin1')
  const start = text.indexOf('"model":')
  const [, model] = start < 0 ? [] : (/^"model":\s*"([ !#-[\]-~]+)"/.exec(text.slice(start, start + 256)) ?? [])
  // Gemini names its models otherwise, and arguments of a call may have such a field.
  return text.includes('"model":', start + 1) || text.includes('"modelVersion"') ? undefined : model
}

/**
 * The members of an object from `usage` on. A quoted name followed by a colon stands in no text of JSON, where quotes are
 * written otherwise; and what follows it makes an object only if no other one was open.
 */
function endOf(text: string): JsonMap | undefined {
  const start = text.lastIndexOf('"usage":')
  const end = start < 0 ? undefined : parseJson(`{${text.slice(start)}`)
  return isMap(end) ? end : undefined
}

interface Form {
  /** Whether the end of an answer of this form says all of its usage. */
  readonly isAnswer: (text: string) => boolean
  /** Counts that are always there. */
  readonly counts: readonly string[]
  readonly readUsage: (answer: JsonMap, counted: Counted) => void
}

type Counted = Pick<Draft, 'usage'>

const chat: Form = {
  // What stands in timings counts as well.
  isAnswer: (text) => text.includes('"choices":') && !text.includes('"timings":'),
  counts: ['prompt_tokens', 'completion_tokens'],
  readUsage: readChatUsage,
}

const anthropic: Form = {
  isAnswer: (text) => text.includes('"type":"message"') && !text.includes('"error":'),
  counts: ['input_tokens', 'output_tokens'],
  readUsage: (answer, counted) => readAnthropicUsage(at(answer, 'usage'), counted),
}

/** The address asked last, and the form of its answers: a service asks at one, mostly. */
let last: { readonly url: string; readonly form: Form | undefined } = { url: '', form: undefined }

function formAt(url: string): Form | undefined {
  if (url !== last.url) last = { url, form: formOf(readAddress(url)) }
  return last.form
}

/** A path may name another model than the request. */
function formOf({ path, model }: Address): Form | undefined {
  if (model !== undefined) return undefined
  if (path.endsWith('/chat/completions')) return chat
  return path.endsWith('/v1/messages') ? anthropic : undefined
}

const openBrace = 0x7b

/** How the request began that was read last, to the end of its model. */
let lastBegun: { readonly text: string; readonly model: string } | undefined

/** What stands first in an object is one of its members, no matter what follows. */
function modelNamedFirst(body: Buffer): string | undefined {
  const head = body.toString('latin1', 0, 256)
  if (lastBegun !== undefined && head.startsWith(lastBegun.text)) return lastBegun.model
  const [text, model] = /^\s*\{\s*"model"\s*:\s*"([ !#-[\]-~]+)"/.exec(head) ?? []
  if (text === undefined || model === undefined) return undefined
  lastBegun = { text, model }
  return model
}

/** Names that are looked for in JSON texts. */
export class NamesToFind {
  readonly #names: readonly string[]
  /** All of signs that JSON writes in two ways alone, as they are or by their number. */
  readonly #isPlain: boolean

  constructor(names: Iterable<string>) {
    this.#names = [...names]
    this.#isPlain = this.#names.every((name) => /^[\w.-]+$/.test(name))
  }

  /** Whether one of them may stand in a text. */
  mayStandIn(text: string): boolean {
    if (this.#names.length === 0) return false
    return !this.#isPlain || text.includes('\\u') || this.#names.some((name) => text.includes(name))
  }
}
