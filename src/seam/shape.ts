/** How calls and bodies are put into one shape by both modes, so that a replay compares like with like. */

type HeaderPair = readonly [name: string, value: string]

/** One object argument stands for itself; anything else is the list of arguments. */
export function argumentsOf(args: readonly unknown[]): unknown {
  const [only] = args
  const isMap = typeof only === 'object' && only !== null && !Array.isArray(only)
  return args.length === 1 && isMap ? only : args
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return isObject(value) && holds(() => typeof (value as Partial<PromiseLike<unknown>>).then === 'function')
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return isObject(value) && holds(() => Symbol.asyncIterator in value)
}

/**
 * Whether a value is a response of the Fetch API whose body is still to be read. The global class is not asked: Node
 * loads it when it is first named, and a service may never need it.
 */
export function isUnreadResponse(value: unknown): value is Response {
  return (
    isObject(value) &&
    holds(() => {
      const { body, bodyUsed } = value as Partial<Response>
      const isResponse = Object.prototype.toString.call(value) === '[object Response]'
      return isResponse && bodyUsed === false && typeof body?.getReader === 'function' && !body.locked
    })
  )
}

/** What was read of an async generator. `stopped`: its reader gave it up before its end. */
export interface Yields {
  readonly yielded: readonly unknown[]
  readonly returned?: unknown
  readonly stopped?: true
}

export function isAsyncGenerator(value: unknown): value is AsyncGenerator<unknown> {
  return isObject(value) && holds(() => Object.prototype.toString.call(value) === '[object AsyncGenerator]')
}

export function isObject(value: unknown): value is object {
  return (typeof value === 'object' || typeof value === 'function') && value !== null
}

/** Looking at a value must not fail the agent: getters throw, proxies are revoked. */
function holds(look: () => boolean): boolean {
  try {
    return look()
  } catch {
    // What cannot be looked at is neither.
    return false
  }
}

/**
 * undici draws the boundary of a multipart body from a generator out of reach; both modes put a steady one in its
 * place before comparing: where the header names it, and where a part begins or the body ends.
 */
export function steadyBoundary(
  headers: readonly HeaderPair[],
  body: Buffer,
): { readonly headers: readonly HeaderPair[]; readonly body: Buffer } {
  const type = headers.find(([name]) => name === 'content-type')?.[1] ?? ''
  const found = /^(multipart\/.*?;\s*boundary="?)([^";]+)/i.exec(type)
  if (!found) return { headers, body }
  const [all, before, boundary] = found as unknown as [string, string, string]
  const steady = '----harvest-boundary'
  const raw = latin1(boundary)
  return {
    headers: headers.map(
      ([name, value]) => [name, name === 'content-type' ? before + steady + value.slice(all.length) : value] as const,
    ),
    body: Buffer.from(withBoundary(body.toString('latin1'), raw, steady), 'latin1'),
  }
}

/** One that is drawn may be a part of others in the body, as of a form in it; a short one may be any word. */
function withBoundary(text: string, boundary: string, steady: string): string {
  if (boundary.length >= drawnLength) return text.replaceAll(boundary, steady)
  const delimiter = new RegExp(String.raw`(^|\n)--${boundary.replaceAll(/\W/g, String.raw`\$&`)}`, 'g')
  return text.replace(delimiter, `$1--${steady}`)
}

const drawnLength = 16

function latin1(text: string): string {
  return Buffer.from(text).toString('latin1')
}

/** Stand among the headers of a request on a tape, but were not sent: the names of its trailers; where its connection led. */
export const trailersName = ':trailers'
export const sentToName = ':sent-to'

/** The names of the trailers of a request as a tape has them. */
export function trailersPair(names: readonly string[]): HeaderPair {
  const shown = names.map((name) => (/^[\w-]{1,64}$/.test(name) ? name.toLowerCase() : '(a name)'))
  return [trailersName, shown.sort().join(', ')]
}

/** The address that a client asks for. What goes to an HTTP proxy has all of it for a path. */
export function targetUrl(path: string, origin: string): string {
  return !path.startsWith('/') && /^https?:/.test(path) ? path : origin + path
}

/**
 * The headers of a request as a tape has them. A `Host` header that names another host than the connection leads to makes
 * the address; where it was sent stands beside.
 */
export function sentHeaders(url: string, headers: readonly HeaderPair[]): readonly HeaderPair[] {
  if (headers.some(([name]) => name === sentToName)) return headers
  const beside = sentTo(url, headers)
  return beside.length === 0 ? headers : [...headers, ...beside]
}

/** Where a request was sent, if its `Host` header names another host. */
export function sentTo(url: string, headers: readonly HeaderPair[]): readonly HeaderPair[] {
  return addressedUrl(url, headers) === url ? [] : [[sentToName, new URL(url).origin]]
}

/**
 * The same for a request of `node:http`, whose address is made of its `Host` header. What a proxy is sent has a whole address.
 * An agent connects where its own options say, no matter what is said of the request.
 */
export function sentToOf({ protocol, host, path, agent }: SentRequest, stated: string): readonly HeaderPair[] {
  const named = `${protocol}//${stated}`
  const { host: agentHost, port } = agent?.options ?? {}
  const to = String(agentHost ?? host)
  if (/^https?:/.test(path) || (isNamed(named, to) && (port == null || isPortOf(named, String(port))))) return []
  return [[sentToName, `${protocol}//${port == null ? to : `${to.includes(':') ? `[${to}]` : to}:${String(port)}`}`]]
}

/**
 * Headers of a request of `node:http` as its server reads them: where its target is a whole address, that says the host.
 *
 * @see RFC 9112, 3.2.2
 */
export function asTargeted(path: string, headers: readonly HeaderPair[]): readonly HeaderPair[] {
  const host = /^https?:\/\/([^/?#]*)/i.exec(path)?.[1]
  return host === undefined ? headers : [...headers.filter(([name]) => name !== 'host'), ['host', host]]
}

/** The host that a request of `node:http` says it is for: headers given as a flat list are written at once. */
export function statedHost(request: SaysHost): string {
  const written = request._header
  const said = typeof written === 'string' ? /\r\nhost:[ \t]*([^\r\n]*)/i.exec(written)?.[1] : request.getHeader('host')
  return String(said ?? request.host)
}

interface SaysHost {
  readonly host: string
  /** Of Node; `null` until the headers are written. */
  readonly _header?: string | null
  getHeader(name: string): unknown
}

function isPortOf(named: string, port: string): boolean {
  if (!URL.canParse(named)) return true
  const { port: own, protocol } = new URL(named)
  return (own || (protocol === 'https:' ? '443' : '80')) === port
}

/** Whether an address is that of a host, as far as it is an address. A client asks one host again and again. */
function isNamed(named: string, host: string): boolean {
  if (named === same?.named && host === same.host) return true
  const is = !URL.canParse(named) || new URL(named).hostname.replace(/^\[|\]$/g, '') === host.toLowerCase()
  if (is) same = { named, host }
  return is
}

let same: { readonly named: string; readonly host: string } | undefined

interface SentRequest {
  readonly protocol: string
  readonly host: string
  readonly path: string
  readonly agent?: { readonly options?: { readonly host?: unknown; readonly port?: unknown } } | null | undefined
}

/**
 * The address of a request as its server reads it: the host is the one that the `Host` header names, no matter where the
 * connection leads. A header that says the same host leaves the address as it is written.
 */
export function addressedUrl(url: string, headers: readonly HeaderPair[]): string {
  const host = headers.find(([name]) => name === 'host')?.[1]
  if (host === undefined || host === '') return url
  const moved = url.replace(/^(https?:\/\/)[^/?#]*/i, (_, scheme: string) => scheme + host)
  if (moved === url) return url
  return URL.canParse(moved) && URL.canParse(url) && new URL(moved).host === new URL(url).host ? url : moved
}
