import { isUtf8 } from 'node:buffer'
import type { HeaderPair } from '../tape/index.ts'
import { bodyOf, hexBytes, isHex, jsonBody } from './body.ts'
import type { Cursor } from './cursor.ts'
import { firstItem, type ForeignFormat, itemsAt, exchangesIn } from './document.ts'
import { headerOf, headersOfFlat, headersOfMap } from './headers.ts'
import { checkedUrl, methodOf } from './requests.ts'
import type { ForeignBody, ForeignExchange } from './types.ts'

/** nock's recorder and nock back. */
export const nock: ForeignFormat = {
  name: 'nock',
  recognises(document) {
    const first = firstItem(document)
    return first?.at('scope').isThere === true && first.at('path').isThere
  },
  read: (document) => ({ format: 'nock', exchanges: exchangesIn(itemsAt(document), exchangeOf) }),
}

/**
 * One definition of `nock.recorder` or nock back. JSON bodies are stored as values, compressed ones as the hex of each
 * chunk, other binary ones as one hex text.
 *
 * @see https://github.com/nock/nock, lib/recorder.js and `define` in lib/scope.js
 */
function exchangeOf(definition: Cursor): ForeignExchange {
  const requestHeaders = headersOfMap(definition.at('reqheaders'))
  const requestBody = requestOf(definition.at('body'), requestHeaders)
  const headers = headersOfFlat(
    definition.at('rawHeaders').isThere ? definition.at('rawHeaders') : definition.at('headers'),
  )
  const scope = definition.at('scope').text.replace(/^(http:.*):80$|^(https:.*):443$/i, '$1$2')
  return {
    method: methodOf(definition.at('method').isThere ? definition.at('method') : definition.at('verb')),
    url: checkedUrl(scope + definition.at('path').text, definition.at('path')),
    requestHeaders,
    ...(requestBody === undefined ? {} : { requestBody }),
    response: {
      status: definition.at('status').isThere ? definition.at('status').status : 200,
      headers,
      body: responseOf(definition.at('response'), headers, definition),
    },
  }
}

/**
 * Bytes that are no UTF-8 are stored as hex, and a text of JSON without its quotes, and no flag says so. What is read
 * wrongly is found by no request, and `request-bytes` says that this is unknown, unless the type of the body is there.
 */
function requestOf(body: Cursor, headers: readonly HeaderPair[]): ForeignBody | undefined {
  const { value } = body
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string') return jsonBody(value)
  const type = headerOf(headers, 'content-type')
  if (type !== undefined && isTextType.test(type)) return bodyOf(value)
  const bytes = isHex(value) ? Buffer.from(value, 'hex') : undefined
  return bodyOf(bytes === undefined || isUtf8(bytes) ? value : bytes, false)
}

/** Types whose bodies are text; `multipart` and types that are missing may be anything. */
const isTextType = /^(text\/|application\/x-www-form-urlencoded)/i

function responseOf(response: Cursor, headers: readonly HeaderPair[], definition: Cursor): ForeignBody {
  const { value } = response
  if (value === undefined) return bodyOf('')
  if (typeof value === 'string') {
    const isBinary = definition.at('responseIsBinary').value === true
    if (isBinary) return bodyOf(hexBytes(value, response))
    return isJsonOf(value, headers) ? jsonBody(value) : bodyOf(value)
  }
  if (value === null) return isJsonOf(value, headers) ? jsonBody(value) : bodyOf('')
  const isEncoded = headerOf(headers, 'content-encoding') !== undefined
  const isChunks = isEncoded && Array.isArray(value) && value.every((one) => isHexText(one))
  if (!isChunks) return jsonBody(value)
  return { pieces: response.items.map((one) => hexBytes(one.text, one)), isExact: true, hasPieces: true }
}

/**
 * Whether a text or null is what was parsed of a JSON body, and not the body itself: every body that is JSON is stored as
 * its value. The length in the header decides.
 */
function isJsonOf(value: string | null, headers: readonly HeaderPair[]): boolean {
  const length = headerOf(headers, 'content-length')
  return length !== undefined && Number(length) === Buffer.byteLength(JSON.stringify(value))
}

function isHexText(value: unknown): boolean {
  return typeof value === 'string' && isHex(value)
}
