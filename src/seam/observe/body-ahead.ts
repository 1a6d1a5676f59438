/** A body longer than this is heard while it is sent. */
const mostAhead = 4 * 1024 * 1024

interface Sending {
  readonly body?: unknown
  /** Bytes of the body, when the client knows. */
  readonly contentLength?: unknown
}

/**
 * Hears the body of a request of undici before its first byte is sent, so that what is asked can be on the tape by then.
 *
 * `fetch` hands over every body as a generator, also one whose text it has: of those, and of no upload in pieces, all is
 * asked for at once and handed on as it was.
 *
 * @param heard - called for each piece
 * @param whole - called once, before anything is sent
 * @returns whether all of it is heard so: nothing more of it is to be heard
 */
export function hearAhead(
  { body, contentLength }: Sending,
  heard: (bytes: Uint8Array) => void,
  whole: () => void,
): boolean {
  if (body === null || body === undefined) {
    whole()
    return true
  }
  if (Buffer.isBuffer(body)) {
    heard(body)
    whole()
    return true
  }
  if (!isGenerator(body) || typeof contentLength !== 'number' || contentLength > mostAhead) return false
  handOn(body, contentLength, heard, whole)
  return true
}

type Pieces = AsyncGenerator<Uint8Array, unknown, undefined>

function handOn(body: Pieces, length: number, heard: (bytes: Uint8Array) => void, whole: () => void): void {
  const next = body.next.bind(body)
  const taken: Promise<IteratorResult<Uint8Array, unknown>>[] = []
  const ahead = (async () => {
    for (let bytes = 0; bytes < length; ) {
      const piece = next()
      taken.push(piece)
      // A body that fails does so where it is sent.
      const result = await piece.catch(() => undefined)
      if (result === undefined || result.done === true) return
      bytes += result.value.byteLength
      heard(result.value)
    }
    whole()
  })()
  body.next = async () => {
    await ahead
    return taken.shift() ?? next()
  }
}

function isGenerator(body: unknown): body is Pieces {
  return Object.prototype.toString.call(body) === '[object AsyncGenerator]'
}
