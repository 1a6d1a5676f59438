import { falseCoding, type HeaderMeaning, meaningOfHeader, type Redactor } from '../privacy/index.ts'
import type { LiveRequest } from '../seam/intercept/index.ts'
import { type ExchangeEvent, type HeaderPair, requestBytes, type Tape } from '../tape/index.ts'
import { socketName, unknownSocket } from '../seam/connection.ts'
import { sentToName, trailersName } from '../seam/shape.ts'
import { originOf } from './address.ts'
import { idempotencyNames } from './idempotency.ts'
import type { FoundDrift } from './matcher.ts'
import { sameSocket } from './sockets.ts'
import type { DriftClass } from './types.ts'

/** How the headers of one request are compared. */
export interface HeaderComparison {
  /** Headers that the options of the recorder keep: to name one is to compare it. */
  readonly own?: readonly string[]
  /** The recorder kept every header that means something: one that is missing was not sent. */
  readonly isWhole?: boolean
  /** Another tool recorded it, and may have kept any of them: one that is missing may have been sent. */
  readonly isForeign?: boolean
  /** The form of the answer of a model follows from what its request says. */
  readonly isModelCall?: () => boolean
  /** Of the request. Default: `GET`. */
  readonly method?: string
  /** What another host means for it; absent: the tape does not say where requests were sent, and which trailers they had. */
  readonly otherHost?: () => DriftClass
  /** The tape says where its connection leads, if not to the host of its address. */
  readonly saysSocket?: boolean
  /** Where a request was sent of which nothing else is said: to the host of its address. Default: unknown. */
  readonly sentTo?: string
  /** What a header means, by its name in lower case. */
  readonly meaning?: (name: string) => HeaderMeaning | undefined
}

/** What the headers of a tape mean. Those its recorder left out mean nothing: it knew fewer names, and what they said is unknown. */
export function meaningOnTape(
  { close }: Tape,
  redactor: Pick<Redactor, 'meaning'>,
): (name: string) => HeaderMeaning | undefined {
  const dropped = new Set(close?.droppedHeaders)
  return (name) => (dropped.has(name) ? undefined : redactor.meaning(name))
}

/** What every recorder kept that kept any header. */
const alwaysKept: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'anthropic-beta',
  'anthropic-version',
  'content-type',
  'mcp-protocol-version',
  'openai-beta',
  'openai-organization',
  'openai-project',
  'prefer',
])

/** Compared where the answer of a request is looked for, see `target.ts` and `idempotency.ts`. */
const comparedElsewhere: ReadonlySet<string> = new Set([...idempotencyNames, 'last-event-id', 'range', 'x-amz-target'])

/** What a server takes a header that is not there for. Some clients write it out, others do not. */
const assumed: Readonly<Record<string, string>> = { accept: '*/*', 'accept-language': '*' }

const cacheName = 'cache-control'

/** What stands beside the headers, for people. */
const parts: Readonly<Record<string, string>> = {
  [sentToName]: 'host of the connection',
  [socketName]: 'unix socket',
  [trailersName]: 'trailers',
}
/** Of these, what says where a request goes. */
const places: ReadonlySet<string> = new Set([sentToName, socketName])

const classes = { asks: 'headers', guards: 'guards', tenant: 'credentials', credential: 'credentials' } as const

/** Differences between the recorded headers of a request and the live ones, both redacted. Credentials: `credentials.ts`. */
export function headerDrift(
  recorded: readonly HeaderPair[],
  live: readonly HeaderPair[],
  {
    own = [],
    isWhole = false,
    isForeign = false,
    isModelCall = () => false,
    method = 'GET',
    otherHost,
    saysSocket = false,
    sentTo = '',
    meaning = meaningOfHeader,
  }: HeaderComparison = {},
): readonly FoundDrift[] {
  // A tape from elsewhere may not have kept them.
  if ((recorded.length === 0 && !isWhole) || isSame(recorded, live)) return none
  let found: FoundDrift[] | undefined
  const look = (given: string): void => {
    const lower = given.toLowerCase()
    const name = lower === 'pragma' ? cacheName : lower
    const [was, is] =
      name === cacheName
        ? [cacheOf(recorded, method), cacheOf(live, method)]
        : [valueOf(recorded, name), valueOf(live, name)]
    if (was === is) return
    const isOwn = own.some((one) => one.toLowerCase() === name)
    const meant = meaning(name) ?? (isOwn ? 'asks' : undefined)
    if (meant === undefined || comparedElsewhere.has(name)) return
    // Beside the headers: one machine has several names, and one that is not given is that of the address.
    if (name.startsWith(':') && otherHost === undefined) return
    if (name === socketName && (!saysSocket || isSameSocket(was, is))) return
    if (name === sentToName && ledTo(was ?? sentTo) === ledTo(is ?? sentTo)) return
    // An older recorder whose options kept one wrote a placeholder for it.
    if (meant === 'credential' && (isWhole || !isOwn)) return
    // Browsers, whose logs are imported, write directives for their own caches.
    if (name === cacheName && isForeign) return
    if (steady(name, was) === steady(name, is)) return
    if (was === undefined && isForeign) return
    // An older recorder did not keep it: it is unknown whether it was sent.
    if (was === undefined && !isWhole && !isOwn && !alwaysKept.has(name)) return
    if (found?.some(({ path }) => path === name)) return
    found ??= []
    const difference = { path: name, recorded: was ?? '(absent)', live: is ?? '(absent)' }
    const isForm = name === 'accept' && isModelCall() && [was, is].every(acceptsAnswerOfModel)
    const as = isForm ? 'encoding' : ((places.has(name) ? otherHost?.() : undefined) ?? classes[meant])
    const part = parts[name] ?? (as === 'headers' || isForm ? `header ${name}` : undefined)
    found.push({ class: as, ...difference, ...(part !== undefined && { part }) })
  }
  for (const [name] of recorded) look(name)
  for (const [name] of live) look(name)
  // Which comes first must not hang on how a client sorts them.
  return found?.sort((a, b) => (a.path < b.path ? -1 : 1)) ?? none
}

/**
 * What a request states of a body that is not packed so. Else `content-encoding` is compared with the body, which is unpacked by it; of
 * one that is cut or could not be searched there is nothing to look at.
 */
export function codingDrift(
  event: ExchangeEvent,
  live: Pick<LiveRequest, 'headers' | 'body'>,
  { isWhole = false }: HeaderComparison,
): readonly FoundDrift[] {
  const { headers, whole, unsearched, coded } = event.request
  // Of a tape from elsewhere it is unknown whether its bodies were packed.
  if (!isWhole || whole !== undefined || unsearched !== undefined) return none
  const recorded = coded === undefined ? falseCoding(headers, requestBytes(event)) : undefined
  const now = falseCoding(live.headers, live.body)
  if (recorded === now) return none
  const part = 'header content-encoding'
  return [{ class: 'headers', path: 'content-encoding', part, recorded: recorded ?? '(none)', live: now ?? '(none)' }]
}

/**
 * Whether the answer to a request of this method can come from a cache (RFC 9110, section 9.2.3). In all others `no-cache` says
 * nothing: `fetch` writes it under `cache: 'no-store'`, and where a WebSocket is opened.
 */
function isCacheable(method: string): boolean {
  return /^(?:GET|HEAD|POST|QUERY)$/i.test(method)
}

/** The host of a connection. `node:http` says an address of IPv6 without brackets. */
function ledTo(said: string): string {
  return originOf(said.replace(/^(https?:\/\/)([\da-f.]*:[\da-f.]*:[\da-f:.]*)$/i, '$1[$2]'))
}

function isSameSocket(was: string | undefined, is: string | undefined): boolean {
  // Listed as not compared.
  if (was === unknownSocket || is === unknownSocket) return true
  return was !== undefined && is !== undefined && sameSocket(was, is)
}

const none: readonly FoundDrift[] = []

function isSame(recorded: readonly HeaderPair[], live: readonly HeaderPair[]): boolean {
  return (
    recorded.length === live.length &&
    recorded.every(([name, value], at) => live[at]?.[0] === name && live[at]?.[1] === value)
  )
}

function steady(name: string, value: string | undefined): string | undefined {
  if (name === 'accept' && value !== undefined) return acceptable(value)
  if (value === undefined || name !== 'content-type') return value ?? assumed[name]
  // Type, names of parameters and character sets are the same in any case, with spaces around the sign or without.
  return value
    .split(';')
    .map((part) => part.trim())
    .map((part) => (/^boundary=/i.test(part) ? part : part.toLowerCase().replaceAll('"', '')))
    .join(';')
}

/** What axios writes where nothing is asked for: the same as the range of all types, and as no header at all. */
const ofAxios = 'application/json;q=1, text/plain;q=1, */*;q=1'

/**
 * What a request accepts, in one spelling (RFC 9110, section 12.5.1): what weighs more comes first. Of types of one weight servers take
 * the first: their order stays.
 */
function acceptable(value: string): string {
  const members = value.split(',').flatMap((member) => {
    const [type = '', ...given] = member.split(';').map((part) => part.trim())
    const weight = given.findLast((one) => /^q=/i.test(one))?.slice(2)
    const named = given.filter((one) => !/^q=/i.test(one)).map((one) => `;${one}`)
    return type === '' ? [] : [{ range: type.toLowerCase() + named.join(''), weight: Number(weight ?? 1) }]
  })
  if (members.some(({ weight }) => Number.isNaN(weight))) return value
  const said = members
    .sort((a, b) => b.weight - a.weight)
    .map(({ range, weight }) => `${range};q=${weight}`)
    .join(', ')
  return said === ofAxios || said === '*/*;q=1' ? '*/*' : said
}

/** The types of answers of models, whole or as a stream. Which of them comes is asked for by the body or address. */
const answersOfModels =
  /^(?:\*\/\*|application\/(?:\*|json|x-ndjson|jsonl|vnd\.amazon\.eventstream)|text\/(?:\*|event-stream))$/

/** Whether a request to a model may be answered as models answer: such a header chooses nothing. */
function acceptsAnswerOfModel(value = '*/*'): boolean {
  return value.split(',').some((member) => {
    const [type = '', ...given] = member.split(';').map((part) => part.trim().toLowerCase())
    return answersOfModels.test(type) && !given.some((one) => /^q=0(?:\.0*)?$/.test(one))
  })
}

/**
 * What a request says to the caches on its way, in one spelling (RFC 9111, section 5.4). `fetch` writes `no-cache` into requests
 * under a condition, and into those of an `EventSource`, by its standard; other clients leave it out: there it says nothing.
 */
function cacheOf(pairs: readonly HeaderPair[], method: string): string | undefined {
  const directives =
    valueOf(pairs, cacheName) ?? (/\bno-cache\b/i.test(valueOf(pairs, 'pragma') ?? '') ? 'no-cache' : undefined)
  const said = directives
    ?.toLowerCase()
    .split(',')
    .map((one) => one.trim())
    .sort()
    .join(', ')
  const goesPast = (): boolean =>
    pairs.some(([name, value]) => /^if-/i.test(name) || (/^accept$/i.test(name) && /text\/event-stream/i.test(value)))
  return said === 'no-cache' && (goesPast() || !isCacheable(method)) ? undefined : said
}

/** The value of a header, of several with one name all of them; a request has so few that looking beats an index. */
function valueOf(pairs: readonly HeaderPair[], name: string): string | undefined {
  let value: string | undefined
  for (const pair of pairs)
    if (pair[0].toLowerCase() === name) value = value === undefined ? pair[1] : `${value}, ${pair[1]}`
  return value
}
