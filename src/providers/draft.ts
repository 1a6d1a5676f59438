import type { Json } from '../tape/types.ts'
import { isList, isMap, parseJson } from '../json/canonical.ts'
import type { ModelResponse, ToolCall, Usage } from './types.ts'

/** A response being put together from its pieces. */
export interface Draft {
  /** Id under which the provider keeps the answer. */
  keptAs?: string | undefined
  model?: string | undefined
  text: string
  /** By the key the dialect tells blocks by, in the order they began; absent without one. */
  reasoning?: Map<string, string> | undefined
  /** By the key the dialect tells pieces of one call by, in the order the calls began. */
  readonly calls: Map<string, ModelCallDraft>
  finish?: string | undefined
  usage: { -readonly [K in keyof Usage]?: number | undefined }
  refusal?: string | undefined
  error?: string | undefined
  unknownEvents: number
}

export interface ModelCallDraft {
  id?: string | undefined
  name: string
  /** JSON text as it arrived in pieces. */
  text: string
  /** Arguments that came as a value. */
  args?: Json | undefined
  /** The text is the argument, and no JSON (custom tools). */
  freeText?: boolean
  builtIn?: boolean
}

export function newDraft(): Draft {
  return { text: '', calls: new Map(), usage: {}, unknownEvents: 0 }
}

/** The call of that key, begun now if it is new. */
export function callAt(draft: Draft, key: string): ModelCallDraft {
  const known = draft.calls.get(key)
  if (known !== undefined) return known
  const call: ModelCallDraft = { name: '', text: '' }
  draft.calls.set(key, call)
  return call
}

/** Adds arguments to a call: text is one more piece of JSON text, anything else is the value itself. */
export function addArgs(call: ModelCallDraft, args: Json | undefined): void {
  if (typeof args === 'string') call.text += args
  else if (
    args !== undefined &&
    args !== null &&
    !(isMap(args) && Object.keys(args).length === 0 && call.text !== '')
  ) {
    call.args = args
  }
}

/** Goes on with the reasoning block of that key. */
export function addReasoning(draft: Draft, key: string, text: string | undefined): void {
  if (text === undefined) return
  draft.reasoning ??= new Map()
  draft.reasoning.set(key, (draft.reasoning.get(key) ?? '') + text)
}

export function finishDraft(draft: Draft): ModelResponse {
  const { model, text, finish, refusal, error, unknownEvents } = draft
  const refused = refusal ?? (finish !== undefined && filtered.test(finish) ? finish : undefined)
  const reasoning = draft.reasoning === undefined ? undefined : [...draft.reasoning.values()].join('\n\n')
  const usage = Object.fromEntries(Object.entries(draft.usage).filter(([, count]) => count !== undefined)) as Usage
  return {
    ...(model === undefined ? {} : { model }),
    text,
    ...(reasoning === undefined ? {} : { reasoning }),
    toolCalls: [...draft.calls.values()].filter(({ name }) => name !== '').map(finishCall),
    ...(finish === undefined ? {} : { finish }),
    ...(Object.keys(usage).length === 0 ? {} : { usage }),
    ...(refused === undefined ? {} : { refusal: refused }),
    ...(error === undefined ? {} : { error }),
    unknownEvents,
  }
}

/** Ends that say an answer was held back: OpenAI and Azure; Gemini; Bedrock; Cohere; Yandex. Such an answer has no words of refusal. */
const filtered =
  /^(content_filter|content-filter|SAFETY|IMAGE_SAFETY|RECITATION|BLOCKLIST|PROHIBITED_CONTENT|SPII|guardrail_intervened|content_filtered|ERROR_TOXIC|ALTERNATIVE_STATUS_CONTENT_FILTER)$/

/** Whether the provider is still at it: what it decides is known when it is asked again, or by the rest of a torn stream. */
export function isUnderWay({ finish }: Pick<ModelResponse, 'finish'>): boolean {
  return finish !== undefined && /^(queued|in_progress|cancelling|starting|processing)$/.test(finish)
}

function finishCall(call: ModelCallDraft): ToolCall {
  return {
    ...(call.id === undefined ? {} : { id: call.id }),
    name: call.name,
    args: argsOf(call),
    ...(call.builtIn ? { builtIn: true } : {}),
  }
}

function argsOf({ text, args, freeText }: ModelCallDraft): Json {
  if (freeText) return text
  // A call without arguments streams no piece at all; the SDKs read that as no arguments.
  // Some models write `null` for the same.
  const written = text.trim()
  if (written === '' || written === 'null') return args ?? {}
  return parseJson(text) ?? text
}

/** The text of a content that is text or a list of parts. */
export function plainText(content: Json | undefined): string {
  if (typeof content === 'string') return content
  if (!isList(content)) return ''
  return content
    .map((part) => {
      if (typeof part === 'string') return part
      if (!isMap(part)) return ''
      return typeof part['text'] === 'string' && part['type'] !== 'thinking' && part['thought'] !== true
        ? part['text']
        : ''
    })
    .join('')
}
