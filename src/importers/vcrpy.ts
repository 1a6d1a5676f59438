import { isReadable } from '../wire/decode.ts'
import { base64Bytes, bodyOf, jsonBody } from './body.ts'
import type { Cursor } from './cursor.ts'
import { type ForeignDocument, type ForeignFormat, itemsAt, exchangesIn } from './document.ts'
import { headerOf, headersOfMap } from './headers.ts'
import { otherThanHttp } from './nearest-format.ts'
import { methodOf, urlOf } from './requests.ts'
import type { ForeignBody, ForeignExchange, ForeignResponse } from './types.ts'

/** VCR.py, and anything else that lists interactions with a `uri`. */
export const vcrpy: ForeignFormat = {
  name: 'vcrpy',
  recognises(document) {
    const first = interactionIn(document)
    // The one says `uri`, the other `url`; an empty go-vcr file says `version: 2`.
    if (first === undefined) return hasInteractions(document) && document.root.at('version').maybeNumber !== 2
    const request = first.at('request')
    // Frames of WebSockets and calls of gRPC are listed so by others.
    return (!first.isMap || request.isThere) && (request.at('uri').isThere || !request.at('url').isThere)
  },
  read(document) {
    checkVersion(document.root)
    return { format: 'vcrpy', exchanges: exchangesIn(itemsAt(document, 'interactions'), exchangeOf) }
  },
}

/**
 * Interactions of vcrpy, format 1, by any of its serializers: bodies as text, as `!!binary`, or as the `parsed_body` some
 * projects write in their place.
 *
 * @see https://github.com/kevin1024/vcrpy, vcr/serialize.py and vcr/serializers/compat.py
 */
function exchangeOf(interaction: Cursor): ForeignExchange {
  const request = requestIn(interaction)
  const response = interaction.at('response')
  const body = request.at('parsed_body').isThere
    ? jsonBody(request.at('parsed_body').value)
    : plainBody(request.at('body'))
  return {
    method: methodOf(request.at('method')),
    url: urlOf(request.at('uri')),
    requestHeaders: headersOfMap(request.at('headers')),
    ...(body === undefined ? {} : { requestBody: body }),
    ...(response.isThere ? { response: responseOf(response.map) } : {}),
  }
}

/** The request of an interaction; the refusal says what stands there in its place. */
export function requestIn(interaction: Cursor): Cursor {
  const request = interaction.at('request')
  const other = request.isThere ? undefined : otherThanHttp(interaction)
  if (other !== undefined) throw interaction.refuse(`${other}, and no HTTP call`)
  return request.map
}

/** @throws HarvestError `HARVEST_IMPORT_VERSION` */
function checkVersion(root: Cursor): void {
  const version = root.at('version')
  if (version.isThere && version.maybeNumber !== 1)
    throw version.refuse('the only supported version is vcrpy format 1', 'HARVEST_IMPORT_VERSION')
}

/** Whether a document has a list of interactions, as those of vcrpy and go-vcr have. */
export function hasInteractions({ root }: ForeignDocument): boolean {
  return Array.isArray(root.at('interactions').value)
}

/** The first interaction of such a list. */
export function interactionIn(document: ForeignDocument): Cursor | undefined {
  if (!hasInteractions(document)) return undefined
  for (const first of itemsAt(document, 'interactions')) return first
  return undefined
}

function responseOf(response: Cursor): ForeignResponse {
  const { status, statusText } = statusOf(response)
  const body = responseBody(response)
  return {
    status,
    ...(statusText === undefined ? {} : { statusText }),
    headers: headersOfMap(response.at('headers')),
    ...(body === undefined ? {} : { body }),
  }
}

/** httpx was once recorded with its own names: `status_code`, and `content` for the body. */
function statusOf(response: Cursor): { readonly status: number; readonly statusText?: string } {
  if (response.at('status_code').isThere) return { status: response.at('status_code').status }
  const statusText = response.at('status').map.at('message').maybeText
  return { status: response.at('status').at('code').status, ...(statusText === undefined ? {} : { statusText }) }
}

function responseBody(response: Cursor): ForeignBody | undefined {
  if (response.at('parsed_body').isThere) return jsonBody(response.at('parsed_body').value)
  if (response.at('content').isThere) return httpxBody(response)
  const body = response.at('body')
  if (body.isMap) {
    if (body.at('base64_string').isThere) return bodyOf(base64Bytes(body.at('base64_string').text, body))
    return plainBody(body.at('string')) ?? bodyOf('')
  }
  return plainBody(body)
}

/** What VCR.py 4 kept of an answer to httpx: its text, without the bytes that are no UTF-8. */
function httpxBody(response: Cursor): ForeignBody | undefined {
  const body = plainBody(response.at('content'))
  const headers = headersOfMap(response.at('headers'))
  const bytes = body?.pieces[0] ?? Buffer.alloc(0)
  const length = headerOf(headers, 'content-length')
  const isText = /^text\/|json|xml|javascript/i.test(headerOf(headers, 'content-type') ?? '') && isReadable(bytes)
  const isPacked = headerOf(headers, 'content-encoding') !== undefined
  const isEmpty = bytes.length === 0 && [204, 304].includes(response.at('status_code').status)
  const isWhole = isEmpty || (isPacked || length === undefined ? isText : Number(length) === bytes.length)
  return body === undefined || isWhole ? body : { ...body, isExact: false }
}

/** Text or bytes; a value stands for its JSON. */
export function plainBody(body: Cursor): ForeignBody | undefined {
  const { value } = body
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return bodyOf(value)
  if (value instanceof Uint8Array) return bodyOf(Buffer.from(value.buffer, value.byteOffset, value.byteLength))
  return jsonBody(value)
}
