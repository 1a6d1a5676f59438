import { type HeaderMeaning, isKeyNumber, keysIn, lateInQuery, sameForm, someKey } from '../privacy/index.ts'
import { isLatePlaceholder } from './late-values.ts'
import type { HeaderPair } from '../tape/index.ts'
import { originOf } from './address.ts'
import { standIn } from './keys.ts'
import type { FoundDrift } from './matcher.ts'

/** What a request says about who asks: its headers as a tape has them, and its address. */
export interface RequestIdentity {
  readonly headers: readonly HeaderPair[]
  readonly url: string
}

/** The same request as it was sent: it is asked whether the machine has two names for its keys. */
export type Sent = RequestIdentity

/**
 * Watches who asks. The keys themselves are on no tape and are others on every machine; what must stay is that there is
 * one, its scheme, and which requests carry the same one. A key that stands in for another in one request, and a key two
 * customers suddenly share, are other requests.
 *
 * A test machine may set the variables of two services to one value. Of such a key the owner is unknown: then two
 * recorded keys count as having become one only where the requests go to one service.
 */
export class Credentials {
  readonly #meaning: (name: string) => HeaderMeaning | undefined
  readonly #liveOf = new Map<string, string>()
  /** By live key, with the service before it for one that stands for several. */
  readonly #recordedOf = new Map<string, string>()
  readonly #standIns = new StandIns()
  readonly #renewed = new Set<string>()
  /** How often tokens were renewed: what was the same before may be something else now. */
  renewals = 0

  constructor(meaning: (name: string) => HeaderMeaning | undefined) {
    this.#meaning = meaning
  }

  /** Tokens on the tape that the replay did not ask for, because it has one that its process had. */
  renewed(placeholders: readonly string[]): void {
    this.renewals++
    for (const placeholder of placeholders) this.#renewed.add(placeholder)
  }

  /** What differs between a recorded request and the live one it answers. Takes note of which key stands for which. */
  check(recorded: RequestIdentity, live: RequestIdentity, sent: Sent): readonly FoundDrift[] {
    return this.#look(recorded, live, sent, true)
  }

  /** Whether {@link check} would find nothing, as things stand now. */
  isSame(recorded: RequestIdentity, live: RequestIdentity, sent: Sent): boolean {
    return this.#look(recorded, live, sent, false).length === 0
  }

  #look(recorded: RequestIdentity, live: RequestIdentity, sent: Sent, takesNote: boolean): readonly FoundDrift[] {
    const [before, now] = [this.#of(recorded), this.#of(live)]
    if (before.size === 0 && now.size === 0) return none
    const found: FoundDrift[] = []
    const sharedBy = this.#standIns.namesIn(this.#keysIn(live, sent))
    const service = sharedBy.length > 0 ? originOf(recorded.url) : ''
    for (const name of [...new Set([...before.keys(), ...now.keys()])].sort()) {
      const [was, is] = [before.get(name), now.get(name)]
      const shown = this.#compare(service, was, is, takesNote)
      if (shown === undefined) continue
      const isMerged = sharedBy.length > 0 && was !== undefined && is !== undefined && sameForm(was, is)
      const difference = { path: name, recorded: was ?? '(absent)', live: shown }
      found.push({ class: 'credentials', ...difference, ...(isMerged && { sharedBy }) })
    }
    return found
  }

  /** Texts with the keys of a request in them. */
  #keysIn({ url: shown }: RequestIdentity, { headers, url }: Sent): readonly string[] {
    const inHeaders = headers.filter(([name]) => this.#meaning(name.toLowerCase()) === 'credential')
    const query = shown.includes('=[key') ? [url.slice(url.indexOf('?') + 1)] : []
    return [...query, ...inHeaders.map(([, value]) => value)]
  }

  /** By name of the header; those of the query by `?name`. */
  #of({ headers, url }: RequestIdentity): ReadonlyMap<string, string> {
    const shown = new Map<string, string>()
    for (const [name, value] of headers) {
      if (this.#meaning(name) !== 'credential') continue
      const before = shown.get(name)
      shown.set(name, before === undefined ? value : `${before}, ${value}`)
    }
    for (const [sign, pattern] of inQuery)
      if (url.includes(sign)) for (const [, name = '', key = ''] of url.matchAll(pattern)) shown.set(`?${name}`, key)
    return shown
  }

  /** The live credential in the numbers of the tape, if it is another one. */
  #compare(service: string, was: string | undefined, is: string | undefined, takesNote: boolean): string | undefined {
    if (is === undefined) return was === undefined ? undefined : '(absent)'
    if (was === undefined || !sameForm(was, is)) return this.#inNumbersOfTape(service, is, was)
    const [recorded, live] = [keysIn(was), keysIn(is)]
    const isSame = recorded.every((key, at) => this.#isSame(service, key, live[at] ?? ''))
    if (!isSame) return this.#inNumbersOfTape(service, is, was)
    if (takesNote) recorded.forEach((key, at) => this.#note(service, key, live[at] ?? ''))
    return undefined
  }

  #isSame(service: string, recorded: string, live: string): boolean {
    if (recorded === someKey) return true
    // A fresh process has one token for both, see `renewed`.
    if (this.#renewed.has(recorded)) return isKeyNumber(live) && [undefined, live].includes(this.#liveOf.get(recorded))
    // What the tape knows from elsewhere, such as a token an answer brought, is served under its placeholder.
    // A key that stood on the tape before a request carried it is served under a placeholder of its own.
    if (!isKeyNumber(recorded) || !(isKeyNumber(live) || isLatePlaceholder(live))) return recorded === live
    const [before, owner] = [this.#liveOf.get(recorded), this.#recordedOf.get(`${service} ${live}`)]
    return (before === undefined || before === live) && (owner === undefined || owner === recorded)
  }

  #note(service: string, recorded: string, live: string): void {
    if (this.#renewed.has(recorded)) return void this.#liveOf.set(recorded, live)
    if (recorded === someKey || !isKeyNumber(recorded)) return
    this.#liveOf.set(recorded, live)
    this.#recordedOf.set(`${service} ${live}`, recorded)
  }

  /** Of a key that was sent for the first time nothing says that it is not the recorded one of its place. */
  #inNumbersOfTape(service: string, shown: string, was = ''): string {
    const before = namedKeys(was)
    return namedKeys(shown).reduce((text, [name, key]) => {
      if (!isKeyNumber(key)) return text
      const at = before.findIndex(([other, recorded]) => other === name && this.#isSame(service, recorded, key))
      const [same] = at === -1 ? [] : before.splice(at, 1)
      return text.replace(key, same?.[1] ?? this.#recordedOf.get(`${service} ${key}`) ?? '[other key]')
    }, shown)
  }
}

/** The keys in a credential, each behind what names it: a cookie, a parameter. */
function namedKeys(shown: string): [name: string, key: string][] {
  return keysIn(shown).map((key, at, all) => {
    const from = all.slice(0, at).reduce((end, before) => shown.indexOf(before, end) + before.length, 0)
    const [name = ''] = /[^\s,;"]*"?$/.exec(shown.slice(from, shown.indexOf(key, from))) ?? []
    return [name, key]
  })
}

/** Whether a header, as a tape has it, has a key in it. */
export function holdsKey(shown: string): boolean {
  return keysIn(shown).length > 0
}

/** Whether two requests, as tapes have them, carry credentials in the same headers and of the same schemes. */
export function sameForms(
  recorded: readonly HeaderPair[],
  live: readonly HeaderPair[],
  meaning: (name: string) => HeaderMeaning | undefined,
): boolean {
  const shown = (pairs: readonly HeaderPair[]): readonly string[] =>
    pairs
      .filter(([name]) => meaning(name) === 'credential')
      .map(([name, value]) => `${name}: ${value}`)
      .sort()
  const [before, now] = [shown(recorded), shown(live)]
  return before.length === now.length && before.every((one, at) => sameForm(one, now[at] ?? ''))
}

/** Values that the environment of this process has under more than one name. */
class StandIns {
  #values: ReadonlyMap<string, readonly string[]> | undefined

  /** The names of those that are a word of these texts, in base64 or as it is. */
  namesIn(texts: readonly string[]): readonly string[] {
    if (texts.length === 0) return []
    // Looked for at the first key: an agent may set variables before.
    const values = (this.#values ??= sharedValues())
    if (values.size === 0) return []
    const said = texts.flatMap((text) => [...words(text), ...decoded(text)])
    return [...new Set(said.flatMap((word) => values.get(word) ?? []))]
  }
}

function sharedValues(): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>()
  const { env } = process
  // Its entries take twice as long: each is described before it is read.
  for (const name of Object.getOwnPropertyNames(env)) {
    const value = env[name]
    // What a replay lends to several is one key on its tape.
    if (value === undefined || value === '' || value.startsWith(standIn)) continue
    const known = names.get(value)
    if (known === undefined) names.set(value, [name])
    else known.push(name)
  }
  return new Map([...names].filter(([, known]) => known.length > 1))
}

function words(text: string): readonly string[] {
  return [text, text.replace(/^\S+\s+/, ''), ...text.split(/[\s,;&="/]+/)]
}

/** Name and password of `Basic`. */
function decoded(text: string): readonly string[] {
  const [, coded] = /^Basic\s+(\S+)$/i.exec(text) ?? []
  return coded === undefined ? [] : Buffer.from(coded, 'base64').toString('utf8').split(':')
}

const none: readonly FoundDrift[] = []
const keyInQuery = /[?&]([^=&#]+)=(\[key(?:-\d{1,9})?\])/g
const inQuery = [
  ['=[key', keyInQuery],
  ['=redacted-', lateInQuery],
] as const

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
