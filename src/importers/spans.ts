import type { ImportFormat } from './types.ts'

/** A span of a trace, no matter which backend exported it. */
export interface ForeignSpan {
  readonly id?: string
  readonly parent?: string
  /** Id of the trace; spans without one belong together. */
  readonly trace?: string
  readonly name: string
  /** Epoch ms. */
  readonly startedMs?: number
  readonly endedMs?: number
  readonly attributes: Attributes
  readonly events: readonly ForeignSpanEvent[]
  readonly error?: string
  /** What the backend itself says of it, beside the attributes. */
  readonly told?: SpanAttributes
}

export type Attributes = ReadonlyMap<string, unknown>

/** Something noted in a span: an event of it, or a log record that names it. */
export interface ForeignSpanEvent {
  readonly name: string
  readonly attributes: Attributes
  /** Of a log record. */
  readonly body?: unknown
}

/** What a span was about, and what went in and came out. */
export interface SpanAttributes {
  readonly kind?: SpanKind
  readonly name?: string
  readonly input?: unknown
  readonly output?: unknown
  readonly model?: string
  readonly provider?: string
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly cachedTokens?: number
  readonly cacheWriteTokens?: number
  /** Calls asked for, where they stand beside the output. */
  readonly calls?: unknown
  readonly callId?: string
  readonly finish?: string
}

/** `other` has no step of its own: an agent, a chain, a request over HTTP. */
export type SpanKind = 'model' | 'tool' | 'retrieval' | 'other'

const kinds: Readonly<Record<string, SpanKind>> = {
  llm: 'model',
  generation: 'model',
  chat_model: 'model',
  chat: 'model',
  generate_content: 'model',
  text_completion: 'model',
  completion: 'model',
  call_llm: 'model',
  inference: 'model',
  tool: 'tool',
  execute_tool: 'tool',
  retriever: 'retrieval',
  retrieval: 'retrieval',
}

/** The kind a word of a backend stands for: `LLM`, `GENERATION`, `execute_tool`; every other word is `other`. */
export function kindOf(word: unknown): SpanKind | undefined {
  if (typeof word !== 'string' || word === '') return undefined
  const key = word.toLowerCase()
  return Object.hasOwn(kinds, key) ? kinds[key] : 'other'
}

/** Formats that hold spans. */
export type SpanFormat = Extract<
  ImportFormat,
  'otlp' | 'otel-spans' | 'jaeger' | 'langsmith' | 'langfuse' | 'braintrust' | 'deepeval'
>

/** The first of these attributes that is there and not empty. */
export function attribute(attributes: Attributes, ...keys: readonly string[]): unknown {
  for (const key of keys) {
    const value = attributes.get(key)
    if (value !== undefined && value !== null && value !== '') return value
  }
  return undefined
}

/** As {@link attribute}, when it is text. */
export function textAttribute(attributes: Attributes, ...keys: readonly string[]): string | undefined {
  const value = attribute(attributes, ...keys)
  return typeof value === 'string' ? value : undefined
}

/** As {@link attribute}, when it is a finite number or the text of one. */
export function numberAttribute(attributes: Attributes, ...keys: readonly string[]): number | undefined {
  return countOf(attribute(attributes, ...keys))
}

/** A count as a number, also where it was written as text. */
export function countOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,15}(\.\d+)?$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined
}

/**
 * The value that was written as attributes with dotted names below a prefix: `p.0.role`, `p.0.content` become a list of
 * one map. A list that stands there as a whole is taken, with the dotted names inside of it made maps.
 *
 * @returns `undefined` when there is no such attribute
 */
export function unflattened(attributes: Attributes, prefix: string): unknown {
  const root: Node = { below: new Map() }
  for (const [key, value] of attributes) {
    if (!key.startsWith(prefix)) continue
    let at = root
    for (const step of key.slice(prefix.length).split('.', depthOfKeys)) {
      const next: Node = at.below.get(step) ?? { below: new Map() }
      at.below.set(step, next)
      at = next
    }
    at.value = value
  }
  if (root.below.size > 0) return valueOf(root)
  const whole = attributes.get(prefix.replace(/\.$/, ''))
  return Array.isArray(whole) ? undotted(whole) : undefined
}

function undotted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(undotted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, inner]) => [key, undotted(inner)] as const)
  return entries.some(([key]) => key.includes('.')) ? unflattened(new Map(entries), '') : Object.fromEntries(entries)
}

/**
 * Attributes whose dotted names a backend made maps of, under their dotted names again. The maps stay beside them: some
 * are values.
 */
export function flattened(attributes: Attributes): Attributes {
  if (!isNestedSpan(attributes)) return attributes
  const flat = new Map<string, unknown>()
  const add = (key: string, value: unknown): void => {
    flat.set(key, value)
    if (isNested(value)) for (const [name, inner] of Object.entries(value)) add(`${key}.${name}`, inner)
  }
  for (const [key, value] of attributes) add(key, value)
  return flat
}

/** By what the names of conventions begin with; a tool of OpenInference has an input and output alone. */
function isNestedSpan(attributes: Attributes): boolean {
  if (['openinference', 'llm', 'gen_ai', 'ai', 'traceloop'].some((name) => isNested(attributes.get(name)))) return true
  return ['input', 'output'].some((name) => {
    const value = attributes.get(name)
    return (
      isNested(value) &&
      Object.hasOwn(value, 'value') &&
      Object.keys(value).every((key) => /^(value|mime_type)$/.test(key))
    )
  })
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Deeper names than any convention has are cut there. */
const depthOfKeys = 16

interface Node {
  readonly below: Map<string, Node>
  value?: unknown
}

function valueOf(node: Node): unknown {
  if (node.below.size === 0) return node.value
  const entries = [...node.below]
  if (entries.every(([key]) => /^\d+$/.test(key)))
    return entries.sort(([a], [b]) => Number(a) - Number(b)).map(([, below]) => valueOf(below))
  return Object.fromEntries(entries.map(([key, below]) => [key, valueOf(below)]))
}
