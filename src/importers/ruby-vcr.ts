import { base64Bytes, bodyOf } from './body.ts'
import type { Cursor } from './cursor.ts'
import { type ForeignFormat, itemsAt, exchangesIn } from './document.ts'
import { headersOfMap } from './headers.ts'
import { methodOf, momentOf, urlOf } from './requests.ts'
import type { ForeignBody, ForeignExchange } from './types.ts'
import { plainBody } from './vcrpy.ts'

/** VCR for Ruby. */
export const rubyVcr: ForeignFormat = {
  name: 'ruby-vcr',
  recognises: ({ root }) => Array.isArray(root.at('http_interactions').value),
  read: (document) => ({
    format: 'ruby-vcr',
    exchanges: exchangesIn(itemsAt(document, 'http_interactions'), exchangeOf),
  }),
}

/**
 * Interactions of Ruby's VCR, from version 2 on, in YAML or JSON. Bodies that are no text are `!binary` or `base64_string`.
 *
 * @see https://github.com/vcr/vcr, lib/vcr/structs.rb
 */
function exchangeOf(interaction: Cursor): ForeignExchange {
  const request = interaction.at('request').map
  const response = interaction.at('response')
  const endedMs = momentOf(interaction.at('recorded_at'))
  const requestBody = bodyIn(request.at('body'))
  const responseBody = bodyIn(response.at('body'))
  const statusText = response.at('status').at('message').maybeText
  return {
    method: methodOf(request.at('method')),
    url: urlOf(request.at('uri')),
    requestHeaders: headersOfMap(request.at('headers')),
    // An empty text is how it writes that there was none.
    ...(requestBody === undefined || requestBody.pieces[0]?.length === 0 ? {} : { requestBody }),
    ...(response.isThere
      ? {
          response: {
            status: response.at('status').map.at('code').status,
            ...(statusText === undefined ? {} : { statusText }),
            headers: headersOfMap(response.at('headers')),
            ...(responseBody === undefined ? {} : { body: responseBody }),
          },
        }
      : {}),
    ...(endedMs === undefined ? {} : { startedMs: endedMs }),
  }
}

function bodyIn(body: Cursor): ForeignBody | undefined {
  if (!body.isMap) return plainBody(body)
  if (body.at('base64_string').isThere) return bodyOf(base64Bytes(body.at('base64_string').text, body))
  return plainBody(body.at('string'))
}
