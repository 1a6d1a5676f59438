// Over 300 lines: one table of placeholders, which every finder and every kind of value goes through.
import { isUtf8 } from 'node:buffer'
import {
  encodeBytes,
  type EncodedBytes,
  type HeaderPair,
  joinedBytes,
  type Json,
  type RedactedPrint,
} from '../tape/index.ts'
import { awsLines, mayBeFrame, redactAwsEvents } from './aws-events.ts'
import { pack, unpack, type Unsearched } from './codings.ts'
import { basicSecret, KeyNumbers, shownCredential, shownSetCookie, someKey } from './credentials.ts'
import { cutPieces, type Edit, edited, inBytes } from './edits.ts'
import { type Finders, findersOfNow } from './engine.ts'
import { lookingInBytes } from './values.ts'
import { inAllViews } from './views.ts'
import { findScattered, isStream, type Scattered } from './events.ts'
import { isWorthNaming } from './headers.ts'
import { identifiersIn } from './identifiers.ts'
import { isOfTypedValue, redactJson } from './json.ts'
import { earlierCap, isDistinctive, isDistinctivePhrase, KnownSecrets } from './known.ts'
import { lateMeans, latePlaceholders, type MeansInUse, type NamedSecret } from './late.ts'
import { meansFor } from './means.ts'
import { isCredential, isToken } from './kinds.ts'
import { Placeholders } from './placeholders.ts'
import type { Prints } from './prints.ts'
import { settle } from './spans.ts'
import type { HeaderMeaning } from './meaning.ts'
import type { Encoded, Secret, SecretFinding, RedactorOptions, Replaced, TextRange } from './types.ts'
import { settledEnd } from './under-way.ts'
import { redactUrl } from './url.ts'
import { withinJson } from './within-json.ts'
import { encodedAs, type EncodedWord, encodedWords } from './words.ts'
import { isOverworked, masked, perSecret, perWord, spareWork, uncounted, work, workFor } from './work.ts'

/**
 * Replaces secrets by placeholders, the same value by the same placeholder, numbered by first appearance.
 *
 * One redactor belongs to one run. Recording passes everything through it before the first write; a replay passes
 * its live requests through one of its own and shows it what the tape served, so that the numbers go on as they
 * did. What went through once comes back unchanged when it goes through again.
 */
export interface Redactor {
  text(text: string): string
  /** What a call, a mark or a sender of messages is called: no secret that is known from elsewhere, or it would be another one. */
  name(name: string): string
  /**
   * Text values, values under names that promise a secret, and keys. The same object when nothing was found.
   *
   * @param line - what `JSON.stringify` makes of the value, where that is known
   */
  json(value: Json, line?: string): Json
  /**
   * A body in the pieces it came in. Secrets are found across their borders; the placeholder goes where the secret
   * began. Pieces without one are the same buffers. Amazon's binary event streams are read as what they say; in any
   * other body that is not UTF-8, tokens are replaced by as many bytes.
   */
  chunks(pieces: readonly Buffer[]): readonly Buffer[]
  /**
   * How much of a body under way, in UTF-16 units, goes through unchanged no matter what comes after it: up to its first
   * secret, and up to where one may have begun. With rules of the application's own that is unknown, and it is nothing.
   * Changes nothing.
   */
  settled(text: string): number
  /** As {@link chunks}, each piece as it stands on a tape. */
  encoded(pieces: readonly Buffer[]): readonly EncodedBytes[]
  /**
   * A body as one that was sent, by its `content-encoding`: without its codings, redacted. `coded` are those it had, the
   * outermost first. What cannot be searched is not given back.
   */
  unpacked(body: Buffer, contentEncoding: string | undefined): UnpackedBody | { readonly unsearched: Unsearched }
  /**
   * As {@link chunks}, for a body that came with a `content-encoding`: byte for byte when it hides no secret; else redacted
   * and encoded again as one piece, where the first stood. What cannot be searched is not given back.
   */
  packed(
    pieces: readonly Buffer[],
    contentEncoding: string | undefined,
  ): readonly Buffer[] | { readonly unsearched: Unsearched }
  /**
   * An absolute URL, or a command line after `stdio:`.
   *
   * @param keys - names of its query whose value is a key no matter what it looks like
   */
  url(url: string, keys?: ReadonlySet<string>): string
  /** The headers that may be recorded; all others are dropped. */
  headers(pairs: readonly HeaderPair[]): HeaderPair[]
  /** As {@link headers}, of a request. Of a redactor with `keys`, credentials among them, as {@link shownCredential} shows them. */
  requestHeaders(pairs: readonly HeaderPair[]): HeaderPair[]
  /** What a header of a request means, by its name in lower case. */
  meaning(name: string): HeaderMeaning | undefined
  /** Names of the headers of requests that were dropped and may have meant something; sorted. */
  readonly dropped: readonly string[]
  /** How often it replaced something: as long as that stays, equal texts come out equal. */
  readonly replacements: number
  /** Grows when a value became known by a name before it: from then on it is looked for everywhere. */
  readonly named: number
  /** How many were named when so many were known that they are looked for nowhere else. */
  readonly namedInVain: number
  /** The values themselves. */
  readonly namedValues: readonly string[]
  /**
   * A redactor of what went through this one before: it replaces values that were named since, and the placeholders they have.
   *
   * @param only - default: all values that were named, and no placeholders
   */
  late(only?: ReadonlySet<string>): LateRedactor
  /** A value that has this placeholder on the tape: it is known from now on, and {@link takeReplaced} has it no matter what it is. */
  learn(placeholder: string, value: string): void
  /** Takes note of the placeholders in text that a replay served. */
  observe(text: string): void
  /** Has `observe` called when it is to be known which numbers are taken: most replays end without. */
  observeLater(observe: () => void): void
  /** As {@link observe}, for a body that was served whole: in pieces, and not compressed. */
  observeChunks(pieces: readonly Buffer[]): void
  /** As {@link observeChunks}, for a body that is text. */
  observeBody(text: string): void
  /**
   * The values that went through it since this was asked before and became placeholders, in order; not the placeholders
   * it met, and no credentials: those are replaced now and then, and nothing is decided by them.
   */
  takeReplaced(): readonly Replaced[]
  /** Whether placeholders stand in a text. Changes nothing. */
  holds(text: string): boolean
  /** Whether one of the texts stands in a value that it replaced. Changes nothing. */
  hides(texts: readonly string[]): boolean
  /** What is secret in a text, by position; placeholders are not. Changes nothing. */
  scan(text: string): readonly SecretFinding[]
  /**
   * What is secret in a body as it stands on a tape, by its `content-encoding`: empty exactly when {@link packed} would leave
   * it as it is. Changes nothing. Positions are those of what it says.
   */
  scanBody(
    bytes: Buffer,
    contentEncoding: string | undefined,
  ): readonly SecretFinding[] | { readonly unsearched: Unsearched }
}

/**
 * Makes a redactor with the built-in kinds (vendor keys, tokens, private keys, passwords by name, e-mail addresses,
 * card numbers, IBANs) and the application's rules.
 *
 * @throws HarvestError `HARVEST_PRIVACY_OPTION`
 */
export function createRedactor(options: RedactorOptions = {}, numbering: PlaceholderNumbering = {}): Redactor {
  return new TextRedactor(meansFor(options, numbering.finders ?? findersOfNow), numbering)
}

/** Replaces what was named late, see `Redactor.late`; what it finds nothing in comes back as it is. */
export interface LateRedactor extends Pick<Redactor, 'text' | 'json' | 'chunks' | 'packed'> {
  /** The values it replaced. */
  readonly met: ReadonlySet<string>
  /** How much of a text ends before a part of such a value, and where it goes on behind one: at a cut, the rest may be gone. */
  apart(head: string, tail: string): readonly [end: number, start: number]
  /** How often it replaced one. */
  readonly replacements: number
  /** A credential or an address as a tape has it, with the placeholders of keys that have one. */
  key(shown: string): string
  /** Fingerprints of the values, where there is a key. */
  readonly prints: readonly RedactedPrint[]
}

/** A request body without its codings, redacted. */
export interface UnpackedBody {
  readonly bytes: Buffer
  /** Absent: it had none. */
  readonly coded?: readonly string[]
}

/** What a redactor numbers beside what it replaces. */
export interface PlaceholderNumbering {
  /**
   * The keys requests carry: kept are the scheme and which of the run's keys it is, and the headers that say for whom and
   * under which condition. Older tapes have none of these. `unnumbered`: not which key it is. Default `false`.
   */
  readonly keys?: boolean | 'unnumbered'
  /** Tells the values that were replaced from each other, for a tape or by one. Default: no one can. */
  readonly prints?: Prints
  /** Texts that are secret in this run no matter what they look like, such as who it is about. */
  readonly secrets?: readonly string[]
  /** @internal As these, that the run named later. */
  readonly named?: readonly string[]
  /** @internal Default those of now. */
  readonly finders?: Finders
  /** @internal The placeholder of a value that has one; said for each value once. */
  readonly given?: (value: string) => string | undefined
  /** Placeholders of the tape that is replayed, by their fingerprint: a value that is on it gets the one it has there. */
  readonly recorded?: ReadonlyMap<string, string>
}

/** As `Redactor.scan`, once. */
export function scan(text: string, options: RedactorOptions = {}): readonly SecretFinding[] {
  return createRedactor(options).scan(text)
}

// Replacing one secret can lay bare another one; texts that go on like that are made on purpose.
const passCap = 16
/** Encodings inside of each other that are read. */
const depthCap = 3
/** What may be replaced inside of the encoded words of one text; the other words are replaced whole. */
const insideCap = 16_384
/** What it costs to encode a word again, in secrets that are replaced. */
const wordCost = 8
// A client that makes up names must not fill a tape with them.
export const droppedCap = 64

interface Found {
  readonly spans: readonly TextRange[]
  readonly scattered: readonly Scattered[]
}

const nothing: Found = { spans: [], scattered: [] }

class TextRedactor implements Redactor {
  readonly #means: MeansInUse
  readonly #placeholders: Placeholders
  readonly #known: KnownSecrets
  /** Some are known that no rule recognises: in a text under way, one may begin anywhere. */
  readonly #hasSecrets: boolean
  /** Absent: the tape keeps no credentials. */
  readonly #keys: Pick<KeyNumbers, 'of' | 'known'> | undefined
  /** Keys of requests that nothing but their place tells. */
  readonly #byPlace = new Set<string>()
  readonly #dropped = new Set<string>()

  readonly #prints: Prints | undefined
  replacements = 0
  /** The text under way is a name. */
  #isNaming = false
  readonly #identifiers: typeof identifiersIn = (text) => (this.#isNaming ? () => true : identifiersIn(text))
  /** How many encodings inside of each other are being read. */
  #depth = 0
  /** What may still be replaced inside of encoded words. */
  #room = insideCap
  /** All texts of a value share the room there is. */
  #isInValue = false
  /** What a text may cost beyond what its length allows. */
  #spare = spareWork
  /** What all searches of the text under way may cost. */
  #total = Number.POSITIVE_INFINITY
  /** What words say that were replaced whole: they stay so wherever the run quotes them. */
  readonly #whole = new Set<string>()
  /** By depth, what words say, and what they say without their secrets where that many were known. */
  #cleaned: Map<string, { readonly clear: string; readonly by: number; readonly cost: number }>[] = []
  /** The text that was scanned last, where it holds nothing: a value is often scanned as a line, and redacted then. */
  #searched: string | undefined
  /** What words of base64 in the text under way say, where it holds none itself and no rule finds anything: it is not searched once more. With what that cost. */
  readonly #quiet = new Map<string, number>()

  constructor(
    means: MeansInUse,
    { keys = false, prints, recorded, given, named = [], secrets = [] }: PlaceholderNumbering,
  ) {
    this.#means = means
    this.#known = means.version < 9 ? new KnownSecrets(earlierCap) : new KnownSecrets(undefined, this.#identifiers)
    this.#known.rememberAll(named)
    for (const secret of secrets) this.#known.keep('secret', secret)
    this.#hasSecrets = secrets.length > 0
    this.#keys = keys === false ? undefined : keys === 'unnumbered' ? unnumbered : new KeyNumbers()
    this.#prints = prints
    this.#placeholders = new Placeholders(
      means.shapes,
      (kind, value) =>
        given?.(value) ??
        (prints === undefined || recorded === undefined || isCredential(kind)
          ? undefined
          : recorded.get(prints.of(kind, value))),
      means.version === 1 ? 0 : depthCap,
    )
  }

  text(text: string): string {
    if (this.#means.isPlain(text) && this.#knownIn(text).length === 0) return text
    return this.#clean(text)
  }

  name(name: string): string {
    this.#isNaming = this.#means.version >= 9
    try {
      return this.text(name)
    } finally {
      this.#isNaming = false
    }
  }

  chunks(pieces: readonly Buffer[]): readonly Buffer[] {
    // By chance the bytes around its payloads may be UTF-8: edited as text, no frame would be valid any more.
    const events = redactAwsEvents(pieces, (lines) => this.text(lines))
    if (events !== undefined) return events
    const coding = this.#codingOf(pieces)
    if (coding === undefined) return this.#bytes(pieces)
    const textOf = (now: readonly Buffer[]): string => joinedBytes(now).toString(coding)
    return this.#untilClean(pieces, textOf, (now, edits) => cutPieces(now, inBytes(textOf(now), edits, coding)))
  }

  settled(text: string): number {
    return this.#means.hasOwnRules || this.#hasSecrets
      ? 0
      : Math.min(settledEnd(text, this.#means.version), ...this.scan(text).map(({ index }) => index))
  }

  encoded(pieces: readonly Buffer[]): readonly EncodedBytes[] {
    const [only] = pieces
    // A body in one piece is decoded once. A binary event stream may be UTF-8 by chance: its first frame says its length.
    if (pieces.length === 1 && only !== undefined && !mayBeFrame(only) && isUtf8(only))
      return [this.text(only.toString('utf8'))]
    return this.chunks(pieces).map(encodeBytes)
  }

  unpacked(body: Buffer, contentEncoding: string | undefined): UnpackedBody | { readonly unsearched: Unsearched } {
    // Tapes of the first version have such bodies as they were sent.
    const unpacked = this.#means.version === 1 ? { plain: body, codings: [] } : unpack(body, contentEncoding)
    if ('unsearched' in unpacked) return unpacked
    const { plain, codings } = unpacked
    const bytes = plain.length === 0 ? plain : joinedBytes(this.chunks([plain]))
    return codings.length === 0 ? { bytes } : { bytes, coded: codings }
  }

  packed(
    pieces: readonly Buffer[],
    contentEncoding: string | undefined,
  ): readonly Buffer[] | { readonly unsearched: Unsearched } {
    const unpacked = unpack(joinedBytes(pieces), contentEncoding)
    if ('unsearched' in unpacked) return unpacked
    const { plain, codings } = unpacked
    if (codings.length === 0) return this.chunks(pieces)
    const clean = joinedBytes(this.chunks([plain]))
    if (clean.equals(plain)) return pieces
    const again = pack(clean, codings)
    return pieces.map((_, at) => (at === 0 ? again : Buffer.alloc(0)))
  }

  json(value: Json, known?: string): Json {
    this.#room = insideCap
    this.#isInValue = true
    try {
      return this.#json(value, known)
    } finally {
      this.#isInValue = false
      this.#spare = spareWork
    }
  }

  #json(value: Json, known: string | undefined): Json {
    const walked = redactJson(value, this.#means.names, {
      text: (text) => this.text(text),
      secret: (text) => this.#secret(text),
      headers: (pairs) => this.headers(pairs),
      keepsBytes: this.#means.version >= 6,
      keepsTypes: this.#means.version >= 13,
      number: (text) => this.#number(text),
      bytes: (value, length) => this.#asLong({ kind: 'secret', value, start: 0, end: length }),
      isPlaced: (text) => this.#isPlaced(text),
    })
    if (this.#means.version === 1 || typeof walked !== 'object' || walked === null) return walked
    // Once more as the line it becomes: a pair of texts is recognised by what stands beside it.
    const line = known !== undefined && walked === value ? known : JSON.stringify(walked)
    const clean = this.text(line)
    return clean === line ? walked : (JSON.parse(clean) as Json)
  }

  /** A number as it stands in JSON. */
  #number(text: string): string | number | undefined {
    const line = `[${text}]`
    const clean = this.text(line)
    if (clean === line) return undefined
    return (JSON.parse(clean) as [string | number])[0]
  }

  #isNumber({ kind, value }: Secret): boolean {
    return /^\d+$/.test(this.#means.shapes.of(kind, 1, value))
  }

  url(url: string, keys?: ReadonlySet<string>): string {
    return redactUrl(url, this.#means.names, {
      text: (text) => this.text(text),
      secret: (text) => this.#secret(text),
      ...(this.#keys && { key: (text: string) => this.#key(text) }),
      ...(keys && { keys }),
    })
  }

  headers(pairs: readonly HeaderPair[]): HeaderPair[] {
    const result: HeaderPair[] = []
    for (const [name, value] of pairs) {
      const known = this.#means.keptHeaders.find(name) ?? this.#cookie(name)
      if (known !== undefined) result.push([this.#nameOf(name), this.#header(known, value)])
    }
    return result
  }

  /** Of a family of headers, a name may end with anything. Those of words are no secret. */
  #nameOf(name: string): string {
    return this.#means.version < 12 || /^(?:[a-z]{1,24}(?:-|$))+$/i.test(name) ? name : this.name(name)
  }

  /** Cookies are detected by what the client sends back: without the one it was given, it would send none. */
  #cookie(name: string): string | undefined {
    return this.#keys !== undefined && name.toLowerCase() === 'set-cookie' ? 'set-cookie' : undefined
  }

  requestHeaders(pairs: readonly HeaderPair[]): HeaderPair[] {
    if (this.#keys === undefined) return this.headers(pairs)
    const result: HeaderPair[] = []
    for (const [name, value] of pairs) {
      const known = this.#means.keptHeaders.find(name) ?? name.toLowerCase()
      const meaning = this.meaning(known)
      if (meaning === 'credential') result.push([this.#nameOf(known), this.#credential(known, value)])
      else if (meaning !== undefined || this.#means.keptHeaders.find(name) !== undefined)
        result.push([this.#nameOf(known), this.#header(known, value)])
      else this.#drop(known)
    }
    return result
  }

  meaning(name: string): HeaderMeaning | undefined {
    return this.#means.keptHeaders.meaning(name)
  }

  get dropped(): readonly string[] {
    return [...this.#dropped].sort()
  }

  #credential(name: string, value: string): string {
    const basic = this.#means.version < 9 ? undefined : basicSecret(value)
    if (basic !== undefined) this.#isNew(basic)
    const number = (key: string): string => this.#placeholders.known(key) ?? this.#keys!.of(key)
    const shown = shownCredential(
      name,
      value,
      (key) => this.#key(key),
      (key) => (this.#isPlaced(key) ? key : number(key)),
    )
    // Names of cookies are the client's; all else is a scheme and numbers.
    return name === 'cookie' ? this.text(shown) : shown
  }

  #drop(name: string): void {
    if (this.#dropped.size < droppedCap && isWorthNaming(name)) this.#dropped.add(name)
  }

  /** A key by the placeholder of the secret it is, where the run met that elsewhere, or else by its number. */
  #key(key: string): string {
    if (this.#isPlaced(key)) return key
    const placeholder = this.#byPlace.has(key) ? undefined : this.#placeholders.known(key)
    if (placeholder !== undefined) return placeholder
    if (this.#means.version >= 9 && this.#isNew(key)) this.#byPlace.add(key)
    return this.#keys!.of(key)
  }

  /** Whether a value that its place tells became known by that. */
  #isNew(value: string): boolean {
    const before = this.named
    this.#remember({ kind: 'secret', value, contextual: true })
    if (this.named === before) return false
    this.replacements++
    this.#searched = undefined
    return true
  }

  #header(name: string, value: string): string {
    if (this.#keys !== undefined && name === 'set-cookie')
      return this.text(shownSetCookie(value, (text) => this.#secret(text)))
    if (this.#means.names.isSecret(name, value)) return this.#secret(value)
    return name === 'location' || name === 'link' ? this.url(value) : this.text(value)
  }

  get named(): number {
    return this.#known.size
  }

  get namedValues(): readonly string[] {
    return this.#known.all.map(({ value }) => value)
  }

  get namedInVain(): number {
    return this.#known.left
  }

  late(only?: ReadonlySet<string>): LateRedactor {
    const named = this.#known.all.filter(({ value }) => only?.has(value) ?? true).map((one) => this.#named(one))
    const { instead, prints } = latePlaceholders(named, this.#means.shapes)
    const placeholders = only === undefined ? [] : named.flatMap(({ placeholder = [] }) => placeholder)
    const keys = only === undefined ? [] : named.flatMap(({ key = [] }) => key)
    const met = new Set<string>()
    const redactor = new TextRedactor(lateMeans(this.#means, placeholders), {
      named: named.map(({ value }) => value),
      given: (value) => {
        met.add(value)
        return instead.get(value)
      },
    })
    return {
      met,
      prints,
      get replacements() {
        return redactor.replacements
      },
      apart: (head, tail) => {
        const [end, start] = [redactor.#known.begunAtEnd(head), redactor.#known.endedAtStart(tail)]
        for (const part of [end, start]) if (part !== undefined) met.add(part.value)
        return [head.length - (end?.length ?? 0), start?.length ?? 0]
      },
      text: (text) => redactor.text(text),
      json: (value) => redactor.json(value),
      chunks: (pieces) => redactor.chunks(pieces),
      packed: (pieces, contentEncoding) => redactor.packed(pieces, contentEncoding),
      key: (shown) => keys.reduce((text, key) => text.replaceAll(key, instead.get(key)!), redactor.text(shown)),
    }
  }

  #named({ kind, value }: Pick<NamedSecret, 'kind' | 'value'>): NamedSecret {
    const placeholder = this.#placeholders.known(value)
    // A replay has another one in its place, or what an answer of the tape says.
    const key = this.#byPlace.has(value) ? undefined : this.#keys?.known(value)
    return {
      kind,
      value,
      ...(placeholder !== undefined && { placeholder }),
      ...(key !== undefined && { key }),
      ...(this.#prints && { print: (as) => this.#prints!.of(as, value) }),
    }
  }

  learn(placeholder: string, value: string): void {
    this.#known.remember(this.#placeholders.give(placeholder, value), value)
    this.#searched = undefined
  }

  observe(text: string): void {
    this.#placeholders.observe(text)
  }

  observeLater(observe: () => void): void {
    this.#placeholders.later(observe)
  }

  observeChunks(pieces: readonly Buffer[]): void {
    this.observe(awsLines(pieces) ?? Buffer.concat(pieces).toString('utf8'))
  }

  observeBody(text: string): void {
    // A binary event stream begins with a length, and none is so long that this would be a letter or a brace.
    if (text.charCodeAt(0) < 0x20) this.observeChunks([Buffer.from(text)])
    else this.observe(text)
  }

  takeReplaced(): readonly Replaced[] {
    const fresh = this.#placeholders.takeFresh()
    // Nearly always.
    if (fresh.length === 0) return []
    return fresh
      .filter(({ kind, isLate }) => isLate === true || !isCredential(kind))
      .map(({ kind, placeholder, value }) => ({
        kind,
        placeholder,
        ...(this.#prints && { print: this.#prints.of(kind, value) }),
      }))
  }

  holds(text: string): boolean {
    return this.#placeholders.in(text).starts.length > 0
  }

  hides(texts: readonly string[]): boolean {
    return this.#placeholders.hide(texts)
  }

  scan(text: string): readonly SecretFinding[] {
    const { found, isOver } = this.#withinBound(text.length, () => ({
      found: this.#search(text),
      isOver: isOverworked(),
    }))
    const { spans, scattered } = found
    this.#quiet.clear()
    this.#searched = isNothing(found) && !isOver ? text : undefined
    if (isOver) return text === masked(text) ? [] : [{ kind: 'secret', index: 0, length: text.length }]
    return [
      ...spans.map(({ kind, start, end }) => ({ kind, index: start, length: end - start })),
      ...scattered.map(({ kind, pieces: [first] }) => ({
        kind,
        index: first!.start,
        length: first!.end - first!.start,
      })),
    ].sort((a, b) => a.index - b.index)
  }

  scanBody(
    bytes: Buffer,
    contentEncoding: string | undefined,
  ): readonly SecretFinding[] | { readonly unsearched: Unsearched } {
    const unpacked = unpack(bytes, contentEncoding)
    if ('unsearched' in unpacked) return unpacked
    const { plain } = unpacked
    const lines = awsLines([plain])
    if (lines !== undefined) return this.scan(lines)
    const coding = this.#codingOf([plain])
    if (coding !== undefined) return this.scan(plain.toString(coding))
    const found = this.#tokensIn(plain.toString('latin1'))
    return found.map(({ kind, start, end }) => ({ kind, index: start, length: end - start }))
  }

  /** How text in pieces stands there; `undefined`: they are no text. Earlier tapes know no other than UTF-8. */
  #codingOf(pieces: readonly Buffer[]): 'utf8' | 'latin1' | undefined {
    if (isText(pieces)) return 'utf8'
    return this.#means.version >= 13 && isLatinText(joinedBytes(pieces)) ? 'latin1' : undefined
  }

  /** Pieces that are no text. What stands in them may be found by its place or by the length before it: it stays as long as it was. */
  #bytes(pieces: readonly Buffer[]): readonly Buffer[] {
    const found = this.#tokensIn(joinedBytes(pieces).toString('latin1'))
    if (found.length === 0) return pieces
    return cutPieces(
      pieces,
      found.map((span) => ({ start: span.start, end: span.end, bytes: Buffer.from(this.#asLong(span)) })),
    )
  }

  /** The placeholder of a value, with dots behind it; where there is no room for it, one that has no number. */
  #asLong({ kind, value, contextual, start, end }: TextRange): string {
    const length = end - start
    const room = 'redacted--'.length + kind.length + '999.'.length
    if (length < room) return '*'.repeat(length)
    const { text } = this.#replace({ kind, value, ...(contextual && { contextual }) })
    return text.length < length ? text.padEnd(length, '.') : '*'.repeat(length)
  }

  /** What in bytes that are no text tells by its form what it is, and what is known to be secret. Earlier tapes keep it. */
  #tokensIn(text: string): readonly TextRange[] {
    if (this.#means.version < 6) return []
    const { all, isOver } = lookingInBytes(() => this.#findOnce(text))
    const tokens = all.filter(({ kind }) => isToken(kind))
    if (isOver) return [{ kind: 'secret', start: 0, end: text.length, value: text }]
    const known = this.#knownIn(text)
    if (tokens.length + known.length === 0) return []
    return settle(text, [...tokens, ...known], this.#placeholders.in(text))
  }

  /** Secrets that are known, as they are and as escapes spell them. */
  #knownIn(text: string): readonly TextRange[] {
    const found = this.#known.find(text)
    if (this.#means.version < 14 || this.#known.size === 0) return found
    const spelled = inAllViews(text, (plain) => this.#known.find(plain))
    return spelled.length === 0 ? found : [...found, ...spelled]
  }

  #findOnce(text: string): { readonly all: readonly TextRange[]; readonly isOver: boolean } {
    return this.#withinBound(text.length, () => ({ all: this.#means.find(text), isOver: isOverworked() }))
  }

  /** Whether a text begins with a placeholder that is all of it. */
  #isPlaced(text: string): boolean {
    const { starts, ends } = this.#placeholders.in(text)
    return starts[0] === 0 && ends[0] === text.length
  }

  /** A text that is secret as a whole, because of the name it stands under. */
  #secret(text: string): string {
    if (text === '') return text
    const scheme = this.#means.schemeOf(text)
    if (scheme !== '') return scheme + this.#secret(text.slice(scheme.length))
    if (this.#isPlaced(text)) return this.text(text)
    const whole = settle(text, this.#findOnce(text).all, { starts: [], ends: [] }).find(
      ({ start, end }) => start === 0 && end === text.length,
    )
    const placeholder = this.#replace(whole ?? { kind: 'secret', value: text, contextual: true })
    this.#placeholders.observe(placeholder.text)
    return placeholder.text
  }

  /** Redacts until nothing is found any more: what came out once goes through unchanged. */
  #untilClean<T>(given: T, textOf: (now: T) => string, apply: (now: T, edits: Iterable<Edit>) => T, before?: Found): T {
    if (this.#depth > 0 || this.#means.version < 7) return this.#rounds(given, textOf, apply, before).now
    const text = textOf(given)
    const { now, isOver } = this.#withinBound(text.length, () => this.#rounds(given, textOf, apply))
    const instead = isOver ? masked(text) : text
    // Rules of the application's own may find something in stars as well.
    if (instead === text) return now
    this.replacements++
    return this.#untilClean(apply(given, [{ start: 0, end: text.length, text: instead }]), textOf, apply)
  }

  /** @returns what came out, or the same where that costs more than it may */
  #rounds<T>(
    given: T,
    textOf: (now: T) => string,
    apply: (now: T, edits: Iterable<Edit>) => T,
    before?: Found,
  ): { readonly now: T; readonly isOver: boolean } {
    const whole = textOf(given)
    let text = whole
    let found = this.#depth === 0 && text === this.#searched ? nothing : (before ?? this.#search(text))
    if (isNothing(found) && !isOverworked()) {
      this.#placeholders.observe(text)
      return { now: given, isOver: false }
    }
    if (this.#depth === 0 && !this.#isInValue) this.#room = insideCap
    const mark = this.#placeholders.mark()
    try {
      const fresh: string[] = []
      let now = given
      for (let pass = 0; pass < passCap && !isOverworked() && !isNothing(found); pass++) {
        now = apply(now, this.#step(text, found, fresh))
        text = textOf(now)
        // What was found in the text before may be as large as it.
        found = nothing
        found = this.#search(text)
      }
      // What still lays bare another secret after so many searches would change again.
      const isOver = this.#depth === 0 && (isOverworked() || (this.#means.version >= 7 && !isNothing(found)))
      if (isOver) {
        this.#forgetLost(whole, mark, fresh)
        return { now: given, isOver }
      }
      const isLost = fresh.length > 0 && this.#forgetLost(text, mark, fresh)
      if (isLost || this.#depth === 0) this.#placeholders.observe(text)
      return { now, isOver }
    } finally {
      if (this.#depth === 0) this.#quiet.clear()
      this.#placeholders.release()
    }
  }

  /** As {@link #found}. Of a whole text, as far as one search of it may go. */
  #search(text: string): Found {
    if (this.#depth > 0 || this.#means.version < 7) return this.#found(text)
    work.most = Math.min(this.#total, work.done + this.#spare + workFor(text.length))
    const found = this.#found(text)
    if (!isOverworked()) work.most = this.#total
    return found
  }

  /** What is done with a text, as long as that costs no more than it may. Earlier tapes know no bound. */
  #withinBound<T>(length: number, act: () => T): T {
    if (this.#means.version < 7) return act()
    const usual = workFor(length)
    work.done = 0
    this.#total = work.most = this.#spare + usual
    try {
      return act()
    } finally {
      work.most = Number.POSITIVE_INFINITY
      // All texts of a value share what short ones may cost.
      if (this.#isInValue) this.#spare = Math.max(0, this.#spare - Math.max(0, work.done - usual))
    }
  }

  /** Numbers follow from what is on the tape and nothing else, for a replay sees only that. */
  #forgetLost(text: string, mark: number, fresh: readonly string[]): boolean {
    const { starts, ends } = this.#placeholders.in(text)
    if (starts.length === 0 && fresh.length > 0) return this.#forget(mark, fresh)
    const placeholderOf = (value: string): string => this.#placeholders.known(value)!
    // Most stand there in the order in which they were given out.
    let next = 0
    for (let at = 0; at < starts.length && next < fresh.length; ) {
      const placeholder = placeholderOf(fresh[next]!)
      while (at < starts.length && !text.startsWith(placeholder, starts[at])) at++
      if (at < starts.length && ends[at]! - starts[at]! === placeholder.length) next++
      at++
    }
    if (next === fresh.length) return false
    const missing = new Set(fresh.slice(next).map(placeholderOf))
    for (let at = 0; at < starts.length; at++) {
      if (missing.size === 0) return false
      missing.delete(text.slice(starts[at], ends[at]).replace('%40', '@'))
    }
    const lost = fresh.filter((value) => missing.has(placeholderOf(value)))
    return lost.length > 0 && this.#forget(mark, lost)
  }

  #forget(mark: number, lost: readonly string[]): true {
    this.replacements++
    this.#cleaned = []
    this.#placeholders.restore(mark, lost)
    return true
  }

  /**
   * What to put where, one after the other: all of it may be larger than the text.
   *
   * @param fresh - gets the values that have a placeholder since
   */
  *#step(text: string, { spans, scattered }: Found, fresh: string[]): Iterable<Edit> {
    // What words of base64 say is observed with the text they stand in.
    if (this.#depth === 0) this.#placeholders.observe(text)
    if (scattered.length === 0) {
      for (const span of spans) yield { start: span.start, end: span.end, text: this.#instead(text, span, span, fresh) }
      return
    }
    const places = [
      ...spans.map((span) => ({ of: span, pieces: [span] as readonly Place[] })),
      ...scattered.map((one) => ({ of: one, pieces: one.pieces })),
    ].sort((a, b) => a.pieces[0]!.start - b.pieces[0]!.start)
    const edits = places.flatMap(({ of, pieces }) =>
      pieces.map((piece, at) => ({
        start: piece.start,
        end: piece.end,
        text: at === 0 ? this.#instead(text, of, piece, fresh) : '',
      })),
    )
    yield* edits.sort((a, b) => a.start - b.start)
  }

  #instead(text: string, of: TextRange | Scattered, { start, end }: Place, fresh: string[]): string {
    const { encoded, value } = of
    const again = encoded?.again()
    if (again !== undefined) return again
    // A placeholder of another kind may keep a part of the value, and this value is more than one secret.
    const { text: placeholder, isNew } = this.#replace(encoded === undefined ? of : { kind: 'secret', value })
    if (encoded !== undefined) this.#learn(encoded)
    if (isNew) fresh.push(of.value)
    const { quote = '' } = of
    return `${quote}${spelled(placeholder, text, start, end)}${quote}`
  }

  /** What is secret in a word that was replaced whole is looked for elsewhere all the same. */
  #learn({ inside }: Encoded): void {
    for (const one of inside())
      if (one.encoded === undefined) this.#remember(one)
      else this.#learn(one.encoded)
  }

  #remember({ kind, value, contextual }: Secret): void {
    // A value that has a placeholder went through this before.
    if (contextual && !this.#placeholders.has(value)) this.#name(kind, value)
  }

  /** What holds a secret that is found by itself is left to that: `Bearer …` in one place, the field it is in another. */
  #name(kind: string, value: string): void {
    const isPhrase = this.#means.version >= 9 && isDistinctivePhrase(value) && !this.#speaksOfSecrets(value)
    if ((isPhrase || isDistinctive(value)) && uncounted(() => this.#means.find(value)).length === 0)
      this.#known.remember(kind, value)
  }

  /** `prod-db-secret` is what a secret is called. */
  #speaksOfSecrets(phrase: string): boolean {
    return phrase.split(/[._-]/).some((word) => this.#means.names.isSecret(word, phrase))
  }

  #replace({ kind, value, contextual }: Secret): {
    text: string
    isNew: boolean
  } {
    this.replacements++
    const given = this.#placeholders.for(kind, value)
    if (contextual && given.isNew) this.#name(kind, value)
    if (contextual) this.#byPlace.delete(value)
    // What is known now may stand in it.
    this.#searched = undefined
    return given
  }

  #found(text: string): Found {
    const spans = this.#look(text)
    if (isOverworked()) return { spans, scattered: [] }
    const scattered = findScattered(text, (part) => this.#look(part), this.#means.version)
    if (scattered.length > 0) return { spans: apartFrom(spans, scattered), scattered: apart(scattered) }
    return spans.length === 0 ? nothing : { spans, scattered }
  }

  #look(text: string): readonly TextRange[] {
    const isWord = this.#depth > 0
    const quiet = isWord ? this.#quiet.get(text) : undefined
    const before = work.done
    if (quiet !== undefined) work.done += quiet
    const found = quiet === undefined ? this.#means.find(text) : nothing.spans
    // Of a text that costs more than it may, nothing that was found counts.
    if (isOverworked()) return nothing.spans
    const cost = work.done - before
    const known = this.#knownIn(text)
    const all = known.length === 0 ? found : [...found, ...known]
    const spans = all.length === 0 ? all : settle(text, this.#within(text, all), this.#placeholders.in(text))
    work.done += spans.length * perSecret
    const words = this.#means.version === 1 || this.#depth >= depthCap || isOverworked() ? [] : encodedWords(text)
    work.done += words.length * perWord
    if (words.length > 0) return this.#withEncoded(text, words, spans)
    if (isWord && spans.length === 0 && !isOverworked()) this.#quiet.set(text, cost)
    return spans
  }

  /** JSON stays JSON. Earlier tapes have what was read beyond the borders of its texts. */
  #within(text: string, spans: readonly TextRange[]): readonly TextRange[] {
    const { version } = this.#means
    const within = version < 9 ? spans : withinJson(text, spans, (one) => version < 13 || this.#isNumber(one))
    if (version < 13) return within
    // What tells itself stays there as well, and `check` names it.
    return within.filter(
      (span) => !((span.contextual || this.#isInValue) && isOfTypedValue(text, span, (one) => this.#isNumber(one))),
    )
  }

  /** Words of base64 that say something secret, beside what stands plain. */
  #withEncoded(text: string, words: readonly EncodedWord[], spans: readonly TextRange[]): readonly TextRange[] {
    let more: TextRange[] | undefined
    let next = 0
    for (const word of words) {
      if (isOverworked()) break
      while (next < spans.length && spans[next]!.end <= word.start) next++
      if (next < spans.length && spans[next]!.start < word.end) continue
      const found = this.#foundInside(word.plain)
      const first = found.spans[0] ?? found.scattered[0]
      if (first === undefined) continue
      const { start, end, plain: value } = word
      const known = this.#known.size
      const again = (): string | undefined => {
        const clear = this.#cleanWord(value, found, known)
        return clear === undefined ? undefined : encodedAs(text, word, clear)
      }
      const inside: Encoded['inside'] = () => [...found.spans, ...found.scattered]
      const span = { kind: first.kind, start, end, value, encoded: { again, inside } }
      if (more === undefined) more = [span]
      else more.push(span)
    }
    if (more === undefined) return spans
    return spans.length === 0 ? more : [...spans, ...more].sort((a, b) => a.start - b.start)
  }

  /** What is found one encoding further in. */
  #foundInside(text: string): Found {
    this.#depth++
    try {
      return this.#found(text)
    } finally {
      this.#depth--
    }
  }

  /** What a word says without its secrets; `undefined` where more would be replaced than there is room for. */
  #cleanWord(text: string, found: Found, known: number): string | undefined {
    if (this.#means.version < 6) return this.#cleanInside(text, found, known)
    if (this.#whole.has(text)) return undefined
    const cleaned = (this.#cleaned[this.#depth] ??= new Map())
    const before = cleaned.get(text)
    const isStill =
      before !== undefined &&
      (before.by === this.#known.size || (this.#means.version >= 9 && this.#knownIn(before.clear).length === 0))
    if (isStill) {
      this.replacements++
      work.done += before.cost
      return before.clear
    }
    const begun = work.done
    const cost = wordCost + found.spans.length + found.scattered.length
    if (cost > this.#room) {
      this.#whole.add(text)
      return undefined
    }
    this.#room -= cost
    const clear = this.#cleanInside(text, found, known)
    if (!isOverworked()) cleaned.set(text, { clear, by: this.#known.size, cost: work.done - begun })
    return clear
  }

  /** @param known - how many secrets were known when that was found: what became known since changes only what holds it */
  #cleanInside(text: string, found: Found, known: number): string {
    this.#depth++
    try {
      const isAsFound =
        this.#known.size === known || (!isStream(text, this.#means.version) && this.#knownIn(text).length === 0)
      return this.#clean(text, isAsFound ? found : undefined)
    } finally {
      this.#depth--
    }
  }

  #clean(text: string, found?: Found): string {
    return this.#untilClean(text, itself, edited, found)
  }
}

const unnumbered: Pick<KeyNumbers, 'of' | 'known'> = { of: () => someKey, known: () => undefined }

function isNothing({ spans, scattered }: Found): boolean {
  return spans.length + scattered.length === 0
}

const itself = (text: string): string => text

type Place = Pick<TextRange, 'start' | 'end'>

/** In a URL an address has `%40` for its sign, and so has its placeholder. */
function spelled(placeholder: string, text: string, start: number, end: number): string {
  if (!placeholder.includes('@')) return placeholder
  const secret = text.slice(start, end)
  return secret.includes('%40') && !secret.includes('@') ? placeholder.replace('@', '%40') : placeholder
}

/** Spans that no scattered secret covers: what stands in pieces is the whole of it. */
function apartFrom(spans: readonly TextRange[], scattered: readonly Scattered[]): readonly TextRange[] {
  const covered = scattered.flatMap(({ pieces }) => pieces).sort((a, b) => a.start - b.start)
  let next = 0
  return spans.filter(({ start, end }) => {
    while (next < covered.length && covered[next]!.end <= start) next++
    const place = covered[next]
    return place === undefined || place.start >= end
  })
}

/** Scattered secrets that share no piece; the others wait for the next pass. */
function apart(scattered: readonly Scattered[]): readonly Scattered[] {
  const taken = new Set<number>()
  return scattered.filter(({ pieces }) => {
    if (pieces.some(({ start }) => taken.has(start))) return false
    for (const { start } of pieces) taken.add(start)
    return true
  })
}

/** Whether the pieces together are UTF-8; a last character that was cut off by the end is forgiven. */
function isText(pieces: readonly Buffer[]): boolean {
  const bytes = joinedBytes(pieces)
  for (let cut = 0; cut <= Math.min(3, bytes.length); cut++)
    if (isUtf8(bytes.subarray(0, bytes.length - cut))) return true
  return false
}

/**
 * Whether bytes that are no UTF-8 are text in Latin-1 or a code page like it: no controls, and at the beginning ASCII or a letter.
 * MessagePack and CBOR begin with what is a sign there, and say how long their texts are.
 */
function isLatinText(bytes: Buffer): boolean {
  const [first = 0, second = 0] = bytes
  const isUtf16 = first + second === 0xff + 0xfe
  return (
    !isUtf16 &&
    !(first >= 0x80 && first < 0xc0) &&
    !bytes.some((byte) => (byte < 0x20 && !isWhite(byte)) || byte === 0x7f)
  )
}

function isWhite(byte: number): boolean {
  return byte >= 0x09 && byte <= 0x0d
}
