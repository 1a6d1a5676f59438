import { isMap } from '../json/canonical.ts'
import { decodeBytes, encodeBytes, type Chunk, type Json, type RecordedResponse } from '../tape/index.ts'
import { own, parse } from './difference.ts'
import { type Fields, isRpcMessage, tokenOf } from './rpc.ts'

/**
 * The answer to a JSON-RPC request over HTTP, under the number that the live request has: clients number requests in the order
 * in which they make them, and wait for an answer with that number. The recorded one itself where both have one number.
 */
export function underLiveNumber(response: RecordedResponse, recorded: string, live: string): RecordedResponse {
  if (recorded === live) return response
  const [before, now] = [parse(recorded), parse(live)]
  if (!isRpcMessage(before) || !isRpcMessage(now)) return response
  const numbers = { id: [before['id'], now['id']], token: [tokenOf(before), tokenOf(now)] } as const
  if (numbers.id[0] === numbers.id[1] && numbers.token[0] === numbers.token[1]) return response
  const named = (name: string): string => response.headers.find(([key]) => key.toLowerCase() === name)?.[1] ?? ''
  if (named('content-encoding') !== '') return response
  const isStream = named('content-type').startsWith('text/event-stream')
  return { ...response, chunks: rewritten(response.chunks, isStream, (text) => renumbered(text, numbers)) }
}

type Numbers = Readonly<Record<'id' | 'token', readonly [recorded: Json | undefined, live: Json | undefined]>>

/** A message that answers the request, or tells its progress; any other stays as it is. */
function renumbered(text: string, { id, token }: Numbers): string {
  const message = parse(text)
  if (!isRpcMessage(message)) return text
  if (!Object.hasOwn(message, 'method') && own(message, 'id') === id[0])
    return JSON.stringify({ ...message, id: id[1] })
  const params = own(message, 'params')
  if (message['method'] !== 'notifications/progress' || !isMap(params) || token[1] === undefined) return text
  if (own(params, 'progressToken') !== token[0]) return text
  return JSON.stringify({ ...message, params: { ...(params as Fields), progressToken: token[1] } })
}

/** Each line of a stream arrives whole with the piece that had its end; a body that is no stream with the last piece. */
function rewritten(chunks: readonly Chunk[], isStream: boolean, write: (text: string) => string): readonly Chunk[] {
  let rest = Buffer.alloc(0)
  return chunks.map(([n, at, bytes], index) => {
    const held = Buffer.concat([rest, decodeBytes(bytes)])
    const isLast = index === chunks.length - 1
    const end = isLast ? held.length : isStream ? held.lastIndexOf(0x0a) + 1 : 0
    rest = held.subarray(end)
    const text = held.subarray(0, end).toString('utf8')
    const written = isStream
      ? text.replaceAll(/^(data: ?)(.*)$/gm, (_, field, data) => `${field}${write(data)}`)
      : write(text)
    return [n, at, encodeBytes(Buffer.from(written))] as const
  })
}
