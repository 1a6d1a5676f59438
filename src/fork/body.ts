import { decodeBody } from '../providers/index.ts'
import { encodeBytes, type ExchangeEvent, responseBytes } from '../tape/index.ts'

/** The body of an answer as text, unpacked, and whether it is a stream of server-sent events. */
export function answerText(event: ExchangeEvent): { readonly text: string; readonly isStream: boolean } {
  const headers = event.response?.headers ?? []
  const encoding = headers.find(([name]) => name === 'content-encoding')?.[1]
  const text = Buffer.from(decodeBody(responseBytes(event), encoding)).toString('utf8')
  return { text, isStream: headers.some(([name, value]) => name === 'content-type' && value.includes('event-stream')) }
}

/** The answer with another body, uncompressed and in one piece at the moment of its first. */
export function withBody(event: ExchangeEvent, text: string): ExchangeEvent {
  const { response } = event
  if (response === undefined) return event
  const [first] = response.chunks
  const bytes = Buffer.from(text)
  const [n, at] = first ?? response.moment
  const headers = response.headers
    .filter(([name]) => name !== 'content-encoding')
    .map(([name, value]) => [name, name === 'content-length' ? String(bytes.length) : value] as const)
  return { ...event, response: { ...response, headers, chunks: [[n, at, encodeBytes(bytes)]] } }
}
