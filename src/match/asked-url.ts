import { addressedUrl } from '../seam/shape.ts'
import type { LiveRequest } from '../seam/intercept/index.ts'
import { endsFlag, hostsFlag, isEnding, socketsFlag, type Tape } from '../tape/index.ts'
import { socketName } from '../seam/connection.ts'
import { hostDrift, writtenOrigin } from './address.ts'
import type { HeaderComparison } from './header-drift.ts'
import type { ExchangeState } from './step.ts'

type Asked = Pick<LiveRequest, 'url' | 'headers'>

/** The address of a live request, as the recorder of this tape would have written it. */
export function askedUrl(tape: Pick<Tape, 'header'>, { url, headers }: Asked): string {
  return isHostNoted(tape) ? addressedUrl(url, headers) : url
}

/** Whether a live request has a `Host` header that names another host than its address, and the tape says nothing of such headers. */
export function isHostUnknown(tape: Pick<Tape, 'header'>, { url, headers }: Asked): boolean {
  return !isHostNoted(tape) && addressedUrl(url, headers) !== url
}

/** Whether a tape says which hosts requests were for, where they were sent, and which trailers they had. */
export function isHostNoted({ header }: Pick<Tape, 'header'>): boolean {
  return header.flags.includes(hostsFlag)
}

/**
 * How what stands beside the headers of a request is compared, as far as its tape says it.
 *
 * @param via - what the live request is sent by
 */
export function besideOf(
  tape: Pick<Tape, 'header'>,
  step: ExchangeState,
  via: LiveRequest['via'],
): Pick<HeaderComparison, 'otherHost' | 'saysSocket' | 'sentTo'> {
  if (!isHostNoted(tape)) return {}
  const { request, response, url } = step.event
  // Of a request that failed it may be that its connection was never there.
  const isSeen = response !== undefined || request.headers.some(([name]) => name === socketName)
  // What `node:http` says of its connection has no port.
  const sentTo = via === 'http' && step.event.via === 'http' ? writtenOrigin(url).replace(/:\d+$/, '') : url
  return { otherHost: () => hostDrift(step, step.event), saysSocket: isSocketNoted(tape) && isSeen, sentTo }
}

/** Whether a tape says which unix sockets requests were sent to. */
export function isSocketNoted({ header }: Pick<Tape, 'header'>): boolean {
  return header.flags.includes(socketsFlag)
}

/** Whether a tape says how the run ended its children, MCP servers among them. */
export function areEndsNoted({ header }: Pick<Tape, 'header'>): boolean {
  return header.flags.includes(endsFlag)
}

/** The options of a child that a tape holds. */
export function optionsNoted(tape: Pick<Tape, 'header'>): readonly string[] {
  return [...(isSocketNoted(tape) ? ['program', 'uid', 'gid'] : []), ...(areEndsNoted(tape) ? ['timeout'] : [])]
}

/** Whether an older recorder did not write this down: by what a child was ended. */
export function isUnnoted(
  tape: Pick<Tape, 'header' | 'events'>,
  live: Pick<LiveRequest, 'via' | 'method' | 'url'>,
): boolean {
  if (!isEnding(live) || areEndsNoted(tape)) return false
  if (live.method === 'KILL' || !isSocketNoted(tape)) return true
  // It did write down the end of the input of a child that got lines.
  return !tape.events.some((event) => event.kind === 'exchange' && event.url === live.url && event.method === 'SEND')
}
