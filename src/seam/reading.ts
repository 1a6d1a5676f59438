/** `unread`: nothing has asked for the body of an answer so far, and it is seen when something does. `unseen`: it is not. */
export type BodyUse = 'unread' | 'read' | 'unseen'

type Method = (this: object, ...args: unknown[]) => unknown

/** Where readers of a body come by: by the first two of any stream, by the others of undici. */
const asking = ['on', 'addListener', 'text', 'json', 'blob', 'bytes', 'arrayBuffer', 'formData', 'dump'] as const

/** The body of an answer as Node and undici hand it out. */
interface Body extends Partial<Record<(typeof asking)[number], unknown>> {
  listenerCount(name: string): number
  readonly readableFlowing: boolean | null
  readonly readableLength: number
}

/**
 * Hears whether anything reads a body: who drops it, by `resume()` or `dump()`, does not. A reader is known by what it
 * subscribes, and not by what came by then, which is chance.
 *
 * @param heard - called at once, and when an unread body is read
 */
export function hearReading(body: Body, heard: (how: BodyUse) => void): void {
  if (isAsked(body)) return heard('read')
  heard('unread')
  let isDropped = false
  for (const name of asking) {
    if (body[name] === undefined) continue
    const own = Object.hasOwn(body, name) ? (body[name] as Method) : undefined
    const heardMethod: Method = function (...args) {
      if (name === 'dump') isDropped = true
      else if (!isDropped && (asking.indexOf(name) > 1 || args[0] === 'data' || args[0] === 'readable')) heard('read')
      // The one that its class has by now: it may have another class, or be patched, since.
      const method = own ?? (Reflect.get(Object.getPrototypeOf(this) as object, name, this) as Method)
      return Reflect.apply(method, this, args)
    }
    // As a method: who copies or lists an answer does not meet it.
    Object.defineProperty(body, name, { value: heardMethod, configurable: true, writable: true })
  }
}

function isAsked(body: Body): boolean {
  return body.listenerCount('data') + body.listenerCount('readable') > 0 || body.readableFlowing === true
}

/** Hears whether anything reads the body that undici hands out for a request. */
export function hearRequestRead(request: object, heard: (how: BodyUse) => void): void {
  // The second one from undici 8 on.
  for (const name of ['onHeaders', 'onResponseStart']) {
    const { [name]: answered } = request as Partial<Record<string, Method>>
    if (answered === undefined) continue
    const answeredHere: Method = function (...args) {
      const result = Reflect.apply(answered, this, args)
      const key = Object.getOwnPropertySymbols(this).find(({ description }) => description === 'handler')
      hearHandlerRead(key && (this as Record<symbol, unknown>)[key], heard)
      return result
    }
    Object.assign(request, { [name]: answeredHere })
  }
}

/** As {@link hearRequestRead}, of the handler that has the head of its answer. The body, where it is seen. */
export function hearHandlerRead(handler: unknown, heard: (how: BodyUse) => void): Body | undefined {
  const { res, body } = (handler ?? {}) as { readonly res?: unknown; readonly body?: unknown }
  // Of `request`, `body` is what is sent. Of `fetch`, who reads behind streams that unpack it reads the last of them.
  const found = res ?? lastOf(body)
  if (!isBody(found) || (res !== found && isAsked(found))) {
    heard('unseen')
    return undefined
  }
  hearReading(found, heard)
  return found
}

function lastOf(body: unknown): unknown {
  const { _readableState: state } = (body ?? {}) as {
    readonly _readableState?: { readonly pipes?: readonly unknown[] }
  }
  const [to] = state?.pipes ?? []
  return to === undefined ? body : lastOf(to)
}

function isBody(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && 'readableFlowing' in value
}
