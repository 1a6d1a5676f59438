import { type Pairs } from '../pairs.ts'

/** As undici 7 hands them to handlers: several values of one name are a list. */
export function headerObject(pairs: Pairs): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {}
  for (const [name, value] of pairs) {
    const before = headers[name]
    headers[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value]
  }
  return headers
}

/** The headers of a request in whichever of its forms undici has them, names in small letters. */
export function requestPairs(headers: unknown): Pairs {
  if (!headers) return []
  if (Array.isArray(headers)) {
    const pairs: (readonly [string, string])[] = []
    for (let i = 0; i + 1 < headers.length; i += 2)
      pairs.push([String(headers[i]).toLowerCase(), String(headers[i + 1])])
    return pairs
  }
  const pairs: (readonly [string, string])[] = []
  const add = (name: string, value: unknown): void => {
    if (value !== undefined && value !== null) pairs.push([name.toLowerCase(), String(value)])
  }
  if (Symbol.iterator in (headers as object))
    for (const [name, value] of headers as Iterable<readonly [string, unknown]>) add(name, value)
  else for (const name of Object.keys(headers)) add(name, (headers as Record<string, unknown>)[name])
  return pairs
}

/**
 * All of a request body, in whichever form undici has it.
 *
 * @param pieces - what came of it so far, where it comes in pieces
 */
export async function drain(body: unknown, pieces: Buffer[]): Promise<Buffer> {
  if (body === null || body === undefined) return Buffer.alloc(0)
  if (typeof body === 'string') return Buffer.from(body)
  if (ArrayBuffer.isView(body)) return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  if (body instanceof ArrayBuffer) return Buffer.from(body)
  if (body instanceof FormData) return Buffer.from(await new Response(body).arrayBuffer())
  if (typeof (body as Blob).arrayBuffer === 'function') return Buffer.from(await (body as Blob).arrayBuffer())
  for await (const chunk of body as AsyncIterable<Uint8Array | string>) pieces.push(Buffer.from(chunk as Uint8Array))
  return Buffer.concat(pieces)
}

/**
 * Whether a dispatcher sends a request as it is given. Those of undici do by the method of one base class, and so do those that
 * go through a proxy, or answer by themselves; what is composed with interceptors, repeats requests or is made by others may not.
 */
export function leadsStraight(dispatcher: { readonly dispatch: unknown }): boolean {
  const { dispatch } = dispatcher
  let owner: object | null = dispatcher
  while (owner && !Object.hasOwn(owner, 'dispatch')) owner = Object.getPrototypeOf(owner) as object | null
  // A composed one is a proxy, which hands out another method than its classes have.
  return owner !== null && Reflect.get(owner, 'dispatch') === dispatch && straight.has(owner.constructor.name)
}

/** The name under which the classes of undici have the method that sends a request, below all that is composed. */
export function innerDispatch(dispatcher: object): symbol | undefined {
  for (let owner: object | null = dispatcher; owner; owner = Object.getPrototypeOf(owner) as object | null) {
    const key = Object.getOwnPropertySymbols(owner).find(({ description }) => description === 'dispatch')
    if (key !== undefined) return key
  }
  return undefined
}

/** The classes of undici that send it so, by the name of the one that has the method. */
const straight = new Set(['DispatcherBase', 'ProxyAgent', 'Socks5ProxyAgent', 'MockAgent', 'MockPool', 'MockClient'])
