import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { meaningOfHeader } from '../../src/privacy/meaning.ts'

/** Fields of IANA's registry that requests have, as of 2026; without those of MIME, of mail and of long dead drafts. */
const registered = `
  a-im accept accept-charset accept-datetime accept-encoding accept-features accept-language accept-signature
  access-control-request-headers access-control-request-method alpn alt-used apply-to-redirect-ref authorization
  available-dictionary cache-control cdn-loop client-cert client-cert-chain connection content-digest content-disposition
  content-encoding content-language content-length content-location content-md5 content-range content-type cookie date depth
  destination dictionary-id digest dnt dpop early-data expect forwarded from host http2-settings if if-match
  if-modified-since if-none-match if-range if-schedule-tag-match if-unmodified-since include-referred-token-binding-id
  keep-alive label last-event-id link lock-token max-forwards negotiate odata-isolation odata-maxversion odata-version
  ordering-type origin overwrite position pragma prefer priority proxy-authorization range referer repr-digest
  schedule-reply sec-fetch-mode sec-gpc sec-purpose sec-token-binding sec-websocket-extensions sec-websocket-key
  sec-websocket-protocol sec-websocket-version signature signature-input slug soapaction surrogate-capability te timeout
  topic trailer transfer-encoding ttl upgrade upgrade-insecure-requests urgency user-agent via want-content-digest
  want-digest want-repr-digest`

test('each field that IANA lists for requests is compared, or has a reason why it is not', () => {
  const [, table = ''] = readFileSync('docs/privacy.md', 'utf8').split('| Not compared | Why |')
  const rows = table.split('\n\n')[0]!.split('\n').slice(2)
  const passed = rows.flatMap((row) => [...row.split(' | ')[0]!.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
  expect(passed.length).toBeGreaterThan(50)
  expect(passed.filter((name) => meaningOfHeader(name) !== undefined)).toEqual([])
  const names = registered.trim().split(/\s+/)
  // Compared as the host of the connection, see `:sent-to`.
  const unsaid = names.filter(
    (name) => meaningOfHeader(name) === undefined && !passed.includes(name) && name !== 'host',
  )
  expect(unsaid).toEqual([])
})
