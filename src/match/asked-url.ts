import { addressedUrl } from '../seam/shape.ts'
import type { LiveRequest } from '../seam/intercept/index.ts'
import { hostsFlag, type Tape } from '../tape/index.ts'

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
