import { channel } from 'node:diagnostics_channel'
import type { Pairs } from '../pairs.ts'
import { hasOtherSubscribers, tellOthers } from '../patch.ts'
import { requestPairs } from './undici-parts.ts'

const create = channel('undici:request:create')
const bodySent = channel('undici:request:bodySent')
const answered = channel('undici:request:headers')
const trailers = channel('undici:request:trailers')
const failed = channel('undici:request:error')
const told = [create, bodySent, answered, trailers, failed]

/** Whether someone, as tracing does, hears of the requests of undici: who hears of one may add headers to it. */
export function isInstrumented(): boolean {
  return told.some(hasOtherSubscribers)
}

/** A request that undici never makes, for those who would hear of it from undici. */
export class ToldRequest {
  readonly completed = false
  readonly aborted = false
  readonly upgrade = null
  /** As undici has them: names and values in turn. */
  readonly headers: string[]
  readonly #given: number
  readonly origin: string
  readonly path: string
  readonly method: string

  constructor(origin: string, path: string, method: string, headers: Pairs) {
    this.origin = origin
    this.path = path
    this.method = method
    this.headers = headers.flat()
    this.#given = this.headers.length
    tellOthers(create, { request: this })
  }

  addHeader(name: string, value: string): this {
    this.headers.push(name, String(value))
    return this
  }

  get added(): Pairs {
    return requestPairs(this.headers.slice(this.#given))
  }

  sent(): void {
    tellOthers(bodySent, { request: this })
  }

  answered(statusCode: number, statusText: string, headers: readonly Buffer[]): void {
    tellOthers(answered, { request: this, response: { statusCode, statusText, headers } })
  }

  ended(): void {
    tellOthers(trailers, { request: this, trailers: [] })
  }

  failed(error: Error): void {
    tellOthers(failed, { request: this, error })
  }
}
