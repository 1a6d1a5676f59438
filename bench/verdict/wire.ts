import type { Deed } from './world/types.ts'

/**
 * What a run did, so that two runs can be compared: in order (`exact`), in any order (`questions`), and without what models
 * were asked (`actions`). Every question is in one spelling. Each is a list of texts.
 */
export interface Wire {
  readonly exact: readonly string[]
  /** In any order: independent calls may overlap. */
  readonly questions: readonly string[]
  readonly actions: readonly string[]
}

/** Of every request, said by clients and decided by nobody. */
const noise =
  /^(connection|content-length|accept-encoding|user-agent|keep-alive|sec-fetch-mode|transfer-encoding|x-stainless-.*|x-goog-api-client|traceparent|x-request-id|priority)$/

/** What a run did, as texts. */
export function wireOf(deeds: readonly Deed[]): Wire {
  const names = new Map<string, string>()
  const exact = deeds.map((deed) => anonymous(sorted(spelled(plain(deed), names)), names))
  const actions = exact.filter((_text, at) => deeds[at]?.kind !== 'model')
  return { exact, questions: exact.toSorted(), actions: actions.toSorted() }
}

/** A request without noise. */
function plain(deed: Deed): Deed {
  if (deed.kind !== 'model' && deed.kind !== 'service') return deed
  const headers = Object.fromEntries(Object.entries(deed.headers).filter(([name]) => !noise.test(name)))
  return { ...deed, headers }
}

type Fields = Readonly<Record<string, unknown>>

/** A question in one spelling: what providers are bound to read alike. Written from their references, not from ours. */
function spelled(deed: Deed, names: Map<string, string>): unknown {
  if (deed.kind !== 'model' && deed.kind !== 'service') return deed
  const host = deed.host.replace(/^localhost\b/, '127.0.0.1')
  if (deed.kind === 'service') {
    const { connection: _connection, host: _host, ...headers } = withoutKeys(deed.headers, names)
    return { ...deed, host, headers }
  }
  const { accept: _accept, host: _host, ...headers } = withoutKeys(deed.headers, names)
  const path = deed.path.replace(':streamGenerateContent', ':generateContent')
  const { alt: _alt, ...query } = deed.query
  return { ...deed, host, path, query, headers, body: questionOf(path, host, deed.body as Fields) }
}

/** Keys are replaced now and then: what matters is which requests share one, and its scheme. */
function withoutKeys(
  headers: Readonly<Record<string, string>>,
  names: Map<string, string>,
): Readonly<Record<string, string>> {
  const keys = /^(authorization|x-api-key|x-goog-api-key)$/
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      keys.test(name) ? value.replace(/[^ ]+$/, (key) => named(`${name} ${key}`, names)) : value,
    ]),
  )
}

function named(value: string, names: Map<string, string>): string {
  const name = names.get(value) ?? `id ${names.size + 1}`
  names.set(value, name)
  return name
}

const bookkeeping = [
  'user',
  'metadata',
  'safety_identifier',
  'prompt_cache_key',
  'service_tier',
  'stream_options',
  'labels',
]

function questionOf(path: string, host: string, body: Fields): Fields {
  const { stream: _stream, ...rest } = without(body, bookkeeping)
  if (path.endsWith('/chat/completions')) return chatOf(rest, host)
  if (path.endsWith('/responses')) return responsesOf(rest)
  if (path.endsWith('/messages')) return anthropicOf(rest)
  return rest['contents'] === undefined ? rest : geminiOf(rest)
}

function chatOf(body: Fields, host: string): Fields {
  const isOpenAi = host === 'api.openai.com'
  const defaults: Fields = {
    n: 1,
    logprobs: false,
    presence_penalty: 0,
    frequency_penalty: 0,
    ...(body['tools'] !== undefined && { tool_choice: 'auto' }),
    ...(isOpenAi && { temperature: 1, top_p: 1, parallel_tool_calls: true }),
  }
  const messages = (body['messages'] as readonly Fields[]).map((message) => {
    const { role, content, ...rest } = withoutNulls(unparsed(message) as Fields)
    return {
      role: isOpenAi && role === 'developer' ? 'system' : role,
      ...rest,
      ...(content !== undefined && { content: oneText(content) }),
    }
  })
  return { ...withoutDefaults(withoutNulls(body), defaults), messages }
}

function responsesOf(body: Fields): Fields {
  const defaults: Fields = {
    temperature: 1,
    top_p: 1,
    truncation: 'disabled',
    parallel_tool_calls: true,
    background: false,
    store: true,
    text: { format: { type: 'text' } },
    ...(body['tools'] !== undefined && { tool_choice: 'auto' }),
  }
  const given = body['input']
  const items = typeof given === 'string' ? [{ role: 'user', content: given }] : (given as readonly Fields[])
  const input = items.map((item) => {
    const { type, content, output, ...rest } = unparsed(item) as Fields
    return {
      ...rest,
      ...(type !== 'message' && type !== undefined && { type }),
      ...(content !== undefined && { content: oneText(content) }),
      ...(output !== undefined && { output: oneText(output) }),
    }
  })
  return { ...withoutDefaults(withoutNulls(body), defaults), input }
}

function anthropicOf(body: Fields): Fields {
  const clean = deeply(body, (fields) => without(fields, ['cache_control'])) as Fields
  const defaults: Fields = { ...(body['tools'] !== undefined && { tool_choice: { type: 'auto' } }) }
  const turns: { role: unknown; content: unknown[] }[] = []
  for (const { role, content } of clean['messages'] as readonly Fields[]) {
    const blocks = (
      typeof content === 'string' ? [{ type: 'text', text: content }] : (content as readonly Fields[])
    ).map(({ is_error, content: inner, ...block }) => ({
      ...block,
      ...(is_error === true && { is_error }),
      ...(inner !== undefined && { content: oneText(inner) }),
    }))
    if (turns.at(-1)?.role === role) turns.at(-1)!.content.push(...blocks)
    else turns.push({ role, content: blocks })
  }
  const tools = (clean['tools'] as readonly Fields[] | undefined)?.map(({ type, ...tool }) => ({
    ...tool,
    ...(type !== undefined && type !== 'custom' && { type }),
  }))
  const { system, ...rest } = withoutDefaults(clean, defaults)
  return { ...rest, messages: turns, ...(tools && { tools }), ...(system !== undefined && { system: oneText(system) }) }
}

function geminiOf(body: Fields): Fields {
  const { systemInstruction, ...rest } = body
  const instruction = systemInstruction as Fields | undefined
  const contents = (body['contents'] as readonly Fields[]).map((content) => ({ role: 'user', ...content }))
  return { ...rest, contents, ...(instruction !== undefined && { systemInstruction: without(instruction, ['role']) }) }
}

/** One part of text, and the text of it, are one content. */
function oneText(content: unknown): unknown {
  if (!Array.isArray(content) || content.length !== 1) return content
  const part = content[0] as Fields
  const isText =
    ['text', 'input_text', 'output_text'].includes(String(part['type'])) && typeof part['text'] === 'string'
  const isAlone = Object.entries(part).every(([name, value]) => ['type', 'text'].includes(name) || isEmpty(value))
  return isText && isAlone ? part['text'] : content
}

/** Without what helpers of the SDK put beside what they parsed, and send back: nothing, where there was nothing to parse. */
function unparsed(value: unknown): unknown {
  return deeply(value, (fields) =>
    Object.fromEntries(
      Object.entries(fields).filter(([name, each]) => each !== null || !['parsed', 'parsed_arguments'].includes(name)),
    ),
  )
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0)
}

function without(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))
}

function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}

function withoutDefaults(fields: Fields, defaults: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => sorted(value) !== sorted(defaults[name])))
}

function deeply(value: unknown, of: (fields: Fields) => Fields): unknown {
  if (Array.isArray(value)) return value.map((each) => deeply(each, of))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(of(value as Fields)).map(([name, each]) => [name, deeply(each, of)]))
}

/** JSON with the keys of every object in one order. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  )
}

/** Ids are drawn anew in each run: what matters is where the same one stands. */
function anonymous(text: string, names: Map<string, string>): string {
  const ids = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|(?<=_|chatcmpl-)[0-9a-f]{24}\b/g
  return text.replaceAll(ids, (id) => named(id, names))
}

/** What of an edit is not as its kind says, or nothing. */
export function mislabelled(kind: string, base: Wire, live: Wire): string | undefined {
  const same = (part: keyof Wire) => JSON.stringify(base[part]) === JSON.stringify(live[part])
  if (kind === 'meaning') return same('exact') ? 'changes nothing on the wire' : undefined
  if (kind === 'harmless')
    return same('questions') ? undefined : `changes ${firstOther(base.questions, live.questions)}`
  if (same('questions')) return 'changes no question'
  return same('actions') ? undefined : `changes an action: ${firstOther(base.actions, live.actions)}`
}

function firstOther(base: readonly string[], live: readonly string[]): string {
  const other = live.find((text) => !base.includes(text)) ?? base.find((text) => !live.includes(text)) ?? ''
  return other.slice(0, 2_000)
}
