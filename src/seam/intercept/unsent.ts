import type { ClientRequest } from 'node:http'
import { runHeader } from '../connection.ts'
import { hearAhead } from '../observe/body-ahead.ts'
import { headerPairs } from '../observe/channels.ts'
import { hearClient, setHeaders } from '../observe/http.ts'
import type { ExchangeObserver } from '../observe/observer.ts'
import type { Pairs } from '../pairs.ts'
import { subscribeOnce } from '../patch.ts'
import { addressedUrl, asTargeted, statedHost, targetUrl } from '../shape.ts'
import { sharedOf } from '../source.ts'
import { type ExchangeControl, type LiveRequest, type Responder, silent } from './responder.ts'

/** A request of undici, as it is when it is made. */
export interface SentByUndici {
  readonly method: string
  readonly origin: unknown
  readonly path: string
  readonly headers: unknown
  readonly host?: unknown
  readonly upgrade?: unknown
  body?: unknown
  readonly contentLength?: unknown
}

const underWay = sharedOf('intercept/unsent', () => new WeakMap<object, UnsentRequest>())

/** Hears that requests fail before they are sent: what becomes of one in its client does so in a replay too. */
export function hearFailed(): void {
  for (const channel of ['undici:request:error', 'http.client.request.error'])
    subscribeOnce('unsent', channel, ({ request }: { request: object }) => underWay.get(request)?.aborted())
}

/** @returns what hears a request of undici until it is sent; `undefined` where nothing is to be heard of it */
export function unsentUndici(
  run: Responder,
  request: SentByUndici,
  madeAt: Error,
  beside: () => Pairs,
): UnsentRequest | undefined {
  // A proxy tunnel is not a request of the agent.
  if (!run.begins || request.method === 'CONNECT' || request.upgrade) return undefined
  const { method, path, origin } = request
  const url = targetUrl(path, String(origin))
  const host: Pairs = typeof request.host === 'string' ? [['host', request.host]] : []
  const headers = (): Pairs => [...host, ...untagged(headerPairs(request.headers))]
  const unsent = new UnsentRequest(run, { via: 'undici', method, url, madeAt, headers, beside })
  underWay.set(request, unsent)
  hearAhead(request, unsent)
  return unsent
}

/** The same of `node:http`. */
export function unsentHttp(
  run: Responder,
  request: ClientRequest,
  madeAt: Error,
  beside: () => Pairs,
): UnsentRequest | undefined {
  if (!run.begins || request.getHeader('upgrade') !== undefined) return undefined
  // The head of one with an `Expect` header was written before it could be marked: where it arrives is not known.
  if ((request as { readonly _headerSent?: boolean })._headerSent === true) return undefined
  const { method, path, protocol } = request
  const url = targetUrl(path, `${protocol}//${statedHost(request)}`)
  const headers = (): Pairs => asTargeted(path, untagged(setHeaders(request)))
  const unsent = new UnsentRequest(run, { via: 'http', method, url, madeAt, headers, beside })
  underWay.set(request, unsent)
  hearClient(request, unsent)
  return unsent
}

function untagged(pairs: Pairs): Pairs {
  return pairs.filter(([name]) => name !== runHeader)
}

/** A request that was made; its headers may be set until it is sent. */
interface MadeRequest extends Pick<LiveRequest, 'method' | 'url'> {
  readonly via: 'undici' | 'http'
  readonly madeAt: Error
  readonly headers: () => Pairs
  readonly beside: () => Pairs
}

/**
 * A request of a replay that was made and has not reached who answers it: it waits for a connection. A recorded run has it from
 * the moment it is made, so it is asked too when its client gives it up, or its run ends, before it is sent.
 */
export class UnsentRequest implements ExchangeObserver {
  readonly #run: Responder
  readonly #made: MadeRequest
  readonly #pieces: Buffer[] = []
  #isWhole = false
  #state: 'waiting' | 'arrived' | 'asked' = 'waiting'
  readonly #endBegun: (() => void) | undefined

  constructor(run: Responder, made: MadeRequest) {
    this.#run = run
    this.#made = made
    this.#endBegun = run.begins?.(() => void this.#ask('left'))
  }

  /**
   * It is answered as any other from here on.
   * @returns whether it is: one that was given up has been asked
   */
  arrived(): boolean {
    if (this.#state === 'asked') return false
    this.#state = 'arrived'
    this.#pieces.length = 0
    this.#endBegun?.()
    return true
  }

  requestHeaders(): void {
    // They are read when it is asked.
  }

  requestChunk(bytes: Buffer): void {
    if (this.#state === 'waiting') this.#pieces.push(bytes)
  }

  leaving(isWhole: boolean): void {
    if (isWhole) this.#isWhole = true
  }

  /** Its client gave it up, or could not send it. */
  aborted(): void {
    this.#ask(this.#pieces.length === 0 ? 'unsent' : 'given up')?.abort()
  }

  error(): void {
    this.aborted()
  }

  head(): void {
    // It is answered where it arrives.
  }

  chunk(): void {
    // As its head.
  }

  end(): void {
    // As its head.
  }

  /** @param open - how it ends where its body has not */
  #ask(open: 'left' | 'unsent' | 'given up'): ExchangeControl | undefined {
    if (this.#state !== 'waiting' || this.#endBegun === undefined) return undefined
    this.#state = 'asked'
    this.#endBegun()
    if (this.#run.over) return undefined
    const { via, method, url, madeAt, headers, beside } = this.#made
    const sent = headers()
    const live: LiveRequest = {
      via,
      method,
      url: addressedUrl(url, sent),
      headers: sent,
      body: Buffer.concat(this.#pieces),
      beside: beside(),
      madeAt,
      open: this.#isWhole ? 'kept back' : open,
    }
    try {
      return this.#run.exchange(live, silent)
    } catch {
      // The run has noted the difference, and its client waits for no answer.
      return undefined
    }
  }
}
