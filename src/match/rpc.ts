import { isMap } from '../json/canonical.ts'
import { messageOf } from '../seam/stdio.ts'
import type { Json } from '../tape/index.ts'
import { firstDifference, own, parse } from './difference.ts'
import type { FoundDrift, MatchRequest } from './matcher.ts'

export type Fields = { readonly [key: string]: Json }

/**
 * A JSON-RPC request without what its client numbers, and a greeting without what the client says of itself: its name, and
 * the version of the protocol it would like. The server answered with the version that the recorded session then spoke.
 *
 * The id and the token under which progress is reported go: the answer is given under the live ones. Over HTTP only what names
 * its protocol is sure to be one; `id`, `method` and `params` of another body may be those of an order.
 *
 * @param isForeign - the tape is the log of another client: what that client could do is not what the agent says
 */
export function steadyRpc(request: Fields, via: MatchRequest['via'], isForeign: boolean): Fields {
  if (via !== 'stdio' && !isRpcMessage(request)) return request
  const named = request['method'] === 'initialize' ? withoutClient(request, isForeign) : request
  return { ...withoutToken(named), id: null }
}

/** The same without the notes that the client of a log kept in `_meta`; `undefined` when it kept none. */
export function withoutNotes(steady: Fields): Fields | undefined {
  return own(fieldsOf(steady['params']), '_meta') === undefined ? undefined : withoutMeta(steady, () => true)
}

/** What two clients say of themselves in the same request; empty where they say the same. */
export function clientDrift(recorded: string, live: string): readonly FoundDrift[] {
  const [before, now] = [recorded, live].map((text) => withoutToken(fieldsOf(parse(text))))
  const places = [
    ['name of the MCP client', 'clientInfo'],
    ['version of the MCP protocol', 'protocolVersion'],
    ['capabilities of the MCP client', 'capabilities'],
    ['notes of the MCP client', '_meta'],
  ] as const
  return places.flatMap(([part, name]) => {
    const at = (message: Fields | undefined): Json | undefined => own(fieldsOf(message?.['params']), name)
    const found = firstDifference(at(before), at(now), `params.${name}`)
    return found === undefined ? [] : [{ class: 'bookkeeping', part, ...found }]
  })
}

/** Which live token stands for which recorded one: a server tells progress under the token of the request. */
export class ProgressTokens {
  /** By child and recorded token; `undefined` where the live request asks for no progress. */
  readonly #live = new Map<string, Json | undefined>()

  /** A live request is answered with the answer to a recorded one. */
  answered(url: string, recorded: string, live: string): void {
    const token = tokenOf(fieldsOf(parse(recorded)))
    if (token !== undefined) this.#live.set(keyOf(url, token), tokenOf(fieldsOf(parse(live))))
  }

  /** What a child says, under the live token. Absent: it is progress that was not asked for this time. */
  renamed(url: string, text: string): string | undefined {
    const message = messageOf(text) as Fields | undefined
    if (message === undefined || message['method'] !== 'notifications/progress') return text
    const params = fieldsOf(message['params'])
    const token = own(params, 'progressToken')
    if (token === undefined || !this.#live.has(keyOf(url, token))) return text
    const live = this.#live.get(keyOf(url, token))
    if (live === undefined) return undefined
    return live === token ? text : JSON.stringify({ ...message, params: { ...params, progressToken: live } })
  }
}

/** Whether a body names JSON-RPC 2.0 as its protocol. */
export function isRpcMessage(value: Json | undefined): value is Fields {
  return isMap(value) && own(value, 'jsonrpc') === '2.0'
}

/** Whether a body is a JSON-RPC request. */
export function isRpcRequest(value: Json | undefined): value is Fields {
  return isMap(value) && Object.hasOwn(value, 'method') && Object.hasOwn(value, 'id')
}

function keyOf(url: string, token: Json): string {
  return `${JSON.stringify(token)} ${url}`
}

/** Under which progress is reported. */
export function tokenOf(request: Fields): Json | undefined {
  return own(fieldsOf(own(fieldsOf(own(request, 'params')), '_meta')), 'progressToken')
}

function withoutClient(request: Fields, isForeign: boolean): Fields {
  const params = { ...fieldsOf(request['params']), clientInfo: null, protocolVersion: null }
  return { ...request, params: isForeign ? { ...params, capabilities: null } : params }
}

function withoutToken(request: Fields): Fields {
  return tokenOf(request) === undefined ? request : withoutMeta(request, (name) => name === 'progressToken')
}

/** A request without members of its `_meta`; with none left there is no `_meta`, and with nothing else no `params`. */
function withoutMeta(request: Fields, isOut: (name: string) => boolean): Fields {
  const { params, ...message } = request
  const { _meta: meta, ...rest } = fieldsOf(params)
  const left = Object.entries(fieldsOf(meta)).filter(([name]) => !isOut(name))
  const kept = left.length === 0 ? rest : { ...rest, _meta: Object.fromEntries(left) }
  return Object.keys(kept).length === 0 ? message : { ...message, params: kept }
}

function fieldsOf(value: Json | undefined): Fields {
  return isMap(value) ? value : {}
}
