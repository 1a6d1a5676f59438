/** Where a request goes, as far as it decides which answer is its own. */
export interface Addressed {
  readonly method: string
  readonly url: string
}

/** Scheme, host and port; empty for a child process. */
export function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : ''
}

/** Method, path and query exactly as written, without the host. */
export function writtenPath({ method, url }: Addressed): string {
  if (!URL.canParse(url)) return `${method} ${url}`
  const { pathname, search } = new URL(url)
  return `${method} ${pathname}${search}`
}

/** The same for two spellings of one query: names in any order, the values of one name in theirs. */
export function steadyPath({ method, url }: Addressed): string {
  if (!URL.canParse(url)) return `${method} ${url}`
  const { pathname, searchParams } = new URL(url)
  searchParams.sort()
  return `${method} ${pathname} ${searchParams.toString()}`
}

/**
 * Which recorded host a live host stands for. A test may point the agent elsewhere, but a host that is on the tape
 * answers only for itself, and one recorded host is stood for by one live host.
 */
export class Hosts {
  readonly #recorded: ReadonlySet<string>
  readonly #liveFor = new Map<string, string>()
  readonly #recordedFor = new Map<string, string>()

  constructor(urls: readonly string[]) {
    this.#recorded = new Set(urls.map(originOf))
  }

  mayAnswer(recordedUrl: string, liveUrl: string): boolean {
    const [recorded, live] = [originOf(recordedUrl), originOf(liveUrl)]
    if (this.#recorded.has(live)) return recorded === live
    return (this.#recordedFor.get(live) ?? recorded) === recorded && (this.#liveFor.get(recorded) ?? live) === live
  }

  answered(recordedUrl: string, liveUrl: string): void {
    const [recorded, live] = [originOf(recordedUrl), originOf(liveUrl)]
    this.#recordedFor.set(live, recorded)
    this.#liveFor.set(recorded, live)
  }
}
