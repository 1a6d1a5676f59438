import { type ExchangeEvent, requestBytes, responseBytes } from '../../src/tape/index.ts'

/** How other recorders would have written these calls. */
export const foreign = { vcrpy, har, nock }

function vcrpy(exchanges: readonly ExchangeEvent[]): string {
  const interactions = exchanges.map((event) => ({
    request: {
      method: event.method,
      uri: event.url,
      headers: listed(event.request.headers),
      body: requestBytes(event).toString(),
    },
    response: {
      status: { code: event.response!.status, message: 'OK' },
      headers: listed(event.response!.headers),
      body: { string: responseBytes(event).toString() },
    },
  }))
  return JSON.stringify({ version: 1, interactions })
}

function har(exchanges: readonly ExchangeEvent[]): string {
  const named = (headers: Headers): unknown => headers.map(([name, value]) => ({ name, value }))
  const entries = exchanges.map((event) => ({
    request: {
      method: event.method,
      url: event.url,
      headers: named(event.request.headers),
      postData: { mimeType: 'application/json', text: requestBytes(event).toString() },
    },
    response: {
      status: event.response!.status,
      statusText: 'OK',
      headers: named(event.response!.headers),
      content: { mimeType: '', encoding: 'base64', text: responseBytes(event).toString('base64') },
    },
  }))
  return JSON.stringify({ log: { version: '1.2', creator: { name: 'by hand', version: '1' }, entries } })
}

function nock(exchanges: readonly ExchangeEvent[]): string {
  const definitions = exchanges.map((event) => {
    const { origin, pathname, search } = new URL(event.url)
    const answer = responseBytes(event).toString()
    return {
      scope: `${origin}:443`,
      method: event.method,
      path: pathname + search,
      body: JSON.parse(requestBytes(event).toString()) as unknown,
      status: event.response!.status,
      response: answer.startsWith('{') ? (JSON.parse(answer) as unknown) : answer,
      rawHeaders: event.response!.headers.flat(),
      responseIsBinary: false,
    }
  })
  return JSON.stringify(definitions)
}

type Headers = ExchangeEvent['request']['headers']

function listed(headers: Headers): Record<string, readonly string[]> {
  return Object.fromEntries(headers.map(([name, value]) => [name, [value]]))
}
