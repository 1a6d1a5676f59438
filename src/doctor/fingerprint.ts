import { canonicalJson } from '../providers/index.ts'
import type { HarvestError } from '../errors/index.ts'
import { bodyDifference, type RequestDifference } from '../match/difference.ts'
import { shortUrl } from '../match/step.ts'
import type { ReplayResult } from '../match/types.ts'
import { isStep, requestBytes, type TapeEvent } from '../tape/index.ts'

/** One thing a run said or did, as text. */
export interface FingerprintPart {
  /** What it is, the same in every replay: `request 2, POST /v1/messages`. */
  readonly label: string
  readonly text: string
  /** Place in the agent's code, when it is known. */
  readonly site?: string
}

/** What one replay did: what it asked, byte for byte, what it answered, and in what it left its tape. */
export type Fingerprint = readonly FingerprintPart[]

/** In what two replays of one tape are not the same. */
export interface FingerprintDifference {
  /** Label of the part. */
  readonly what: string
  /** Where in it, such as `messages[1].content`; empty for the whole. */
  readonly path: string
  readonly before: string
  readonly after: string
  readonly site?: string
}

/** Reads the fingerprint of a replay. Where a request goes and who asks are no part of it: hosts and most headers. */
export function fingerprintOf(run: ReplayResult): Fingerprint {
  const parts = withoutHosts([...steps(run), ...headers(run), ...problems(run), outcome(run)], run)
  const seen = new Map<string, number>()
  // Numbered by kind: independent steps may change places.
  return parts.map((part) => {
    const number = (seen.get(part.label) ?? 0) + 1
    seen.set(part.label, number)
    return number === 1 ? part : { ...part, label: `${part.label} (${number})` }
  })
}

/**
 * The parts without the hosts that refused requests went to. A run that leaves its tape says so with an address, in the error
 * and in what the agent makes of it; where a request goes is no part of what the run does.
 */
function withoutHosts(parts: readonly FingerprintPart[], { problems: all }: ReplayResult): readonly FingerprintPart[] {
  const asked = /\b(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) (?:https?:\/\/)?([^\s/,]+)(?=\/)/g
  const hosts = new Set(all.flatMap(({ message }) => [...message.matchAll(asked)].map(([, host = '']) => host)))
  if (hosts.size === 0) return parts
  const without = (text: string): string => [...hosts].reduce((rest, host) => rest.replaceAll(host, 'host'), text)
  return parts.map((part) => ({ ...part, text: without(part.text) }))
}

function steps({ events }: ReplayResult): readonly FingerprintPart[] {
  return events.flatMap((event) => {
    const part = textOf(event)
    if (part === undefined) return []
    return [isStep(event) && event.site !== undefined ? { ...part, site: event.site } : part]
  })
}

function textOf(event: TapeEvent): FingerprintPart | undefined {
  switch (event.kind) {
    case 'exchange': {
      const path = pathOf(event.url)
      const body = requestBytes(event).toString('utf8')
      return { label: `request ${event.method} ${path.split('?', 1)[0]}`, text: body === '' ? path : body }
    }
    case 'tool':
    case 'retrieval':
      return { label: `${event.kind} ${event.name}`, text: JSON.stringify(event.args) }
    case 'mark':
      return { label: `mark ${event.name}`, text: JSON.stringify(event.data ?? null) }
    case 'state':
      return { label: `state ${event.name}`, text: JSON.stringify(event.data) }
    case 'message':
      return { label: `message from ${event.from} to ${event.to}`, text: JSON.stringify(event.body) }
    default:
      return undefined
  }
}

function pathOf(url: string): string {
  if (!URL.canParse(url)) return shortUrl(url)
  const { pathname, search } = new URL(url)
  return pathname + search
}

function headers({ drift }: ReplayResult): readonly FingerprintPart[] {
  return drift
    .filter((one) => one.class === 'headers')
    .map(({ path, live, stepNumber, site }) => ({
      label: `header ${path} of step ${stepNumber}`,
      text: live,
      ...(site === undefined ? {} : { site }),
    }))
}

function problems(run: ReplayResult): readonly FingerprintPart[] {
  return run.problems.map(({ code, facts: { what, where = {}, detail } }) => ({
    label: `problem ${code}`,
    text: [what, where['call'], detail].filter((text) => text !== undefined).join('\n'),
    ...(where['at'] === undefined ? {} : { site: where['at'] }),
  }))
}

function outcome({ outcome: { status }, redactedOutcome }: ReplayResult): FingerprintPart {
  const label = status === 'returned' ? 'answer of the agent' : errorOfAgent
  return { label, text: canonicalJson(redactedOutcome) }
}

/** Whether a run ended with an error, or could not even begin. */
export function isError(run: Fingerprint): boolean {
  return run.some(({ label }) => label === errorOfAgent || label === noStart)
}

const errorOfAgent = 'error of the agent'
const noStart = 'start of the agent'

/** The result of the run when it could not even begin: modules that do not load, an agent that hangs for good. */
export function failedFingerprint(error: HarvestError): Fingerprint {
  const { what, where = {} } = error.facts
  return [{ label: noStart, text: [what, where['error']].filter((text) => text !== undefined).join('\n') }]
}

/**
 * The first thing that is not in `live` as it was, or `undefined` when the runs are the same. The order of requests that
 * do not wait for each other is no difference.
 *
 * @param unstable - labels that say nothing, because they are never twice the same
 */
export function firstChange(
  before: Fingerprint,
  live: Fingerprint,
  unstable: ReadonlySet<string> = new Set(),
): FingerprintDifference | undefined {
  const [was] = missingFrom(live, before, unstable)
  const gained = missingFrom(before, live, unstable)
  const is = gained.find(({ label }) => label === was?.label) ?? gained[0]
  const one = was ?? is
  if (one === undefined) return undefined
  const site = one.site ?? is?.site
  const where = site === undefined ? {} : { site }
  if (was !== undefined && was.label === is?.label) {
    const found = differently(refused(was), refused(is)) ?? bodyDifference(was.text, is.text)
    const { path, recorded, live: now } = found ?? { path: '', recorded: was.text, live: is.text }
    return { what: nameOf(is), path, before: recorded, after: now, ...where }
  }
  const found = is && refused(is)
  if (found) return { what: nameOf(is), path: found.path, before: found.recorded, after: found.live, ...where }
  return { what: nameOf(one), path: '', before: excerpt(was), after: excerpt(is), ...where }
}

/** Of a request that is refused either way, what it says now and what it said before; of one that is refused now alone, all. */
function differently(
  before: RequestDifference | undefined,
  now: RequestDifference | undefined,
): RequestDifference | undefined {
  if (before === undefined || now === undefined) return now
  return before.live === now.live ? undefined : { path: now.path, recorded: before.live, live: now.live }
}

/** A request the tape has no answer for is no step of the replay: what it said is in the problem it led to. */
function refused({ text }: FingerprintPart): RequestDifference | undefined {
  const [, path = '', recorded = '', live = ''] =
    /\n {2}differs at (.*)\n {2}recorded {2}([^]*)\n {2}now {7}([^]*)$/.exec(text) ?? []
  if (recorded === '' && live === '') return undefined
  // As it was before it was laid out below its heading.
  const flat = (part: string): string => part.replaceAll(/\n {12}(?:\| )?/g, '\n')
  return { path: path === 'the body' ? '' : path, recorded: flat(recorded), live: flat(live) }
}

function nameOf({ label, text }: FingerprintPart): string {
  if (!label.startsWith('problem ')) return label
  const [first = label] = text.split('\n', 1)
  const [, method, path] = /(?:asked|called|matches|recorded:) (\w+) [^/\s]*(\/[^\s,]*)/.exec(first) ?? []
  return method === undefined ? first : `request ${method} ${path}`
}

function excerpt(part: FingerprintPart | undefined): string {
  if (part === undefined) return '(absent)'
  const text = part.label.startsWith('problem ') ? (part.text.split('\n', 1)[0] ?? '') : part.text
  return text.length > 160 ? `${text.slice(0, 160)}…` : text
}

/** Parts of `all` that `other` does not have, counted: texts that come twice must come twice. */
function missingFrom(other: Fingerprint, all: Fingerprint, unstable: ReadonlySet<string>): readonly FingerprintPart[] {
  const left = new Map<string, number>()
  const keyOf = ({ label, text }: FingerprintPart): string => `${label.replace(/ \(\d+\)$/, '')}\n${text}`
  for (const part of other) left.set(keyOf(part), (left.get(keyOf(part)) ?? 0) + 1)
  return all.filter((part) => {
    if (unstable.has(part.label)) return false
    const count = left.get(keyOf(part)) ?? 0
    left.set(keyOf(part), count - 1)
    return count <= 0
  })
}
