import { credentialForm, type HeaderMeaning, isKeyNumber, keysIn, someKey } from '../privacy/index.ts'
import type { HeaderPair } from '../tape/index.ts'
import { originOf } from './address.ts'
import type { FoundDrift } from './ladder.ts'

/** What a request says about who asks: its headers as a tape has them, and its address. */
export interface Asker {
  readonly headers: readonly HeaderPair[]
  readonly url: string
}

/**
 * Watches who asks. The keys themselves are on no tape and are others on every machine; what must stay is that there is
 * one, its scheme, and which requests carry the same one. A key that stands in for another in one request, and a key two
 * customers suddenly share, are other requests.
 *
 * Two services may be given one key in a test. So two recorded keys count as having become one only where the requests go
 * to one service.
 */
export class Credentials {
  readonly #meaning: (name: string) => HeaderMeaning | undefined
  readonly #liveOf = new Map<string, string>()
  readonly #recordedOf = new Map<string, string>()

  constructor(meaning: (name: string) => HeaderMeaning | undefined) {
    this.#meaning = meaning
  }

  /** What differs between a recorded request and the live one it answers. Takes note of which key stands for which. */
  check(recorded: Asker, live: Asker): readonly FoundDrift[] {
    return this.#look(recorded, live, true)
  }

  /** Whether {@link check} would find nothing, as things stand now. */
  isSame(recorded: Asker, live: Asker): boolean {
    return this.#look(recorded, live, false).length === 0
  }

  #look(recorded: Asker, live: Asker, takesNote: boolean): readonly FoundDrift[] {
    const [before, now] = [this.#of(recorded), this.#of(live)]
    if (before.size === 0 && now.size === 0) return none
    const found: FoundDrift[] = []
    for (const name of [...new Set([...before.keys(), ...now.keys()])].sort()) {
      const [was, is] = [before.get(name), now.get(name)]
      const shown = this.#compare(originOf(recorded.url), was, is, takesNote)
      if (shown !== undefined)
        found.push({ class: 'credentials', path: name, recorded: was ?? '(absent)', live: shown })
    }
    return found
  }

  /** By name of the header; those of the query by `?name`. */
  #of({ headers, url }: Asker): ReadonlyMap<string, string> {
    const shown = new Map<string, string>()
    for (const [name, value] of headers) {
      if (this.#meaning(name) !== 'credential') continue
      const before = shown.get(name)
      shown.set(name, before === undefined ? value : `${before}, ${value}`)
    }
    for (const [, name = '', key = ''] of url.includes('=[key') ? url.matchAll(keyInQuery) : [])
      shown.set(`?${name}`, key)
    return shown
  }

  /** The live credential in the numbers of the tape, if it is another one. */
  #compare(origin: string, was: string | undefined, is: string | undefined, takesNote: boolean): string | undefined {
    if (is === undefined) return was === undefined ? undefined : '(absent)'
    if (was === undefined || credentialForm(was) !== credentialForm(is)) return this.#inNumbersOfTape(origin, is)
    const [recorded, live] = [keysIn(was), keysIn(is)]
    const isSame = recorded.every((key, at) => this.#isSame(origin, key, live[at] ?? ''))
    if (!isSame) return this.#inNumbersOfTape(origin, is)
    if (takesNote) recorded.forEach((key, at) => this.#note(origin, key, live[at] ?? ''))
    return undefined
  }

  #isSame(origin: string, recorded: string, live: string): boolean {
    if (recorded === someKey) return true
    // What the tape knows from elsewhere, such as a token an answer brought, is served under its placeholder.
    if (!isKeyNumber(recorded) || !isKeyNumber(live)) return recorded === live
    const [before, owner] = [this.#liveOf.get(recorded), this.#recordedOf.get(`${origin} ${live}`)]
    return (before === undefined || before === live) && (owner === undefined || owner === recorded)
  }

  #note(origin: string, recorded: string, live: string): void {
    if (recorded === someKey || !isKeyNumber(recorded)) return
    this.#liveOf.set(recorded, live)
    this.#recordedOf.set(`${origin} ${live}`, recorded)
  }

  #inNumbersOfTape(origin: string, shown: string): string {
    return keysIn(shown).reduce(
      (text, key) =>
        isKeyNumber(key) ? text.replace(key, this.#recordedOf.get(`${origin} ${key}`) ?? '[other key]') : text,
      shown,
    )
  }
}

const none: readonly FoundDrift[] = []
const keyInQuery = /[?&]([^=&#]+)=(\[key(?:-\d{1,9})?\])/g

/** Names of the query under which requests of a tape carry a key, by their path: a stand-in for one may look like no key. */
export function keyNamesOf(urls: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  const names = new Map<string, Set<string>>()
  for (const url of urls) {
    if (!url.includes('=[key')) continue
    const known = names.get(pathOf(url)) ?? new Set<string>()
    for (const [, name = ''] of url.matchAll(keyInQuery)) known.add(name)
    names.set(pathOf(url), known)
  }
  return names
}

/** An address without host and query. */
export function pathOf(url: string): string {
  return URL.canParse(url) ? new URL(url).pathname : url
}
