import type { Unsearched } from '../privacy/index.ts'
import type { HeaderPair } from '../tape/index.ts'
import { decodeBody } from './body.ts'
import { headerOf } from './headers.ts'
import { bodiesCap, bodyCap, decompressedBodiesCap } from './limits.ts'
import { type TextPosition, refusal } from './refusal.ts'
import type { ForeignBody, ForeignExchange } from './types.ts'

/** A body as its client read it, with the headers that are true of that. */
export interface Readable {
  readonly pieces: readonly Buffer[]
  readonly headers: readonly HeaderPair[]
  /** It cannot be searched, so none of it is kept. */
  readonly unsearched?: Unsearched
}

/** Undoes the content encodings of the bodies of one recording, in order, within the limits of one body and of all. */
export class Unpacking {
  #bytes = 0
  /** Of compressed bodies: bytes as they came, and as they are. */
  readonly #packed = { from: 0, to: 0 }
  #hadEncodings = false

  /** Bytes of all bodies, decoded. */
  get bytes(): number {
    return this.#bytes
  }

  /** Whether bodies were compressed. */
  get hadEncodings(): boolean {
    return this.#hadEncodings
  }

  /**
   * @param place - names the body in messages
   * @throws HarvestError `HARVEST_IMPORT_BOMB`, `_TOO_LARGE`
   */
  of(body: ForeignBody | undefined, headers: readonly HeaderPair[], place: () => TextPosition): Readable {
    const kept = headers.filter(([name]) => !ofBody.has(name))
    if (body === undefined) return { pieces: [], headers: kept }
    const whole = body.pieces.length === 1 ? body.pieces[0]! : Buffer.concat(body.pieces)
    const decoded = decodeBody(whole, headerOf(headers, 'content-encoding') ?? '')
    if (decoded === 'bomb')
      throw refusal('HARVEST_IMPORT_BOMB', place(), `a body of ${whole.length} compressed bytes becomes too large`)
    if ('unsearched' in decoded) {
      const { unsearched } = decoded
      return {
        pieces: [],
        headers: headers.filter(([name]) => name === 'content-encoding' || !ofBody.has(name)),
        unsearched,
      }
    }
    const { bytes, was } = decoded
    this.#bytes += bytes.length
    if (bytes.length > bodyCap || this.#bytes > bodiesCap)
      throw refusal('HARVEST_IMPORT_TOO_LARGE', place(), `its bodies have more than ${bodyCap} bytes`)
    if (was === 'encoded') this.#unpacked(whole.length, bytes.length, place)
    return { pieces: was === 'encoded' ? [bytes] : body.pieces, headers: kept }
  }

  /**
   * Refuses an exchange whose bodies become too large, alone or with those before it, and keeps nothing of them: a bomb
   * is found before the calls behind it are read.
   *
   * @throws HarvestError `HARVEST_IMPORT_BOMB`, `_TOO_LARGE`
   */
  check({ requestHeaders, requestBody, response }: ForeignExchange, place: () => TextPosition): void {
    this.of(requestBody === 'unread' ? undefined : requestBody, requestHeaders, place)
    this.of(response?.body, response?.headers ?? [], place)
  }

  #unpacked(from: number, to: number, place: () => TextPosition): void {
    this.#hadEncodings = true
    this.#packed.from += from
    this.#packed.to += to
    if (this.#packed.to > decompressedBodiesCap(this.#packed.from))
      throw refusal('HARVEST_IMPORT_BOMB', place(), `bodies of ${this.#packed.from} compressed bytes become too large`)
  }
}

/** Headers about bytes on the wire, which are not what is stored: a client would wait for a length that never comes. */
const ofBody: ReadonlySet<string> = new Set(['content-encoding', 'content-length', 'transfer-encoding'])
