/** One request, before it is known where the servers listen. */
export interface Asked {
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** Two servers that are recorded, and one nobody has seen. */
  readonly host: 'first' | 'second' | 'unknown'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | undefined
  /** Who sends it: a bare fetch, or the client of a vendor that is given the body as an object. */
  readonly by: 'fetch' | 'openai' | 'anthropic'
  /** Two requests with the same meaning may have each other's answer; no others may. */
  readonly meaning: string
}

export interface AskedOptions extends Partial<Omit<Asked, 'meaning'>> {
  /** What the body says, when it is neither JSON nor its own bytes. */
  readonly says?: string
}

/** A request with its meaning worked out. */
export function asked(options: AskedOptions): Asked {
  const { method = 'POST', path = '/', host = 'first', headers = {}, body, by = 'fetch', says } = options
  const { pathname, searchParams } = new URL(path, 'http://any')
  // Names of a query in any order, the values of one name in theirs.
  searchParams.sort()
  const meaning = [
    method,
    host,
    pathname,
    searchParams.toString(),
    JSON.stringify(Object.entries(headers).filter(([name]) => name !== 'content-type' || says === undefined)),
    says ?? bodyMeaning(body),
  ].join('\n')
  const type = headers['content-type'] ?? (typeof body === 'string' ? 'application/json' : 'application/octet-stream')
  return {
    method,
    path,
    host,
    headers: body === undefined ? headers : { 'content-type': type, ...headers },
    body,
    by,
    meaning,
  }
}

/** JSON in one spelling, numbers to the last digit; anything else as it is. Knows nothing of the product's own. */
function bodyMeaning(body: string | Uint8Array | undefined): string {
  if (body === undefined) return ''
  if (typeof body !== 'string') return `bytes ${Buffer.from(body).toString('hex')}`
  const exact = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
    typeof value === 'number' ? { '#': decimal(context?.source ?? '') } : value
  try {
    return `json ${stable((JSON.parse as (text: string, reviver: typeof exact) => unknown)(body, exact))}`
  } catch {
    // No JSON: every character counts.
    return `text ${body}`
  }
}

function stable(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stable).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${stable(member)}`).join(',')}}`
}

/** `1`, `1.0` and `1e0` are one number; 2⁵³ and 2⁵³+1 are two. */
function decimal(source: string): string {
  const [, sign = '', whole = '', part = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? []
  const digits = `${whole}${part}`.replace(/^0+/, '')
  const short = digits.replace(/0+$/, '')
  return short === '' ? '0' : `${sign}${short}e${Number(power) - part.length + digits.length - short.length}`
}
