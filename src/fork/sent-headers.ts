import { createHmac, randomBytes } from 'node:crypto'
import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isKeyHeader, isWorthNaming, type Redactor } from '../privacy/index.ts'
import type { HeaderPair, Tape } from '../tape/index.ts'
import { makeKeptFolder } from '../tape/kept-files.ts'
import { readKeptText } from '../tape/links.ts'
import { temporaryFor } from '../tape/new-file.ts'

/** The headers of one request as the code sent them. */
export interface SentHeaders {
  /** `n` of its event; absent: it has none, for nothing on the tape answers it. */
  n?: number
  readonly headers: readonly HeaderPair[]
}

/** What one request says besides its headers. */
export interface SaidRequest {
  readonly url: string
  readonly said: string
}

/**
 * A header whose value no tape holds: the `n` of its request (0: of the first one without an answer), its name, a digest of its
 * value, and of the value with its secrets replaced, where it has some.
 */
export type HiddenHeader = readonly [n: number, name: string, value: string, redacted?: string]

/** Requests of forks, by the tape of their branch. Their values are secret, and go nowhere. */
const sentBy = new WeakMap<Tape, { readonly requests: readonly SentHeaders[]; readonly redactor: Redactor }>()

export function noteSent(branch: Tape, requests: readonly SentHeaders[], redactor: Redactor): void {
  sentBy.set(branch, { requests, redactor })
}

/** What a fork sent in headers that are not on its tape, as digests. */
export function hiddenHeadersOf(branch: Tape, key: string): readonly HiddenHeader[] {
  const { requests, redactor } = sentBy.get(branch) ?? noRequests(branch)
  return hiddenHeaders(requests, redactor, key)
}

/** Names of the environment variables whose value is the key of a request of this fork. */
export function keyVariablesOf(branch: Tape): readonly string[] {
  return keyVariables((sentBy.get(branch) ?? noRequests(branch)).requests)
}

function noRequests({ header }: Tape): never {
  throw new TypeError(`${header.id} was made by no fork of this process`)
}

/**
 * Keys of requests are left out: they are changed now and then, and a token may come from an answer. So is what tells about the
 * connection, the client or the trace. What is kept as it is, the replay compares.
 */
export function hiddenHeaders(
  requests: readonly SentHeaders[],
  redactor: Redactor,
  key: string,
): readonly HiddenHeader[] {
  let isRefused = false
  return requests.flatMap(({ n, headers }) => {
    if (n === undefined && isRefused) return []
    isRefused ||= n === undefined
    const values = Map.groupBy(headers, ([name]) => name.toLowerCase())
    return [...values].flatMap(([name, pairs]): readonly HiddenHeader[] => {
      const value = pairs.map((pair) => pair[1]).join(', ')
      if (!isHidden(name, value, redactor)) return []
      const digest = (text: string): string =>
        createHmac('sha256', key)
          .update(JSON.stringify([n ?? 0, name, text]))
          .digest('base64url')
          .slice(0, 16)
      const redacted = redactor.text(value)
      const hidden = [n ?? 0, name, digest(value)] as const
      return [redacted === value ? hidden : [...hidden, digest(redacted)]]
    })
  })
}

function isHidden(name: string, value: string, redactor: Redactor): boolean {
  const meaning = redactor.meaning(name)
  if (meaning === 'credential') return false
  const [kept] = redactor.requestHeaders([[name, value]])
  return kept === undefined ? isWorthNaming(name) : meaning !== undefined && kept[1] !== value
}

/** What the client writes by itself, about the connection and the document it stands for. */
const ofTheClient =
  /^(?::.*|sec-.*|host|http2-settings|keep-alive|priority|proxy-connection|upgrade-insecure-requests)$/

/** Names of the headers of which nothing is kept: keys and tokens, and what tells about the trace. */
export function unkeptHeaders(requests: readonly SentHeaders[], redactor: Redactor): readonly string[] {
  const pairs = requests.flatMap(({ headers }) => headers.map(([name, value]) => [name.toLowerCase(), value] as const))
  const names = pairs.flatMap(([name, value]) => {
    if (redactor.meaning(name) === 'credential') return [name]
    const isKept = redactor.requestHeaders([[name, value]]).length > 0
    return isKept || isWorthNaming(name) || ofTheClient.test(name) ? [] : [name]
  })
  return [...new Set(names)].sort()
}

/** Names of the environment variables whose value is the key of one of these requests. */
export function keyVariables(requests: readonly SentHeaders[]): readonly string[] {
  const keys = new Set(
    requests.flatMap(({ headers }) =>
      headers.flatMap(([name, value]) => (isKeyHeader(name.toLowerCase()) ? keysOf(value) : [])),
    ),
  )
  return Object.entries(process.env).flatMap(([name, value]) => (value && keys.has(value) ? [name] : []))
}

/** Names of the environment variables whose value stands in the address or the body of one of these requests. */
export function saidVariables(requests: readonly SaidRequest[]): readonly string[] {
  const texts = requests.flatMap(({ url, said }) => [url, said])
  return Object.entries(process.env).flatMap(([name, value = '']) => {
    const forms = new Set([value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value.toWellFormed())])
    const isSaid = value !== '' && texts.some((text) => [...forms].some((form) => text.includes(form)))
    return isSaid ? [name] : []
  })
}

/** What may be the key in the value of a header: all of it, what stands behind a scheme, the password of a pair. */
function keysOf(value: string): readonly string[] {
  const [, scheme = '', said] = /^(\S+)\s+(\S+)$/.exec(value) ?? []
  if (said === undefined) return [value]
  const [, password] =
    scheme.toLowerCase() === 'basic' ? (/:([^]*)$/.exec(Buffer.from(said, 'base64').toString()) ?? []) : []
  return [value, said, ...(password === undefined ? [] : [password])]
}

/**
 * Names of the headers that have another value now. A value that a redacted answer brought is its placeholder in a replay, and
 * is no other one.
 *
 * @param asked - `n` of the requests that were made again
 */
export function changedHeaders(
  then: readonly HiddenHeader[],
  now: readonly HiddenHeader[],
  asked: ReadonlySet<number>,
): readonly string[] {
  const placeOf = ([n, name]: HiddenHeader): string => `${n} ${name}`
  const before = new Map(then.map((one) => [placeOf(one), one]))
  const today = new Map(now.map((one) => [placeOf(one), one]))
  const gone = then.filter((one) => asked.has(one[0]) && !today.has(placeOf(one)))
  const others = now.filter((one) => {
    if (!asked.has(one[0])) return false
    const [, , was, wasRedacted] = before.get(placeOf(one)) ?? []
    const [, , is, isRedacted] = one
    return is !== was && (isRedacted !== undefined || is !== wasRedacted)
  })
  return [...new Set([...gone, ...others].map(([, name]) => name))].sort()
}

const keyFile = 'headers.key'

/** The key of the digests beside kept forks; `undefined` where it is gone or damaged: then nothing can be compared with them. */
export function headersKey(folder: string): string | undefined {
  const key = readKeptText(join(folder, keyFile))?.trim() ?? ''
  return /^[\w-]{43}$/.test(key) ? key : undefined
}

/** Tells a key from any other one, and says nothing about it. */
export function nameOfKey(key: string): string {
  return createHmac('sha256', key).update('name of this key').digest('base64url').slice(0, 16)
}

/** As {@link headersKey}, made where it is missing. */
export function newHeadersKey(folder: string): string {
  const known = headersKey(folder)
  if (known !== undefined) return known
  makeKeptFolder(folder)
  const temporary = temporaryFor(join(folder, keyFile))
  writeFileSync(temporary, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
  try {
    linkSync(temporary, join(folder, keyFile))
  } catch (error) {
    // Another process was first: then its key is the one.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    // A write that was cut off left an empty file, or someone wrote into it.
    if (headersKey(folder) === undefined) renameSync(temporary, join(folder, keyFile))
  } finally {
    rmSync(temporary, { force: true })
  }
  return headersKey(folder)!
}
