import { isUtf8 } from 'node:buffer'
import type { HeaderPair, Json } from '../tape/index.ts'
import type { SecretNames } from './names.ts'
import { lookingInBytes } from './values.ts'

interface Means {
  readonly text: (text: string) => string
  /** For text that is secret as a whole. */
  readonly secret: (text: string) => string
  readonly headers: (pairs: readonly HeaderPair[]) => HeaderPair[]
  /** Whether bytes that are no text are searched as bytes; for earlier tapes, as the text they are not. */
  readonly keepsBytes: boolean
}

/** Redacts a value as `encodeValue` wrote it; the same object when nothing was found. */
export function redactJson(json: Json, names: SecretNames, means: Means): Json {
  return walk(json, undefined)

  /** @param isSecret - which texts are, as what stands before them says */
  function walk(value: Json, isSecret: ((text: string) => boolean) | undefined): Json {
    if (typeof value === 'string') return isSecret?.(value) ? means.secret(value) : means.text(value)
    // A card number may stand as a number: its placeholder is one too.
    if (typeof value === 'number')
      return value >= 1e12 && Number.isSafeInteger(value) ? Number(means.text(`${value}`)) : value
    if (typeof value !== 'object' || value === null) return value
    return isList(value) ? walkList(value, isSecret) : walkObject(value)
  }

  function walkList(list: readonly Json[], isSecret: ((text: string) => boolean) | undefined): Json {
    let result: Json[] | undefined
    for (let at = 0; at < list.length; at++) {
      const item = list[at]!
      // `--api-key`, `…`: the arguments of a command.
      const before = list[at - 1]
      const isFlagged =
        typeof item === 'string' && typeof before === 'string' && /^--?\w/.test(before) && names.isSecretFlag(before)
      const redacted = walk(item, isFlagged ? () => true : isSecret)
      // Most of what is walked holds nothing: nothing is made of it then.
      if (result === undefined && redacted === item) continue
      result ??= list.slice(0, at)
      result.push(redacted)
    }
    return result ?? list
  }

  function walkObject(object: { readonly [key: string]: Json }): Json {
    const tagged = walkTagged(object)
    if (tagged !== undefined) return tagged
    let entries: (readonly [string, Json])[] | undefined
    const keys = Object.keys(object)
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at]!
      const item = object[key]!
      const redactedKey = means.text(key)
      const redacted = walk(item, names.promise(key, item))
      if (entries === undefined && redacted === item && redactedKey === key) continue
      entries ??= keys.slice(0, at).map((same) => [same, object[same]!])
      entries.push([redactedKey, redacted])
    }
    return entries === undefined ? object : Object.fromEntries(entries)
  }

  /** Encoded values that hide text or names from the walk; `undefined` for those that do not. */
  function walkTagged(object: { readonly [key: string]: Json }): Json | undefined {
    const { $type } = object
    if (typeof $type !== 'string') return undefined
    const { base64, entries, at } = object
    if ($type === 'bytes' && typeof base64 === 'string') {
      const bytes = Buffer.from(base64, 'base64')
      // Of bytes that are no text, those around a secret stay what they are.
      const how = means.keepsBytes && !isUtf8(bytes) ? 'latin1' : 'utf8'
      const text = bytes.toString(how)
      const redacted = how === 'latin1' ? lookingInBytes(() => means.text(text)) : means.text(text)
      return redacted === text ? object : { ...object, base64: Buffer.from(redacted, how).toString('base64') }
    }
    if ($type === 'headers' && isList(entries)) {
      const pairs = entries as unknown as readonly HeaderPair[]
      const redacted = means.headers(pairs)
      const isSame = redacted.length === pairs.length && redacted.every((pair, i) => isSamePair(pair, pairs[i] ?? []))
      return isSame ? object : { ...object, entries: redacted }
    }
    if ($type === 'map' && isList(entries)) {
      const redacted = entries.map((entry) => (isList(entry) ? walkPair(entry) : walk(entry, undefined)))
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

  function walkPair(pair: readonly Json[]): Json {
    const [key = null, value = null] = pair
    const promised = typeof key === 'string' ? names.promise(key, value) : undefined
    const redacted = [walk(key, undefined), walk(value, promised)]
    return isSamePair(redacted, pair) ? pair : redacted
  }
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
