import type { Json } from '../../tape/types.ts'
import { dialectOf, readAddress } from '../dialect.ts'
import { at, isMap, type JsonMap, parseJson, without } from '../../json/canonical.ts'
import { isOllama } from '../spelling/ollama.ts'
import type { Dialect } from '../types.ts'

/** How an answer of a model is wanted: at once, or piece by piece. The model does not get to know. */
export type WireForm = 'whole' | 'stream'

/** A request to a model whose answer can be had in both forms. */
export interface FormedRequest {
  readonly dialect: Dialect
  readonly form: WireForm
  readonly url: string
  readonly body: JsonMap
}

/** A form-bearing request; `undefined` for all that has one form alone, such as a count of tokens. */
export function readForm(url: string, text: string): FormedRequest | undefined {
  const body = parseJson(text)
  if (!isMap(body)) return undefined
  const { path } = readAddress(url)
  const dialect = dialectOf(readAddress(url), body)
  const form = dialect === undefined ? undefined : formOf(dialect, path, body)
  return dialect === undefined || form === undefined ? undefined : { dialect, form, url, body }
}

function formOf(dialect: Dialect, path: string, body: JsonMap): WireForm | undefined {
  const told = byPath.find(
    ({ dialects, whole, stream }) => dialects.includes(dialect) && (whole.test(path) || stream.test(path)),
  )
  if (told !== undefined) return told.stream.test(path) ? 'stream' : 'whole'
  if (!byBody.some((known) => known.dialect === dialect && known.path.test(path))) return undefined
  if (dialect === 'openai-chat' && isOllama(path)) return at(body, 'stream') === false ? 'whole' : 'stream'
  return at(body, 'stream') === true ? 'stream' : 'whole'
}

/** Where the path says it. */
const byPath: readonly { readonly dialects: readonly Dialect[]; readonly whole: RegExp; readonly stream: RegExp }[] = [
  { dialects: ['gemini'], whole: /:generateContent$/, stream: /:streamGenerateContent$/ },
  { dialects: ['bedrock-converse'], whole: /\/converse$/, stream: /\/converse-stream$/ },
  { dialects: ['anthropic'], whole: /\/invoke$/, stream: /\/invoke-with-response-stream$/ },
]

/** Where the body says it. */
const byBody: readonly { readonly dialect: Dialect; readonly path: RegExp }[] = [
  { dialect: 'openai-chat', path: /\/chat(\/completions)?$/ },
  { dialect: 'openai-responses', path: /\/responses$/ },
  { dialect: 'anthropic', path: /\/messages$/ },
  { dialect: 'cohere', path: /\/v2\/chat$/ },
]

/** The same question, asked for the other form of its answer; some dialects have two streams. */
export function inOtherForm(request: FormedRequest): readonly { readonly url: string; readonly text: string }[] {
  const { dialect, form, url, body } = request
  const text = JSON.stringify(body)
  switch (dialect) {
    case 'gemini':
      if (form === 'whole') {
        const stream = url.replace(/(:|%3A)generateContent/i, '$1streamGenerateContent')
        return [
          { url: withQuery(stream, (query) => query.set('alt', 'sse')), text },
          { url: stream, text },
        ]
      }
      return [
        {
          url: withQuery(url.replace(/(:|%3A)streamGenerateContent/i, '$1generateContent'), (query) =>
            query.delete('alt', 'sse'),
          ),
          text,
        },
      ]
    case 'bedrock-converse':
      return [
        {
          url: url.replace(/\/converse(-stream)?(?=$|[?#])/, form === 'whole' ? '/converse-stream' : '/converse'),
          text,
        },
      ]
    case 'anthropic':
      if (/\/invoke/.test(readAddress(url).path)) {
        const other = form === 'whole' ? '/invoke-with-response-stream' : '/invoke'
        return [{ url: url.replace(/\/invoke(-with-response-stream)?(?=$|[?#])/, other), text }]
      }
      return [{ url, text: inBody(form, body) }]
    default:
      return [{ url, text: inBody(form, body) }]
  }
}

function inBody(form: WireForm, body: JsonMap): string {
  // What a stream has beside the answer is asked for with a stream alone.
  const other: { readonly [key: string]: Json } =
    form === 'whole' ? { ...body, stream: true } : { ...without(body, 'stream_options'), stream: false }
  return JSON.stringify(other)
}

function withQuery(url: string, change: (query: URLSearchParams) => void): string {
  if (!URL.canParse(url)) return url
  const parsed = new URL(url)
  change(parsed.searchParams)
  return parsed.href
}
