import http from 'node:http'
import https from 'node:https'
import type { ExchangeControl, ExchangeSink, LiveRequest } from '../seam/intercept/index.ts'
import { headerPairs } from '../seam/observe/channels.ts'
import { outsideRuns } from '../seam/source.ts'
import { type Chunk, encodeBytes, type ExchangeEvent, type Moment, type RecordedResponse } from '../tape/index.ts'

/** Who hears a request that really goes out. */
export interface ForwardListener {
  moment(): Moment
  /**
   * The answer is complete, has broken off, or nothing waits for the rest of it; once.
   *
   * @param error - why it broke off
   */
  ended(response: RecordedResponse, error?: RecordedBreak): void
  /** There is no answer. */
  failed?(error: RecordedBreak): void
}

/** What went wrong with a connection, and when. */
export type RecordedBreak = NonNullable<ExchangeEvent['error']>

/** Headers of one connection; the next one makes its own. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'proxy-connection',
  'expect',
])

/** Sends a request of a live run to where it was meant for, and hands the answer on as it comes. */
export function forward(live: LiveRequest, sink: ExchangeSink, listener: ForwardListener): ExchangeControl {
  if (live.via === 'websocket') {
    // One connection is one conversation: its server knows nothing of what the tape answered before.
    const error = Object.assign(new Error('a WebSocket is not gone on with live'), { code: 'HARVEST_NOT_RECORDED' })
    listener.failed?.(breakOf(error, listener))
    sink.error(error)
    return { abort: () => undefined }
  }
  return outsideRuns(() => {
    const url = new URL(live.url)
    const { request: send } = url.protocol === 'https:' ? https : http
    const headers = Object.fromEntries(
      live.headers.filter(([name]) => !hopByHop.has(name) && name !== 'content-length'),
    )
    const isEmpty = live.body.length === 0
    const request = send(url, {
      method: live.method,
      headers: { ...headers, ...(isEmpty ? {} : { 'content-length': String(live.body.length) }) },
      agent: false,
    })
    let breakOff: (() => void) | undefined
    request.on('error', (error) => {
      if (breakOff === undefined) listener.failed?.(breakOf(error, listener))
      sink.error(error)
    })
    request.on('response', (response) => {
      breakOff = hear(response, sink, listener)
    })
    request.end(isEmpty ? undefined : live.body)
    return {
      abort() {
        // Clients act on the last event of a stream and do not wait for its end: what was heard counts, and was paid for.
        breakOff?.()
        request.destroy()
      },
    }
  })
}

function breakOf({ name, message, code }: NodeJS.ErrnoException, listener: ForwardListener): RecordedBreak {
  return { name, message, ...(code === undefined ? {} : { code }), moment: listener.moment() }
}

/** @returns ends it with what was heard so far */
function hear(response: http.IncomingMessage, sink: ExchangeSink, listener: ForwardListener): () => void {
  const { statusCode = 0, statusMessage = '', rawHeaders } = response
  const headers = headerPairs(rawHeaders).filter(([name]) => !hopByHop.has(name))
  const head = { moment: listener.moment(), status: statusCode, statusText: statusMessage, headers }
  const chunks: Chunk[] = []
  let isOver = false
  const end = (rest: Pick<RecordedResponse, 'end'> = {}, error?: Error): void => {
    if (isOver) return
    isOver = true
    listener.ended({ ...head, chunks, ...rest }, error && breakOf(error, listener))
  }
  sink.head(statusCode, statusMessage, headers)
  response.on('data', (bytes: Buffer) => {
    chunks.push([...listener.moment(), encodeBytes(bytes)])
    sink.chunk(bytes)
  })
  response.on('error', (error) => {
    end({}, error)
    sink.error(error)
  })
  response.on('end', () => {
    end({ end: listener.moment() })
    sink.end()
  })
  return () => end()
}
