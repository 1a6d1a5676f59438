import { base64Bytes, bodyOf } from './body.ts'
import type { Cursor } from './cursor.ts'
import type { ForeignFormat } from './document.ts'
import { headersOfMap } from './headers.ts'
import { methodOf, urlOf } from './requests.ts'
import type { ForeignBody, ForeignExchange } from './types.ts'
import { plainBody } from './vcrpy.ts'

/** Datadog's test agent. */
export const ddTestAgent: ForeignFormat = {
  name: 'dd-test-agent',
  recognises: ({ root }) => root.at('request').at('url').isThere && root.at('response').at('status').isThere,
  read: ({ root }) => ({ format: 'dd-test-agent', exchanges: [exchangeOf(root)] }),
}

/**
 * The one request a file of Datadog's test agent holds. Such files are named by what they ask and shared between tests,
 * so a folder of them is no run: each file is imported by itself.
 *
 * @see https://github.com/DataDog/dd-apm-test-agent, ddapm_test_agent/vcr_proxy.py
 */
function exchangeOf(root: Cursor): ForeignExchange {
  const request = root.at('request').map
  const response = root.at('response').map
  const requestBody = bodyIn(request.at('body'))
  const statusText = response.at('status').at('message').maybeText
  return {
    method: methodOf(request.at('method')),
    url: urlOf(request.at('url')),
    requestHeaders: headersOfMap(request.at('headers')),
    ...(requestBody === undefined || requestBody.pieces[0]?.length === 0 ? {} : { requestBody }),
    response: {
      status: response.at('status').isMap ? response.at('status').at('code').status : response.at('status').status,
      ...(statusText === undefined ? {} : { statusText }),
      headers: headersOfMap(response.at('headers')),
      body: bodyIn(response.at('body')) ?? bodyOf(''),
    },
  }
}

/** Bodies that are no text begin with `base64:`; of requests, with half a surrogate pair before it, which no text holds. */
function bodyIn(body: Cursor): ForeignBody | undefined {
  const binary = /^\ud800?base64:([A-Za-z0-9+/\s]*={0,2})$/.exec(body.maybeText ?? '')?.[1]
  return binary === undefined ? plainBody(body) : bodyOf(base64Bytes(binary, body))
}
