import { base64Bytes, bodyOf } from './body.ts'
import type { Cursor } from './cursor.ts'
import { firstItem, type ForeignFormat, itemsAt, exchangesIn } from './document.ts'
import { headersOfMap } from './headers.ts'
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
  const requestBody = requestOf(request.at('body'))
  return responses.map((response) => ({
    method: methodOf(request.at('method')),
    url: urlOf(request.at('url')),
    requestHeaders: headersOfMap(request.at('headers')),
    ...(requestBody === undefined ? {} : { requestBody }),
    response: {
      status: response.map.at('statusCode').status,
      headers: headersOfMap(response.at('headers')),
      body: bodyOf(base64Bytes(response.at('body').maybeText ?? '', response.at('body'))),
    },
    ...(startedMs === undefined ? {} : { startedMs }),
  }))
}

function requestOf(body: Cursor): ForeignBody | 'unread' | undefined {
  const text = body.maybeText ?? ''
  if (text === '') return undefined
  return unread.test(text) ? 'unread' : bodyOf(text)
}
