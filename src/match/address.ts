import { withoutKeyNumbers } from '../privacy/credentials.ts'
import type { ModelRequest } from '../providers/index.ts'

/** Where a request goes, as far as it decides which answer is its own. */
export interface Addressed {
  readonly method: string
  readonly url: string
}

/** Scheme, host and port, each host in one name; empty for a child process. */
export function originOf(url: string): string {
  return placeOf(url).origin
}

/** Scheme, host and port as someone wrote them. */
export function writtenOrigin(url: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(url)?.[0] ?? ''
}

/** Method, path and query exactly as written, without the host. */
export function writtenPath({ method, url }: Addressed): string {
  return `${method} ${placeOf(url).path}`
}

interface Place {
  readonly origin: string
  readonly path: string
}

/** A run asks a few addresses again and again. */
const places = new Map<string, Place>()
const placesCap = 1_000

function placeOf(url: string): Place {
  let place = places.get(url)
  if (!place) {
    if (places.size >= placesCap) places.clear()
    places.set(url, (place = takeApart(url)))
  }
  return place
}

function takeApart(url: string): Place {
  const steady = withoutKeyNumbers(url)
  if (!URL.canParse(steady)) return { origin: '', path: steady }
  const { protocol, hostname, port, pathname, search } = new URL(steady)
  // `URL` has left out a default port. Of a scheme it does not know, it says no origin.
  return {
    origin: hostname === '' ? '' : `${protocol}//${oneName(hostname)}${port && `:${port}`}`,
    path: `${pathname}${search}`,
  }
}

/**
 * A host in one name. `localhost`, `127.0.0.1` and `[::1]` are this machine: which of them a library takes, and which of two
 * addresses a name stands for, changes with versions of Node. A port stays distinguished. A trailing dot only says that a name
 * is whole.
 */
function oneName(hostname: string): string {
  const name = hostname.replace(/(?<=.)\.$/, '')
  return loopback.has(name) ? 'localhost' : name
}

const loopback: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * The same for two spellings of one path and query: escapes in either case ("the hexadecimal digits within a percent-encoding
 * triplet are case-insensitive", RFC 3986, 6.2.2.1), letters, digits and `-._~` escaped or not (6.2.2.2: such addresses "are
 * equivalent"), and names of the query that come once in any order. In the query a space is `+` or `%20`, and what separates no
 * pairs is escaped or not: `URLSearchParams`, `encodeURIComponent` and axios each write it in their own way. All other bytes stay:
 * a query need not be UTF-8.
 */
export function steadyPath({ method, url }: Addressed): string {
  if (!URL.canParse(url)) return `${method} ${url}`
  const { pathname, search } = new URL(withoutKeyNumbers(url))
  return `${method} ${steadyEscapes(pathname)} ${steadyQuery(steadyEscapes(search.slice(1)))}`
}

/** Spellings of one value, each the byte that {@link steadyEscapes} leaves escaped. */
const escapedInQuery = new Map(
  [..."!$'()*,/:?@[]^{|}\\`"].map((one) => [`%${one.charCodeAt(0).toString(16).toUpperCase()}`, one]),
)

function steadyEscapes(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, (escape) => {
    const written = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    return /[\w.~-]/.test(written) ? written : escape.toUpperCase()
  })
}

/** Behind the first `=`, which ends the name, another one is of the value. */
function withPlainSigns(pair: string): string {
  const at = pair.indexOf('=') + 1
  return at === 0 ? pair : pair.slice(0, at) + pair.slice(at).replaceAll('%3D', '=')
}

/** Which of several pairs belong together may be said by their order: `op=add&id=1&op=remove&id=2`. */
function steadyQuery(query: string): string {
  const spelled = query
    .replaceAll('+', '%20')
    .replace(/%[0-9A-F]{2}/g, (escape) => escapedInQuery.get(escape) ?? escape)
  const written = spelled.split('&').filter((pair) => pair !== '')
  const pairs = written.map((pair) => ({ name: pair.split('=', 1)[0], pair: withPlainSigns(pair) }))
  const counts = new Map<string | undefined, number>()
  for (const { name } of pairs) counts.set(name, (counts.get(name) ?? 0) + 1)
  const [single, repeated] = [true, false].map((isSingle) =>
    pairs.filter(({ name }) => (counts.get(name) === 1) === isSingle).map(({ pair }) => pair),
  )
  return [...single!.sort(), ...repeated!].join('&')
}

/**
 * What another host means for a request that is otherwise the recorded one. A model, and a service that is only read, is
 * asked elsewhere (`endpoint`). A service that is asked to do something does it elsewhere (`destination`).
 */
export function hostDrift(
  step: { readonly asked: ModelRequest | undefined },
  { method }: Pick<Addressed, 'method'>,
): 'endpoint' | 'destination' {
  return step.asked !== undefined || reading.has(method.toUpperCase()) ? 'endpoint' : 'destination'
}

const reading: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Which recorded host a live host stands for. A test may point the agent elsewhere, but a host that is on the tape
 * answers only for itself, and one recorded host is stood for by one live host.
 */
export class Hosts {
  readonly #recorded: ReadonlySet<string>
  readonly #liveFor = new Map<string, string>()
  readonly #recordedFor = new Map<string, string>()
  /** Answered last, where both are one address: agents mostly ask the same again. */
  #same: string | undefined

  constructor(urls: readonly string[]) {
    this.#recorded = new Set(urls.map(originOf))
  }

  mayAnswer(recordedUrl: string, liveUrl: string): boolean {
    const [recorded, live] = [originOf(recordedUrl), originOf(liveUrl)]
    if (this.#recorded.has(live)) return recorded === live
    return (this.#recordedFor.get(live) ?? recorded) === recorded && (this.#liveFor.get(recorded) ?? live) === live
  }

  answered(recordedUrl: string, liveUrl: string): void {
    if (recordedUrl === liveUrl && liveUrl === this.#same) return
    this.#same = recordedUrl === liveUrl ? liveUrl : undefined
    const [recorded, live] = [originOf(recordedUrl), originOf(liveUrl)]
    this.#recordedFor.set(live, recorded)
    this.#liveFor.set(recorded, live)
  }
}
