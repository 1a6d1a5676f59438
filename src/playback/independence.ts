import { readRpc } from '../providers/rpc.ts'
import { decodeBytes, type Json, type Step } from '../tape/index.ts'

/** Methods by which nothing is changed where they are answered. See RFC 9110, section 9.2.1. */
const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

export function isSafeMethod(method: string): boolean {
  return safeMethods.has(method)
}

/** Requests to an MCP server that only read; a tool may do anything. See the schema of the protocol, `ClientRequest`. */
const mcpReads = new Set([
  ...['ping', 'tools/list', 'resources/list', 'resources/templates/list', 'resources/read'],
  ...['prompts/list', 'prompts/get', 'completion/complete'],
])

/** Whether a step only reads: it can be made at the same time as others, or needlessly, and nothing is different for it. */
export function isRead(event: Step): boolean {
  if (event.kind !== 'exchange') return event.kind === 'retrieval'
  const rpc = event.via === 'stdio' || event.method === 'POST' ? readRpc(event) : undefined
  return rpc === undefined ? event.via !== 'stdio' && isSafeMethod(event.method) : mcpReads.has(rpc.method)
}

/** What a step was asked with: parts of its address, or its arguments. Values of one or two characters are left out. */
export function askedValues(event: Step): readonly string[] {
  if (event.kind !== 'exchange') return valuesIn(event.args)
  const { body } = event.request
  const inBody = typeof body === 'string' ? valuesOf(body) : []
  if (!URL.canParse(event.url)) return inBody
  const { pathname, searchParams } = new URL(event.url)
  return [...pathname.split('/').map(decoded), ...searchParams.values(), ...inBody].filter(says)
}

/** What a step was answered with. */
export function answerValues(event: Step): readonly string[] {
  if (event.kind !== 'exchange') return valuesIn(event.result)
  const pieces = event.response?.chunks.map(([, , bytes]) => decodeBytes(bytes)) ?? []
  return valuesOf(Buffer.concat(pieces).toString('utf8'))
}

/** The values of a JSON text; of any other, its words. */
export function valuesOf(text: string): readonly string[] {
  try {
    return valuesIn(JSON.parse(text) as Json)
  } catch {
    // No JSON: then every word may be a value.
    return wordsOf(text).filter(says)
  }
}

export function wordsOf(text: string): readonly string[] {
  return text.split(/[^\p{L}\p{N}_.@-]+/u)
}

/** The values of JSON as texts, without those of one or two characters. */
export function valuesIn(json: Json | undefined): readonly string[] {
  if (json === undefined || json === null || typeof json === 'boolean') return []
  if (typeof json !== 'object') return [String(json)].filter(says)
  return Object.values(json as { readonly [key: string]: Json }).flatMap(valuesIn)
}

/** A value of one or two characters, such as the number of a page, is at many places and says nothing of where it came from. */
function says(value: string): boolean {
  return value.length > 2
}

export function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    // A lone percent sign stands for itself.
    return part
  }
}
