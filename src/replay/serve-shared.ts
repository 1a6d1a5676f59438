import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { type ExchangeControl, type ExchangeSink, real } from '../seam/intercept/index.ts'
import { decodeBytes } from '../tape/index.ts'
import { fitted } from './fitted.ts'
import type { SharedRequest } from '../match/types.ts'
import type { SharedAnswer } from './shared-answers.ts'

/** Who is answered so, and lists it. */
export interface SharedServing {
  readonly shared: SharedRequest[]
  /** Nothing else is due while one is under way. */
  pending: number
  readonly over: boolean
}

/**
 * Answers with what the recording process had already: at once, and no virtual time passes. It is no step of this run, so it
 * stands in no order with its steps.
 */
export function serveShared(run: SharedServing, { event, file }: SharedAnswer, sink: ExchangeSink): ExchangeControl {
  const { method, url, response } = event
  run.shared.push({ method, url, file, n: event.n })
  let isAborted = false
  // The agent waits for it: nothing else is due meanwhile.
  run.pending++
  real.setImmediate(() => {
    run.pending--
    if (isAborted || run.over || response === undefined) return
    const body = Buffer.concat(response.chunks.map(([, , bytes]) => decodeBytes(bytes)))
    const chunks = [isUtf8(body) ? Buffer.from(withStandIns(body.toString('utf8'))) : body]
    sink.head(response.status, response.statusText ?? '', fitted(response.headers, chunks, true))
    for (const chunk of chunks) sink.chunk(chunk)
    sink.end()
  })
  return {
    abort() {
      isAborted = true
    },
  }
}

/**
 * A token in the place of each placeholder. The run that is replayed had the token from elsewhere: on its tape it has another
 * number, which only a value can be given.
 */
function withStandIns(text: string): string {
  return text.replaceAll(/redacted-[a-z][a-z0-9-]*?-\d{1,9}/g, (placeholder) => {
    const digest = createHash('sha256').update(placeholder).digest('base64url')
    return `t0k${digest.replaceAll(/[-_]/g, 'x').slice(0, 29)}`
  })
}
