import { at, isList, isMap, type JsonMap, parseJson, textAt } from '../json/canonical.ts'
import { readAddress } from './dialect.ts'
import { type Draft, newDraft, usageOf } from './draft.ts'
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
  readonly answeredBy: string | undefined
  readonly usage: Usage
}

/**
 * What a model call used, of one whose answer came whole and says itself what it is, and whose request begins with its model:
 * most do. The conversation that was sent is not read, nor what the answer says.
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
  const text = got.toString('utf8')
  if (names.mayStandIn(text)) return undefined
  const answer = parseJson(text)
  if (!isMap(answer) || !form.isAnswer(answer) || isFailure(answer)) return undefined
  const draft = newDraft()
  form.readUsage(answer, draft)
  const usage = usageOf(draft)
  return usage && { model, answeredBy: textAt(answer, 'model'), usage }
}

interface Form {
  readonly isAnswer: (answer: JsonMap) => boolean
  readonly readUsage: (answer: JsonMap, draft: Draft) => void
}

const chat: Form = {
  isAnswer: (answer) =>
    at(answer, 'object') === 'chat.completion' && isList(at(answer, 'choices')) && at(answer, 'result') === undefined,
  readUsage: readChatUsage,
}

const anthropic: Form = {
  isAnswer: (answer) => at(answer, 'type') === 'message',
  readUsage: (answer, draft) => readAnthropicUsage(at(answer, 'usage'), draft),
}

/** A service asks at few addresses. */
const forms = new Map<string, Form | undefined>()
const mostAddresses = 256

function formAt(url: string): Form | undefined {
  if (forms.has(url)) return forms.get(url)
  const { path, model } = readAddress(url)
  const isChat = path.endsWith('/chat/completions')
  const form = model !== undefined ? undefined : isChat ? chat : path.endsWith('/v1/messages') ? anthropic : undefined
  if (forms.size >= mostAddresses) forms.clear()
  forms.set(url, form)
  return form
}

const openBrace = 0x7b

/** What stands first in an object is one of its members, whatever follows. */
function modelNamedFirst(body: Buffer): string | undefined {
  return /^\s*\{\s*"model"\s*:\s*"([^"\\]+)"/.exec(body.toString('utf8', 0, 256))?.[1]
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

function isFailure(answer: JsonMap): boolean {
  return ['error', 'detail', '__type'].some((key) => at(answer, key) !== undefined)
}
