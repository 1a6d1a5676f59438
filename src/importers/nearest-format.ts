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
export function unknownFormat(file: string, { format, problem }: NearestFormat): HarvestError {
  return refusal('HARVEST_IMPORT_UNKNOWN', { file, nearest: format ?? 'none' }, `no known format: ${problem}`)
}

/** Of a document that no format recognises. */
export function nearestTo(document: ForeignDocument): NearestFormat {
  const { root, isLines } = document
  const isList = isLines || Array.isArray(root.value)
  if (!root.isMap && !isList) return { format: undefined, problem: 'one value, and no list or map' }
  const names = namesIn(document)
  const interactions = ofInteractions(names)
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
  if (/^\S+ .*\{.*"jsonrpc" *: *"2\.0".*\}/m.test(text))
    return { format: 'mcp-log', problem: 'JSON-RPC messages on lines without STDIN: or STDOUT: before them' }
  return /^(?:---|[[{%!&*]|- |-$|["']?[\w.-]+["']?\s*:(?:\s|$))/m.test(text)
    ? undefined
    : { format: undefined, problem: 'neither JSON nor YAML' }
}

/** What stands in a list of interactions that are no requests and answers. */
function ofInteractions(names: ReadonlySet<string>): string | undefined {
  if (!names.has('interactions') || names.has('request')) return undefined
  if (names.has('direction') && names.has('data')) return 'frames of a WebSocket, and no HTTP calls'
  if (names.has('raw') && names.has('json')) return 'calls of gRPC, and no HTTP calls'
  return 'its interactions have no request'
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
  const visit = (at: Cursor, depth: number): void => {
    if (depth > namesDepth || names.size > namesCap) return
    if (at.first !== undefined) visit(at.first, depth + 1)
    if (at.isMap)
      for (const [name, inner] of at.members.slice(0, namesCap)) {
        names.add(plain(name))
        visit(inner, depth + 1)
      }
  }
  visit(document.root, 0)
  let looked = 0
  if (document.items !== undefined)
    for (const one of itemsAt(document)) {
      visit(one, 1)
      if (++looked === itemsCap) break
    }
  return names
}

const namesDepth = 5
const namesCap = 500
const itemsCap = 5
