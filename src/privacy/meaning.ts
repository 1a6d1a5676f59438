import { FirstNames } from './first/names.ts'
import type { SecretNames } from './names.ts'

/**
 * What a request header means to whoever receives it.
 *
 * `asks`: what is asked for, and in which form, language or version. `guards`: the condition under which it may be done,
 * or which part of it. `tenant`: for whom. `credential`: who asks. All others tell about the client or the connection.
 */
export type HeaderMeaning = 'asks' | 'guards' | 'tenant' | 'credential'

/**
 * Those of IANA's list of fields that a client sets for what it wants: a form, a variant, a state of a cache, a name. The rest of
 * that list, and why it is no part of a question, stands in docs/privacy.md.
 */
const asks: ReadonlySet<string> = new Set([
  'a-im',
  'accept',
  'accept-additions',
  'accept-charset',
  'accept-datetime',
  'accept-features',
  'accept-language',
  'amp-cache-transform',
  'anthropic-beta',
  'anthropic-version',
  'api-version',
  'cache-control',
  'caldav-timezones',
  'configuration-context',
  'content-disposition',
  'content-language',
  'content-location',
  'content-type',
  'dav',
  'dpr',
  'link',
  'mcp-protocol-version',
  'negotiate',
  'odata-maxversion',
  'openai-beta',
  'oslc-core-version',
  // `no-cache`: what `cache-control` says where it is not there (RFC 9111, section 5.4).
  'pragma',
  'prefer',
  'save-data',
  'slug',
  'viewport-width',
  'width',
])

/** Gateways take prompts by header, by name or as text: `Helicone-Prompt-Id`. */
const prompts = /(?:^|[-_])(?:prompts?|instructions?)(?:[-_]|$)/
const guards: ReadonlySet<string> = new Set([
  ':sent-to',
  ':socket',
  ':trailers',
  'content-range',
  'if',
  'max-forwards',
  'idempotency-key',
  'x-idempotency-key',
  'isolation',
  'last-event-id',
  'lock-token',
  'odata-isolation',
  'range',
  // Extensions that the request is to be done under, or may be (RFC 2774).
  'c-man',
  'c-opt',
  'man',
  'opt',
  // How a push message is kept and delivered (RFC 8030).
  'topic',
  'ttl',
  'urgency',
  'x-amz-target',
])

/** Versions of an interface: `Stripe-Version`, `Notion-Version`, `X-GitHub-Api-Version`, `x-ms-version`. */
const versions =
  /^(?!sec-|.*(?:agent|app|browser|build|client|device|library|node|os|package|platform|runtime|sdk|stainless)).*-version$/

/**
 * Which operation it is, beside the method and the address: SOAP, WebDAV (RFC 4918, section 10, and 3253, 3648, 6638), a preflight, a method in the place of
 * `POST`, whether it is done at all (`x-dry-run`), and what stores of objects and functions take by header: who may read, where it is copied from, how it is run;
 * and the guardrail that a model of Bedrock is asked under.
 */
const operations =
  /^(?:soapaction|destination|depth|overwrite|timeout|label|ordering-type|position|schedule-reply|apply-to-redirect-ref|access-control-request-.+|(?:x-)?dry-?run|x-(?:http-)?method(?:-override)?|x-amzn-bedrock-.+|x-(?:amz|goog|ms)-(?!client-|date$|content-sha256|checksum-|user-?agent|sdk-|security-token|api-client|gcs-|useragent|return-client-request-id|request-).+)$/
const tenants = /tenant|organi[sz]ation|account|project|workspace|customer|merchant|user-id|on-behalf-of/

/** As whom, and in which part of a service: `X-Hasura-Role`, `X-Scope-OrgID`, `X-Vault-Namespace`, `X-ClickHouse-Database`. */
const places =
  /(?:^|[-_])(?:roles?|scopes?|permissions?|sudo|run-as|act(?:ing)?-as|impersonat\w*|org-?id|org|team|company|realm|namespace|database|environment|env|sandbox)(?:[-_]|$)/

/** In which language, currency, time or region an answer is written: `Time-Zone`, `X-Locale`, `X-Currency`. */
const forms = /(?:^|[-_])(?:locale|lang|language|currency|time-?zone|tz|region|country)(?:[-_]|$)/

/** Such a word is about the client where one of these stands beside it: `X-Stainless-Lang`, `Sec-Fetch-Mode`, `X-Client-Region`. */
const ofClients =
  /(?:^|[-_])(?:agent|app|browser|client|device|ip|platform|runtime|sdk|sec|sentry|stainless|ua)(?:[-_]|$)/

/**
 * Credentials of the connection, and the session token that temporary keys of AWS have and long-lived ones have not: which
 * kind a machine has says nothing about the request. And fields of answers alone, with a word in them that would count.
 */
const elsewhere: ReadonlySet<string> = new Set([
  'permissions-policy',
  'proxy-authorization',
  'proxy-instruction',
  'x-amz-security-token',
])

/**
 * Keys of services whose names end in one of these words alone: `Private-Token`, `X-Vault-Token`, `X-Auth-Key`. Elsewhere such a
 * name may be that of data: of a page, of an entry.
 */
const serviceKeys = /^(?!sec-)(?:.*[-_])?(?:token|key)$/

const builtIn = new FirstNames()

/** What a header means by the built-in names alone. */
export function meaningOfHeader(name: string): HeaderMeaning | undefined {
  return headerMeaning(name, builtIn)
}

/** Whether a header holds a key by the built-in names alone: a word such as `key` at its end does not tell it from data. */
export function isKeyHeader(name: string): boolean {
  return builtIn.isSecret(name, '')
}

/** @param name - in lower case */
export function headerMeaning(name: string, names: SecretNames): HeaderMeaning | undefined {
  if (asks.has(name)) return 'asks'
  if (elsewhere.has(name)) return undefined
  // Browsers can send no other header with a WebSocket, so that keys stand among the protocols it offers.
  if (name === 'sec-websocket-protocol') return 'credential'
  if (name === 'cookie' || names.isSecret(name, '')) return 'credential'
  if (guards.has(name) || name.startsWith('if-')) return 'guards'
  if (versions.test(name)) return 'asks'
  if (tenants.test(name)) return 'tenant'
  if (operations.test(name)) return 'guards'
  if (prompts.test(name)) return 'asks'
  if (serviceKeys.test(name) && !places.test(name)) return 'credential'
  if (ofClients.test(name)) return undefined
  if (places.test(name)) return 'tenant'
  return forms.test(name) ? 'asks' : undefined
}
