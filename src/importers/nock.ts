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
  const requestBody = requestOf(definition.at('body'))
  const headers = headersOfFlat(
    definition.at('rawHeaders').isThere ? definition.at('rawHeaders') : definition.at('headers'),
  )
  const scope = definition.at('scope').text.replace(/^(http:.*):80$|^(https:.*):443$/i, '$1$2')
  return {
    method: methodOf(definition.at('method').isThere ? definition.at('method') : definition.at('verb')),
    url: checkedUrl(scope + definition.at('path').text, definition.at('path')),
    requestHeaders: headersOfMap(definition.at('reqheaders')),
    ...(requestBody === undefined ? {} : { requestBody }),
    response: {
      status: definition.at('status').isThere ? definition.at('status').status : 200,
      headers,
      body: responseOf(definition.at('response'), headerOf(headers, 'content-encoding'), definition),
    },
  }
}

function requestOf(body: Cursor): ForeignBody | undefined {
  const { value } = body
  if (value === undefined || value === null || value === '') return undefined
  return typeof value === 'string' ? bodyOf(value) : jsonBody(value)
}

function responseOf(response: Cursor, encoding: string | undefined, definition: Cursor): ForeignBody {
  const { value } = response
  if (value === undefined || value === null) return bodyOf('')
  if (typeof value === 'string') {
    const isBinary = definition.at('responseIsBinary').value === true
    return bodyOf(isBinary ? hexBytes(value, response) : value)
  }
  const isChunks = encoding !== undefined && Array.isArray(value) && value.every((one) => isHexText(one))
  if (!isChunks) return jsonBody(value)
  return { pieces: response.items.map((one) => hexBytes(one.text, one)), isExact: true, hasPieces: true }
}

function isHexText(value: unknown): boolean {
  return typeof value === 'string' && isHex(value)
}
