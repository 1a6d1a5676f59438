import { isUtf8 } from 'node:buffer'
import type { HeaderPair, Json } from '../tape/index.ts'
import type { SecretNames } from './names.ts'
import { isDistinctive } from './known.ts'
import type { TextRange } from './types.ts'
import { lookingInBytes } from './values.ts'

interface Means {
  readonly text: (text: string) => string
  /** For text that is secret as a whole. */
  readonly secret: (text: string) => string
  readonly headers: (pairs: readonly HeaderPair[]) => HeaderPair[]
  /** Whether bytes that are no text are searched as bytes; for earlier tapes, as the text they are not. */
  readonly keepsBytes: boolean
  /** Whether values stay of their types, and hand the name they stand under to what they hold; in earlier tapes, lists alone do. */
  readonly keepsTypes: boolean
  /** What stands for a number, by its digits. `undefined`: itself. */
  readonly number: (digits: string) => string | number | undefined
  /** For bytes that are no text and secret as a whole: as many. */
  readonly bytes: (base64: string, length: number) => string
  /** Whether a text is a placeholder and nothing else. */
  readonly isPlaced: (text: string) => boolean
}

/** Which texts are secret, as the name before them says. */
type Promised = ((text: string) => boolean) | undefined

/** Parts of encoded values that stand under the name of the whole. */
const heirs: Readonly<Record<string, readonly string[]>> = {
  set: ['values'],
  array: ['items'],
  boxed: ['value'],
  fielded: ['value'],
  error: ['message', 'errors', 'cause'],
  symbol: ['key', 'description'],
  unreadable: ['message'],
}

/** What no text has in it. */
const controls = /[\0-\x08\x0e-\x1f\x7f]/

const [typedStart, longestScalar, longestStart] = ['"value":"', 64, 48]
const typed = /\{"\$type":"(bigint|date|number|url|search-params)","value":"$/

/**
 * Whether a span is of an encoded value that a placeholder in its place would destroy. The walk of the value replaces what it can.
 *
 * @param isDigits - whether what stands for it is a number as well
 */
export function isOfTypedValue(text: string, span: TextRange, isDigits: (span: TextRange) => boolean): boolean {
  const { start, end } = span
  let from = start
  while (start - from < longestScalar && /[\w:.+-]/.test(text[from - 1] ?? '')) from--
  if (!text.startsWith(typedStart, from - typedStart.length)) return false
  const type = typed.exec(text.slice(Math.max(0, from - longestStart), from))?.[1]
  if (type === 'bigint') return !isDigits(span)
  return type === 'date' || type === 'number' || (type !== undefined && from === start && text[end] === '"')
}

/** Redacts a value as `encodeValue` wrote it; the same object when nothing was found. */
export function redactJson(json: Json, names: SecretNames, means: Means): Json {
  return walk(json, undefined)

  function walk(value: Json, promised: Promised): Json {
    if (typeof value === 'string') return textOf(value, promised)
    // A card number may stand as a number: its placeholder is one too.
    if (typeof value === 'number') {
      // In a line of JSON all are looked at once more.
      const isLong = value >= 1e12 && Number.isSafeInteger(value)
      if (means.keepsTypes) return isLong || value === json ? (means.number(JSON.stringify(value)) ?? value) : value
      return isLong ? Number(means.text(`${value}`)) : value
    }
    if (typeof value !== 'object' || value === null) return value
    return isList(value) ? walkList(value, promised) : walkObject(value, means.keepsTypes ? promised : undefined)
  }

  /** What is left of a text without an address may look like the secret that its name promises. */
  function textOf(text: string, promised: Promised): string {
    if (promised?.(text)) return means.secret(text)
    const clean = means.text(text)
    return means.keepsTypes && clean !== text && promised?.(clean) ? means.secret(clean) : clean
  }

  function walkList(list: readonly Json[], promised: Promised): Json {
    let result: Json[] | undefined
    for (let at = 0; at < list.length; at++) {
      const item = list[at]!
      // `--api-key`, `…`: the arguments of a command.
      const before = list[at - 1]
      const isFlagged =
        typeof item === 'string' && typeof before === 'string' && /^--?\w/.test(before) && names.isSecretFlag(before)
      const redacted = walk(item, isFlagged ? () => true : promised)
      // Most of what is walked holds nothing: nothing is made of it then.
      if (result === undefined && redacted === item) continue
      result ??= list.slice(0, at)
      result.push(redacted)
    }
    return result ?? list
  }

  function walkObject(object: Fields, promised: Promised): Json {
    const tagged = walkTagged(object, promised)
    if (tagged !== undefined) return tagged
    const { $type } = object
    const own = promised === undefined || typeof $type !== 'string' ? undefined : heirs[$type]
    let entries: (readonly [string, Json])[] | undefined
    const keys = Object.keys(object)
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at]!
      const item = object[key]!
      const redactedKey = means.text(key)
      const redacted = walk(item, own?.includes(key) ? promised : names.promise(key, item))
      if (entries === undefined && redacted === item && redactedKey === key) continue
      entries ??= keys.slice(0, at).map((same) => [same, object[same]!])
      entries.push([redactedKey, redacted])
    }
    return entries === undefined ? object : Object.fromEntries(entries)
  }

  /** Encoded values that hide text or names from the walk; `undefined` for those that do not. */
  function walkTagged(object: Fields, promised: Promised): Json | undefined {
    const { $type } = object
    if (typeof $type !== 'string') return undefined
    const { base64, entries, at } = object
    if ($type === 'bytes' && typeof base64 === 'string') return walkBytes(object, base64, promised)
    if (means.keepsTypes) {
      const { value, source } = object
      // As a number and a word under a name.
      if ($type === 'date' || $type === 'number') return object
      if ($type === 'bigint' && typeof value === 'string') return bigintOf(object, value)
      if ($type === 'url' && typeof value === 'string') return withPart(object, 'value', urlOf(value, promised))
      if ($type === 'search-params' && typeof value === 'string')
        return withPart(object, 'value', paramsOf(value, promised))
      if ($type === 'regexp' && typeof source === 'string')
        return withPart(object, 'source', sourceOf(source, object['flags'], promised))
    }
    if ($type === 'headers' && isList(entries)) {
      const pairs = entries as unknown as readonly HeaderPair[]
      const redacted = means.headers(pairs)
      const isSame = redacted.length === pairs.length && redacted.every((pair, i) => isSamePair(pair, pairs[i] ?? []))
      return isSame ? object : { ...object, entries: redacted }
    }
    if ($type === 'map' && isList(entries)) {
      const redacted = entries.map((entry) => (isList(entry) ? walkPair(entry, promised) : walk(entry, undefined)))
      return redacted.every((entry, i) => entry === entries[i]) ? object : { ...object, entries: redacted }
    }
    // A reference by path: its steps are keys, and change as they do.
    if ($type === 'same' && typeof at === 'string') {
      const redacted = at
        .split('/')
        .map((step) => escape(means.text(unescape(step))))
        .join('/')
      return redacted === at ? object : { ...object, at: redacted }
    }
    return undefined
  }

  /** What no number stands for becomes a text. */
  function bigintOf(object: Fields, value: string): Json {
    const instead = means.number(value)
    return instead === undefined ? object : typeof instead === 'string' ? instead : { ...object, value: `${instead}` }
  }

  /** What tells as text that it is secret is replaced by text. Dots make up for what an item lacks. */
  function walkBytes(object: Fields, base64: string, promised: Promised): Json {
    const bytes = Buffer.from(base64, 'base64')
    // Of bytes that are no text, those around a secret stay what they are.
    const how = means.keepsBytes && !isUtf8(bytes) ? 'latin1' : 'utf8'
    const text = bytes.toString(how)
    const isSaid = how === 'utf8' && !controls.test(text)
    const isDone = promised === undefined || means.isPlaced(text.replace(/\.+$/, '')) || /^\*+$/.test(text)
    let redacted = text
    if (!isDone && !isSaid && promised(base64)) redacted = means.bytes(base64, bytes.length)
    else if (how === 'latin1') redacted = lookingInBytes(() => means.text(text))
    else redacted = textOf(text, isDone || !isSaid ? undefined : promised)
    if (redacted === text) return object
    const made = Buffer.from(redacted, how)
    const rest = means.keepsTypes ? made.length % itemSize(object['class']) : 0
    const filled = rest === 0 ? made : Buffer.concat([made, Buffer.alloc(itemSize(object['class']) - rest, '.')])
    return { ...object, base64: filled.toString('base64') }
  }

  /** What is no address becomes a scheme, which is one. */
  function urlOf(url: string, promised: Promised): string {
    if (means.isPlaced(url.slice(0, -1))) return url
    const text = textOf(url, promised)
    if (means.isPlaced(text)) return `${text}:`
    return URL.canParse(text) ? text : `${means.secret(url)}:`
  }

  function paramsOf(query: string, promised: Promised): string {
    const clean = means.text(query)
    const text = clean === query ? query : new URLSearchParams(clean).toString()
    if (promised === undefined) return text
    const pairs = [...new URLSearchParams(text)]
    const redacted = pairs.map((pair) => walkPair(pair, promised) as [string, string])
    return redacted.every((pair, nth) => pair === pairs[nth]) ? text : new URLSearchParams(redacted).toString()
  }

  function sourceOf(source: string, flags: Json | undefined, promised: Promised): string {
    const text = textOf(source, promised)
    return text === source || isPattern(text, flags) ? text : means.secret(source)
  }

  /** By its key a value is asked for in a map: one that is a word is no secret. */
  function walkPair(pair: readonly Json[], promised: Promised): Json {
    const [key = null, value = null] = pair
    const own = typeof key === 'string' ? names.promise(key, value) : undefined
    const ofKey: Promised = promised && ((text) => isDistinctive(text) && promised(text))
    const redacted = [walk(key, ofKey), walk(value, own ?? promised)]
    return isSamePair(redacted, pair) ? pair : redacted
  }
}

type Fields = { readonly [key: string]: Json }

function withPart(object: Fields, name: string, part: string): Json {
  return object[name] === part ? object : { ...object, [name]: part }
}

function isPattern(source: string, flags: Json | undefined): boolean {
  try {
    return new RegExp(source, String(flags)).source === source
  } catch {
    return false
  }
}

/** How many bytes each item of a class of bytes takes. */
function itemSize(className: Json | undefined): number {
  return Number(/(\d+)Array$/.exec(String(className))?.[1] ?? 8) / 8
}

function isSamePair(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i])
}

function escape(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

function unescape(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}
