import type { Cursor } from './cursor.ts'
import { type ForeignFormat, itemsAt, exchangesIn } from './document.ts'
import { headersOfMap } from './headers.ts'
import { methodOf, tookOf, urlOf } from './requests.ts'
import type { ForeignExchange } from './types.ts'
import { hasInteractions, interactionIn, plainBody, requestIn } from './vcrpy.ts'

/** go-vcr. */
export const goVcr: ForeignFormat = {
  name: 'go-vcr',
  recognises(document) {
    const request = interactionIn(document)?.at('request')
    if (request === undefined) return hasInteractions(document) && document.root.at('version').maybeNumber === 2
    return request.at('url').isThere && !request.at('uri').isThere
  },
  read(document) {
    checkVersion(document.root)
    return { format: 'go-vcr', exchanges: exchangesIn(itemsAt(document, 'interactions'), exchangeOf) }
  },
}

/**
 * Interactions of go-vcr, formats 1 and 2. Each tells how long it took.
 *
 * @see https://github.com/dnaeon/go-vcr, pkg/cassette/cassette.go
 */
function exchangeOf(interaction: Cursor): ForeignExchange {
  const request = requestIn(interaction)
  const response = interaction.at('response')
  const requestBody = plainBody(request.at('body'))
  const tookMs = tookOf(durationMs(response.at('duration')))
  const statusText = response.at('status').maybeText?.replace(/^\d{3} ?/, '')
  const body = plainBody(response.at('body'))
  return {
    method: methodOf(request.at('method')),
    url: urlOf(request.at('url')),
    requestHeaders: headersOfMap(request.at('headers')),
    ...(requestBody === undefined || requestBody.pieces[0]?.length === 0 ? {} : { requestBody }),
    ...(response.isThere
      ? {
          response: {
            status: response.map.at('code').status,
            ...(statusText === undefined || statusText === '' ? {} : { statusText }),
            headers: headersOfMap(response.at('headers')),
            ...(body === undefined ? {} : { body }),
          },
        }
      : {}),
    ...(tookMs === undefined ? {} : { tookMs }),
  }
}

/** @throws HarvestError `HARVEST_IMPORT_VERSION` */
function checkVersion(root: Cursor): void {
  const version = root.at('version')
  if (version.isThere && version.maybeNumber !== 1 && version.maybeNumber !== 2)
    throw version.refuse('the only supported versions are go-vcr formats 1 and 2', 'HARVEST_IMPORT_VERSION')
}

const unitMs: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
  ms: 1,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ns: 1e-6,
}

/** A duration as Go writes it: `1m3.5s`, `820.25ms`; a bare number is nanoseconds. Rounded to a microsecond. */
export function durationMs(duration: Cursor): number | undefined {
  const number = duration.maybeNumber
  const given = duration.maybeText ?? ''
  // Go writes 20 characters at most; a search in millions of digits would not end.
  const text = given.length > 40 ? '' : given
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s|us|µs|μs|ns)/g)]
  const isWhole = parts.length > 0 && parts.map(([part]) => part).join('') === text
  const ms =
    number === undefined
      ? isWhole
        ? parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * unitMs[unit]!, 0)
        : undefined
      : number / 1e6
  return ms === undefined ? undefined : Math.round(ms * 1000) / 1000
}
