import type { HeaderPair } from '../tape/index.ts'
import { base64Bytes, bodyOf } from './body.ts'
import type { Cursor } from './cursor.ts'
import { firstItem, type ForeignFormat, itemsAt, exchangesIn } from './document.ts'
import { headerOf, headersOfMap } from './headers.ts'
import { isJson } from './json.ts'
import { methodOf, momentOf, urlOf } from './requests.ts'
import type { ForeignBody, ForeignExchange } from './types.ts'

/** undici's `SnapshotAgent`. Once it wrote a map of hashes, now a list. */
export const undiciSnapshot: ForeignFormat = {
  name: 'undici-snapshot',
  recognises(document) {
    const { root } = document
    if (Array.isArray(root.value)) return isSnapshot(firstItem(document)?.at('snapshot'))
    return root.isMap && isSnapshot(root.members[0]?.[1])
  },
  read(document) {
    const { root } = document
    const entries = Array.isArray(root.value) ? itemsAt(document) : root.members.map(([, entry]) => entry)
    return { format: 'undici-snapshot', exchanges: exchangesIn(entries, exchangesOf) }
  },
}

function isSnapshot(entry: Cursor | undefined): boolean {
  if (entry === undefined) return false
  const request = entry.at('request')
  return request.at('url').isThere && (entry.at('responses').isThere || entry.at('response').at('statusCode').isThere)
}

/** Bodies that undici could not read: what it wrote in their place says nothing about them. */
const unread = /^\[object \w+\]$/

/**
 * The exchanges of one entry of undici's `SnapshotAgent`: one request, and each answer it got.
 *
 * @see https://github.com/nodejs/undici, lib/mock/snapshot-recorder.js
 */
function exchangesOf(entry: Cursor): readonly ForeignExchange[] {
  const snapshot = (entry.at('snapshot').isThere ? entry.at('snapshot') : entry).map
  const request = snapshot.at('request').map
  const startedMs = momentOf(snapshot.at('timestamp'))
  const responses = snapshot.at('responses').isThere ? snapshot.at('responses').items : [snapshot.at('response')]
  const requestHeaders = headersOfMap(request.at('headers'))
  const requestBody = requestOf(request.at('body'), requestHeaders)
  return responses.map((response) => ({
    method: methodOf(request.at('method')),
    url: urlOf(request.at('url')),
    requestHeaders,
    ...(requestBody === undefined ? {} : { requestBody }),
    response: {
      status: response.map.at('statusCode').status,
      headers: headersOfMap(response.at('headers')),
      body: bodyOf(base64Bytes(response.at('body').maybeText ?? '', response.at('body'))),
    },
    ...(startedMs === undefined ? {} : { startedMs }),
  }))
}

/** The body of a request. A mark for what could not be read stands where bytes were lost. */
function requestOf(body: Cursor, headers: readonly HeaderPair[]): ForeignBody | 'unread' | undefined {
  const text = body.maybeText ?? ''
  if (text === '') return undefined
  if (unread.test(text)) return 'unread'
  return bytesIn(text, headers) ?? bodyOf(text, !text.includes('\ufffd'))
}

/**
 * The bytes of a body that was given as an array of them, which undici writes as their numbers: `123,34,113`. A text may
 * look the same: the length in the header decides, or else what fits the type of the body.
 */
function bytesIn(text: string, headers: readonly HeaderPair[]): ForeignBody | 'unread' | undefined {
  if (!/^\d{1,3}(,\d{1,3})*$/.test(text)) return undefined
  const numbers = text.split(',').map(Number)
  if (numbers.join() !== text || numbers.some((number) => number > 255)) return undefined
  const bytes = Buffer.from(numbers)
  const [isText, isBytes] = fitting(text, bytes, headers)
  return isText === isBytes ? 'unread' : isBytes ? bodyOf(bytes) : undefined
}

function fitting(text: string, bytes: Buffer, headers: readonly HeaderPair[]): readonly [boolean, boolean] {
  const length = headerOf(headers, 'content-length')
  if (length !== undefined) return [Number(length) === text.length, Number(length) === bytes.length]
  const type = headerOf(headers, 'content-type') ?? ''
  if (/json/i.test(type)) return [isJson(text), isJson(bytes.toString())]
  // A list of numbers is a text as good as any, and no picture and no part of a form.
  return [/^text\/|urlencoded/i.test(type), true]
}
