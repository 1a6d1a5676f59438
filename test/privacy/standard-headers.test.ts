import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { meaningOfHeader } from '../../src/privacy/meaning.ts'

/**
 * IANA's registry of HTTP fields, whole, as of 2026, by who writes them.
 *
 * @see https://www.iana.org/assignments/http-fields
 */
const registry = {
  requests: `
    a-im accept accept-additions accept-charset accept-datetime accept-encoding accept-features accept-language
    accept-signature access-control-request-headers access-control-request-method alpn alt-used amp-cache-transform
    apply-to-redirect-ref authorization available-dictionary cache-control caldav-timezones capsule-protocol cdn-loop
    client-cert client-cert-chain cmcd-object cmcd-request cmcd-session cmcd-status concealed-auth-export
    configuration-context connection content-digest content-disposition content-encoding content-language content-length
    content-location content-range content-type cookie cta-common-access-token date dav depth destination
    detached-jws dictionary-id dpop early-data ediint-features expect forwarded from host if if-match if-modified-since
    if-none-match if-range if-schedule-tag-match if-unmodified-since include-referred-token-binding-id incremental isolation
    keep-alive label last-event-id link lock-token max-forwards meter mime-version negotiate odata-isolation odata-maxversion
    odata-version ordering-type origin oscore oslc-core-version overwrite ping-from ping-to position pragma prefer priority
    proxy-authorization range referer repeatability-client-id repeatability-first-sent repeatability-request-id repr-digest
    schedule-reply sec-fetch-dest sec-fetch-mode sec-fetch-site sec-fetch-storage-access sec-fetch-user sec-gpc sec-purpose
    sec-token-binding sec-websocket-extensions sec-websocket-key sec-websocket-protocol sec-websocket-version signature
    signature-input slug soapaction surrogate-capability te timeout topic traceparent tracestate trailer transfer-encoding
    ttl unencoded-digest upgrade urgency user-agent via want-content-digest want-repr-digest want-unencoded-digest`,
  answers: `
    accept-ch accept-patch accept-post accept-query accept-ranges access-control-allow-credentials
    access-control-allow-headers access-control-allow-methods access-control-allow-origin access-control-expose-headers
    access-control-max-age activate-storage-access age allow alt-svc alternates authentication-control authentication-info
    cache-group-invalidation cache-groups cache-status cal-managed-id cdn-cache-control cert-not-after cert-not-before
    clear-site-data cmsd-dynamic cmsd-static content-security-policy content-security-policy-report-only
    cross-origin-embedder-policy cross-origin-embedder-policy-report-only cross-origin-opener-policy
    cross-origin-opener-policy-report-only cross-origin-resource-policy dasl delta-base deprecation dpop-nonce etag expires
    hobareg im last-modified link-template location memento-datetime nel odata-entityid optional-www-authenticate
    origin-agent-cluster permissions-policy preference-applied proxy-authenticate proxy-authentication-info proxy-status
    redirect-ref referrer-policy refresh repeatability-result replay-nonce reporting-endpoints retry-after schedule-tag
    sec-websocket-accept server server-timing set-cookie set-txn status-uri strict-transport-security sunset
    surrogate-control tcn timing-allow-origin use-as-dictionary variant-vary vary www-authenticate x-content-type-options
    x-frame-options`,
  /** A client that writes one all the same writes what it has always written. */
  obsolete: `
    access-control c-ext c-man c-opt c-pep c-pep-info close content-base content-id content-md5 content-script-type
    content-style-type content-version cookie2 default-style derived-from differential-id digest expect-ct ext getprofile
    http2-settings man method-check method-check-expires opt p3p pep pep-info pics-label profileobject protocol
    protocol-info protocol-query protocol-request proxy-features proxy-instruction public public-key-pins
    public-key-pins-report-only referer-root safe security-scheme set-cookie2 setprofile uri want-digest warning`,
} as const

const { requests, answers, obsolete } = Object.fromEntries(
  Object.entries(registry).map(([of, names]) => [of, names.trim().split(/\s+/)]),
) as Record<keyof typeof registry, string[]>

test('the registry is whole: each of its fields is in one list', () => {
  const all = [...requests, ...answers, ...obsolete]
  expect(new Set(all).size).toBe(all.length)
  expect(all).toHaveLength(256)
})

test('each field that IANA lists for requests is compared, or has a reason why it is not', () => {
  const [, table = ''] = readFileSync('docs/privacy.md', 'utf8').split('| Not compared | Why |')
  const rows = table.split('\n\n')[0]!.split('\n').slice(2)
  const passed = rows.flatMap((row) => [...row.split(' | ')[0]!.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
  expect(passed.length).toBeGreaterThan(50)
  expect(passed.filter((name) => meaningOfHeader(name) !== undefined)).toEqual([])
  // Compared as the host of the connection, see `:sent-to`.
  const unsaid = requests.filter(
    (name) => meaningOfHeader(name) === undefined && !passed.includes(name) && name !== 'host',
  )
  expect(unsaid).toEqual([])
  expect(passed.filter((name) => answers.includes(name))).toEqual([])
})

test('a field that only answers have means nothing in a request, whatever words are in its name', () => {
  expect(answers.filter((name) => meaningOfHeader(name) !== undefined)).toEqual([])
})
