import { createInterface } from 'node:readline'
import { isMap, parseJson } from '../../json/canonical.ts'
import type { Json } from '../../tape/index.ts'

export type McpParams = Readonly<Record<string, Json>>

/** What a request is answered with. */
export type McpAnswer =
  | { readonly result: object }
  | { readonly error: { readonly code: number; readonly message: string } }

/** What answers requests of the Model Context Protocol. */
export interface McpResponder {
  /** All but calls: it costs nothing and is answered at once. */
  respond(method: Json | undefined, params: McpParams): McpAnswer
  /**
   * A call of a tool; one after the other.
   *
   * @param signal - its forks end, or do not begin: whoever asked left, or wants no answer
   */
  call(params: McpParams, signal: AbortSignal): Promise<object>
}

/** A call that waits or runs. */
interface PendingCall {
  readonly id: Json
  readonly stop: AbortController
  isCancelled: boolean
}

/**
 * Answers the lines of a client until they end. Lines are read while a call runs, so that it can be cancelled. Whoever ends
 * the lines pays for nothing more: forks that run end, and others do not begin. What costs nothing is answered.
 *
 * @param signal - whoever ended the server wants no more of it
 */
export async function eachLine(
  input: NodeJS.ReadableStream,
  to: McpResponder,
  write: (reply: object) => void,
  signal: AbortSignal,
): Promise<void> {
  const calls = new Set<PendingCall>()
  const failed = Promise.withResolvers<never>()
  let last: Promise<void> = Promise.resolve()
  const answer = (id: Json, answered: McpAnswer): void => write({ jsonrpc: '2.0', id, ...answered })
  const run = async (call: PendingCall, params: McpParams): Promise<void> => {
    if (!call.isCancelled && !signal.aborted) {
      const result = await to.call(params, AbortSignal.any([signal, call.stop.signal]))
      // Whoever cancelled expects no answer.
      if (!call.isCancelled) answer(call.id, { result })
    }
    calls.delete(call)
  }
  const take = (line: string): void => {
    const request = parseJson(line)
    if (request === undefined) return answer(null, { error: { code: -32700, message: 'this line is not JSON' } })
    if (!isMap(request)) return answer(null, { error: { code: -32600, message: 'this line is not a request' } })
    const { id, method } = request
    const params = isMap(request['params']) ? request['params'] : {}
    // A notification is not answered.
    if (id === undefined) {
      if (method === 'notifications/cancelled') cancel(calls, params['requestId'])
      return
    }
    if (method !== 'tools/call') return answer(id, to.respond(method, params))
    const call: PendingCall = { id, stop: new AbortController(), isCancelled: false }
    calls.add(call)
    last = last.then(() => run(call, params))
    last.catch(failed.reject)
  }
  const read = async (): Promise<void> => {
    for await (const line of createInterface({ input })) if (line.trim() !== '') take(line)
    for (const { stop } of calls) stop.abort()
    await last
  }
  await Promise.race([read(), failed.promise])
}

function cancel(calls: ReadonlySet<PendingCall>, id: Json | undefined): void {
  for (const call of calls) {
    if (call.id !== id) continue
    call.isCancelled = true
    call.stop.abort()
  }
}
