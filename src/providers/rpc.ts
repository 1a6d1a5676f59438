import { decodeBody } from '../wire/decode.ts'
import { requestText } from './exchange.ts'
import { readMcpCall } from './mcp.ts'
import { readFrames } from '../wire/frames.ts'
import { at, textAt } from '../json/canonical.ts'
import { type ExchangeEvent, type Json, responseBytes } from '../tape/index.ts'

/** A JSON-RPC message to a server and what came back, over HTTP or stdio. */
export interface Rpc {
  readonly method: string
  readonly id?: string
  /** The tool that was called, when one was. */
  readonly tool?: { readonly name: string; readonly args: Json }
  readonly result?: Json
  readonly error?: { readonly type: string; readonly message: string }
}

/** The JSON-RPC message an exchange carried; of a batch, the first one. `undefined` when it is not one. */
export function readRpc(event: ExchangeEvent): Rpc | undefined {
  const body = requestText(event)
  if (!body.includes('"jsonrpc"')) return undefined
  const [message] = readFrames(Buffer.from(body)).values
  const method = textAt(message, 'method')
  if (method === undefined) return undefined
  const id = at(message, 'id')
  const tool = readMcpCall(event)
  return {
    method,
    ...(typeof id === 'string' || typeof id === 'number' ? { id: `${id}` } : {}),
    ...(tool === undefined ? {} : { tool: { name: tool.name, args: tool.args } }),
    ...answerOf(event),
  }
}

/** A stream may carry notifications before the answer. */
function answerOf(event: ExchangeEvent): Pick<Rpc, 'result' | 'error'> {
  const encoding = event.response?.headers.find(([name]) => name.toLowerCase() === 'content-encoding')?.[1]
  const answered = readFrames(decodeBody(responseBytes(event), encoding)).values.findLast(
    (value) => at(value, 'result') !== undefined || at(value, 'error') !== undefined,
  )
  const error = at(answered, 'error')
  if (error !== undefined) {
    const code = at(error, 'code')
    return { error: { type: typeof code === 'number' ? `${code}` : '_OTHER', message: textAt(error, 'message') ?? '' } }
  }
  const result = at(answered, 'result')
  if (result === undefined) return {}
  return at(result, 'isError') === true ? { result, error: { type: 'tool_error', message: '' } } : { result }
}
