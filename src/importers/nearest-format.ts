import type { HarvestError } from '../errors/index.ts'
import type { Cursor } from './cursor.ts'
import { type ForeignDocument, itemsAt } from './document.ts'
import { refusal } from './refusal.ts'
import type { ImportFormat } from './types.ts'

/** Which format a file that is in none comes nearest to, and what keeps it from being one. */
export interface NearestFormat {
  readonly format: ImportFormat | undefined
  readonly problem: string
}

/** The error for a file of no known format. */
export function unknownFormat(file: string, { format, problem }: NearestFormat, line?: number): HarvestError {
  const place = { file, ...(line === undefined ? {} : { line }), nearest: format ?? 'none' }
  return refusal('HARVEST_IMPORT_UNKNOWN', place, `no known format: ${problem}`)
}

/** Of a document that no format recognises. */
export function nearestTo(document: ForeignDocument): NearestFormat {
  const { root, isLines } = document
  const isList = isLines || Array.isArray(root.value)
  if (!root.isMap && !isList) return { format: undefined, problem: 'one value, and no list or map' }
  const names = namesIn(document)
  const interactions = ofInteractions(document)
  if (interactions !== undefined) return { format: 'vcrpy', problem: interactions }
  const [best] = Object.entries(telling)
    .map(([format, own]) => ({ format: format as ImportFormat, share: shareOf(own, names) }))
    .sort((a, b) => b.share - a.share)
  if (best === undefined || best.share < nearShare) return { format: undefined, problem: 'its fields have other names' }
  const missing = telling[best.format]!.filter((name) => !names.has(plain(name)))
  return { format: best.format, problem: missing.length === 0 ? 'its fields are in other places' : `no ${missing[0]}` }
}

/** Of a text that is neither JSON nor YAML; `undefined` when it may be one of these, with a mistake in it. */
export function nearestToText(text: string): NearestFormat | undefined {
  if (text.trim() === '') return { format: undefined, problem: 'it is empty' }
  const lines = nearestToLines(text)
  if (lines !== undefined) return lines
  return /^(?:---|[[{%!&*]|- |-$|["']?[\w.-]+["']?\s*:(?:\s|$))/m.test(text)
    ? undefined
    : { format: undefined, problem: 'neither JSON nor YAML' }
}

/** Of lines that are no JSON, though some of them end with a message of JSON-RPC: one such line may be YAML. */
export function nearestToLines(text: string): NearestFormat | undefined {
  return /^\uFEFF?\w\S+ .*\{.*"jsonrpc" *: *"2\.0".*\}/m.test(text)
    ? { format: 'mcp-log', problem: 'JSON-RPC messages on lines without STDIN: or STDOUT: before them' }
    : undefined
}

/** What a list of interactions begins with, where that is no request. */
function ofInteractions(document: ForeignDocument): string | undefined {
  if (!Array.isArray(document.root.at('interactions').value)) return undefined
  for (const first of itemsAt(document, 'interactions')) {
    if (!first.isMap || first.at('request').isThere) return undefined
    const other = otherThanHttp(first)
    return other === undefined ? 'its interactions have no request' : `${other}, and no HTTP calls`
  }
  return undefined
}

/** What an interaction is that has no request, as far as its names say. */
export function otherThanHttp(interaction: Cursor): string | undefined {
  const names = new Set<string>()
  addNames(names, interaction)
  if (names.has('direction') && names.has('data')) return 'frames of a WebSocket'
  return names.has('raw') && names.has('json') ? 'calls of gRPC' : undefined
}

/** Names that files of a format have, more than those of others do. */
const telling: Partial<Record<ImportFormat, readonly string[]>> = {
  vcrpy: ['interactions', 'request', 'response', 'uri'],
  'ruby-vcr': ['http_interactions', 'recorded_with', 'request', 'response'],
  'go-vcr': ['interactions', 'request', 'response', 'duration'],
  har: ['log', 'entries', 'request', 'response', 'startedDateTime'],
  nock: ['scope', 'path', 'method', 'status', 'response'],
  'undici-snapshot': ['snapshot', 'request', 'responses'],
  aimock: ['fixtures', 'match', 'response'],
  otlp: ['resourceSpans', 'scopeSpans', 'spans', 'traceId', 'spanId'],
  'otel-spans': ['traceId', 'spanId', 'name', 'attributes'],
  jaeger: ['traceID', 'spans', 'operationName', 'spanID'],
  langsmith: ['run_type', 'trace_id', 'inputs', 'outputs'],
  langfuse: ['observations', 'traceId', 'type', 'input', 'output'],
  braintrust: ['span_attributes', 'root_span_id', 'input', 'output'],
  deepeval: ['uuid', 'llmSpans', 'toolSpans', 'agentSpans'],
  'mcp-jsonl': ['direction', 'jsonrpc', 'method', 'id'],
  temporal: ['events', 'eventId', 'eventTime', 'eventType'],
  'tau-bench': ['traj', 'task_id', 'trial', 'reward'],
  'tau2-bench': ['simulations', 'task_id', 'trial', 'messages'],
  agentdojo: ['suite_name', 'user_task_id', 'messages', 'utility', 'security'],
  'swe-agent': ['trajectory', 'observation', 'action', 'info'],
  'who-and-when': ['history', 'mistake_agent', 'mistake_step'],
  'inspect-ai': ['eval', 'plan', 'samples', 'version'],
  tapeagents: ['steps', 'metadata', 'parent_id', 'kind'],
  openhands: ['history', 'action', 'observation', 'source'],
  atif: ['agent', 'steps', 'step_id', 'tool_calls', 'observation'],
  adk: ['events', 'author', 'content', 'parts', 'invocation_id'],
  'claude-code': ['sessionId', 'uuid', 'message', 'type'],
  codex: ['session_meta', 'payload', 'response_item'],
  chat: ['messages', 'role', 'content'],
}

/** With fewer of a format's names a file has them by chance. */
const nearShare = 0.7

function shareOf(own: readonly string[], names: ReadonlySet<string>): number {
  const there = own.filter((name) => names.has(plain(name))).length
  return there < 2 ? 0 : there / own.length
}

/** `trace_id`, `traceId` and `traceID` are one name. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '')
}

/** The names at the beginning of a document: of the first item of each list, a few levels deep. */
function namesIn(document: ForeignDocument): ReadonlySet<string> {
  const names = new Set<string>()
  addNames(names, document.root)
  let looked = 0
  if (document.items !== undefined)
    for (const one of itemsAt(document)) {
      addNames(names, one, 1)
      if (++looked === itemsCap) break
    }
  return names
}

function addNames(names: Set<string>, at: Cursor, depth = 0): void {
  if (depth > namesDepth || names.size > namesCap) return
  if (at.first !== undefined) addNames(names, at.first, depth + 1)
  if (!at.isMap) return
  for (const [name, inner] of at.members.slice(0, namesCap)) {
    names.add(plain(name))
    addNames(names, inner, depth + 1)
  }
}

const namesDepth = 5
const namesCap = 500
const itemsCap = 5
