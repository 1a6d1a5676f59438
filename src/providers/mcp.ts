import type { ExchangeEvent, Json } from '../tape/types.ts'
import { requestText } from './exchange.ts'
import { at, isList, parseJson, textAt } from '../json/canonical.ts'

/** A tool call that went to an MCP server. */
export interface McpCall {
  readonly name: string
  readonly args: Json
  /** JSON-RPC id of the request. */
  readonly id: string | number | null
}

/**
 * The MCP tool call an exchange carried, over streamable HTTP or stdio.
 *
 * @returns `undefined` for everything else, other MCP methods included. Of a JSON-RPC batch, the first call.
 */
export function readMcpCall(event: ExchangeEvent): McpCall | undefined {
  const text = requestText(event)
  // Model requests can be megabytes and are asked about too: parse only what can be one.
  if (!text.includes('tools/call')) return undefined
  const body = parseJson(text)
  const message = (isList(body) ? body : [body]).find((item) => at(item, 'method') === 'tools/call')
  if (at(message, 'jsonrpc') !== '2.0') return undefined
  const params = at(message, 'params')
  const name = textAt(params, 'name')
  const id = at(message, 'id')
  if (name === undefined) return undefined
  return { name, args: at(params, 'arguments') ?? {}, id: typeof id === 'string' || typeof id === 'number' ? id : null }
}
