import type { HeaderPair } from '../tape/index.ts'
import { base64Bytes, bodyOf, hexBytes, jsonBody } from './body.ts'
import type { Cursor } from './cursor.ts'
import { type ForeignFormat, itemsAt, exchangesIn } from './document.ts'
import { excessIn } from './excess.ts'
import { headerOf, headersOfList } from './headers.ts'
import { methodOf, momentOf, tookOf, urlOf } from './requests.ts'
import { bodyOfText } from './text-body.ts'
import type { ForeignBody, ForeignExchange, ForeignResponse } from './types.ts'

/** HAR, also by Polly.JS. */
export const har: ForeignFormat = {
  name: 'har',
  recognises: ({ root }) => Array.isArray(root.at('log').at('entries').value),
  read(document) {
    const { root } = document
    checkVersion(root)
    const name = root.at('log').at('_recordingName').maybeText
    const creator = root.at('log').at('creator').at('name').maybeText
    const exchanges = exchangesIn(itemsAt(document, 'log', 'entries'), (entry) => exchangeOf(entry, creator))
    const isTimed = exchanges.every(({ startedMs }) => startedMs !== undefined)
    const recording = { format: 'har' as const, ...(name === undefined ? {} : { name }) }
    // Polly.JS lists entries by what was asked; each has its time. Where one has none, the order is that of the file.
    const inOrder = isTimed ? exchanges.sort((a, b) => a.startedMs! - b.startedMs!) : exchanges
    // It keeps one recording per test, and renews single entries of it.
    if (creator === 'Polly.JS') return { ...recording, exchanges: inOrder }
    return runsOf(inOrder).map((run) => ({ ...recording, exchanges: run }))
  },
}

/** Entries a day apart and more are of several runs: a browser or a proxy goes on writing into one file. */
const apartMs = 24 * 3_600_000

function runsOf(inOrder: readonly ForeignExchange[]): readonly (readonly ForeignExchange[])[] {
  const runs: ForeignExchange[][] = []
  let end: number | undefined
  for (const exchange of inOrder) {
    // Without a time it goes with the one before it.
    const { startedMs = end, tookMs = 0 } = exchange
    if (runs.length === 0 || (end !== undefined && startedMs! - end >= apartMs)) runs.push([])
    runs.at(-1)!.push(exchange)
    if (startedMs !== undefined) end = Math.max(end ?? startedMs, startedMs + tookMs)
  }
  // A file without entries is one recording, which holds nothing.
  return runs.length === 0 ? [[]] : runs
}

type TextReader = (text: string, type?: string) => ForeignBody

/**
 * Entries of HAR 1.2, plain or by Polly.JS (which keeps the chunks of a compressed body apart), in JSON or YAML.
 *
 * @see http://www.softwareishard.com/blog/har-12-spec/ and https://github.com/Netflix/pollyjs, packages/@pollyjs/persister
 */
function exchangeOf(entry: Cursor, creator: string | undefined): ForeignExchange {
  // These keep the text of a body only when it is in UTF-8, and the bytes of any other.
  const asText: TextReader =
    creator === 'Polly.JS' || creator === 'vitest-harvest' ? (text) => bodyOf(text) : bodyOfText
  const request = entry.at('request').map
  // Exports of ours name what an entry only looks like having.
  const missing = entry.at('_missing').isThere ? entry.at('_missing').items : []
  const isMissing = (word: string): boolean => missing.some((one) => one.value === word)
  const requestHeaders = headersOfList(request.at('headers'))
  const posted =
    postData(request.at('postData'), asText) ??
    (isMissing('requests') || hadBody(request, requestHeaders, creator === 'Polly.JS')
      ? ('unread' as const)
      : undefined)
  const requestBody = posted === 'unread' ? posted : exactly(posted, !isMissing('request-bytes'))
  const isUntimed = isMissing('timings')
  const startedMs = isUntimed || isMissing('start') ? undefined : momentOf(entry.at('startedDateTime'))
  const tookMs = isUntimed ? undefined : tookOf(entry.at('time').maybeNumber)
  const response = responseOf(entry.at('response'), !isMissing('answer-bytes'), asText)
  return {
    method: methodOf(request.at('method')),
    url: urlOf(request.at('url')),
    requestHeaders,
    ...(requestBody === undefined ? {} : { requestBody }),
    ...(response === undefined ? {} : { response }),
    ...(startedMs === undefined ? {} : { startedMs }),
    ...(tookMs === undefined ? {} : { tookMs }),
  }
}

function exactly(body: ForeignBody | undefined, isExact: boolean): ForeignBody | undefined {
  return body === undefined || isExact ? body : { ...body, isExact: false }
}

/** @throws HarvestError `HARVEST_IMPORT_VERSION` */
function checkVersion(root: Cursor): void {
  const version = root.at('log').map.at('version')
  if (version.isThere && !/^1\.[12]$/.test(String(version.value)))
    throw version.refuse('the only supported version is HAR 1.2', 'HARVEST_IMPORT_VERSION')
}

function postData(data: Cursor, asText: TextReader): ForeignBody | undefined {
  if (!data.isThere) return undefined
  const text = data.map.at('text')
  if (data.at('textJSON').isThere) return jsonBody(data.at('textJSON').value)
  if (text.maybeText === undefined && text.isThere) return jsonBody(text.value)
  if (text.maybeText !== undefined) {
    if ([data.at('encoding'), data.at('_encoding')].some((encoding) => encoding.maybeText === 'base64'))
      return bodyOf(base64Bytes(text.text, text))
    return text.text === '' ? undefined : asText(text.text, 'charset=utf-8')
  }
  const params = data.at('params')
  if (!Array.isArray(params.value) || params.items.length === 0) return undefined
  // Of a form the fields alone are there: its body is theirs, written again.
  const fields = params.items.map((one) => [one.at('name').text, one.at('value').maybeText ?? ''])
  return bodyOf(new URLSearchParams(fields as [string, string][]).toString(), false)
}

/**
 * Whether a request had a body that is not there. Sizes and the type of a form say so; and Polly.JS notes every body,
 * without its text when that was bytes or a stream.
 */
function hadBody(request: Cursor, headers: readonly HeaderPair[], isPolly: boolean): boolean {
  const data = request.at('postData')
  const told = [request.at('bodySize').maybeNumber, Number(headerOf(headers, 'content-length') ?? 0)]
  const isForm = /^multipart\//i.test(headerOf(headers, 'content-type') ?? '')
  return told.some((size) => (size ?? 0) > 0) || isForm || (isPolly && data.isThere && !data.at('text').isThere)
}

/** A request that got no answer has the status 0, or none. */
function responseOf(response: Cursor, isExact: boolean, asText: TextReader): ForeignResponse | undefined {
  if (!response.isThere || !response.map.at('status').maybeNumber) return undefined
  // As browsers write it: what came is not all there was.
  const isCut = (response.at('_error').maybeText ?? '') !== ''
  const headers = headersOfList(response.at('headers'))
  const content = contentOf(response.at('content'), response, (text) => asText(text, headerOf(headers, 'content-type')))
  const body = isCut ? undefined : exactly(content, isExact)
  const statusText = response.at('statusText').maybeText
  return {
    status: response.at('status').status,
    ...(statusText === undefined || statusText === '' ? {} : { statusText }),
    headers,
    ...(body === undefined ? {} : { body }),
  }
}

function contentOf(content: Cursor, response: Cursor, asText: TextReader): ForeignBody | undefined {
  const text = content.at('text')
  if (content.at('textJSON').isThere) return jsonBody(content.at('textJSON').value)
  if (!text.isThere) {
    const decoded = content.at('textDecoded')
    if (decoded.isThere) return decoded.maybeText === undefined ? jsonBody(decoded.value) : bodyOf(decoded.text, false)
    // Sizes say whether there was nothing, or nothing was kept.
    const sizes = [content.at('size').maybeNumber, response.at('bodySize').maybeNumber]
    const isEmpty = sizes.includes(0) || [204, 304].includes(response.at('status').status)
    return isEmpty ? bodyOf('') : undefined
  }
  const encoding = content.at('encoding').maybeText
  const isBinary = content.at('_isBinary').value === true
  if (encoding === 'base64') return chunked(text, base64Bytes)
  if (encoding === 'hex' || isBinary) return chunked(text, hexBytes)
  return text.maybeText === undefined ? jsonBody(text.value) : asText(text.text)
}

/** One encoded text, or, as Polly.JS writes it, the JSON of a list of them: one for each chunk that arrived. */
function chunked(text: Cursor, decode: (text: string, place: Cursor) => Buffer): ForeignBody {
  const list = /^\s*\[/.test(text.text) ? listIn(text.text) : undefined
  if (list === undefined) return bodyOf(decode(text.text, text))
  return { pieces: list.map((chunk) => decode(chunk, text)), isExact: true, hasPieces: true }
}

function listIn(text: string): readonly string[] | undefined {
  if (excessIn(text) !== undefined) return undefined
  try {
    const list = JSON.parse(text) as unknown
    return Array.isArray(list) && list.every((item) => typeof item === 'string') ? list : undefined
  } catch {
    // Not a list: decoding the text tells what is wrong with it.
    return undefined
  }
}
