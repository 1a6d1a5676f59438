import type { Pairs } from '../seam/intercept/index.ts'
import { decodeBytes, type RecordedResponse } from '../tape/index.ts'

/** The headers of a recorded answer, with the length its body has on the tape. */
export function fittedTo({ headers, chunks, end }: RecordedResponse): Pairs {
  if (end === undefined || !statesOther(headers, undefined)) return headers
  let length = 0
  for (let i = 0; i < chunks.length; i++) {
    const bytes = chunks[i]![2]
    length += typeof bytes === 'string' ? Buffer.byteLength(bytes) : decodeBytes(bytes).length
  }
  return withLength(headers, length)
}

/** Redaction may have changed the length of a complete body; a client would wait for the difference. */
export function fitted(headers: Pairs, chunks: readonly Buffer[], complete: boolean): Pairs {
  if (!complete) return headers
  let length = 0
  for (const chunk of chunks) length += chunk.length
  return withLength(headers, length)
}

function withLength(headers: Pairs, length: number): Pairs {
  const stated = String(length)
  if (length === 0 || !statesOther(headers, stated)) return headers
  return headers.map(([name, value]) => [name, name === 'content-length' ? stated : value] as const)
}

/** Whether a length is stated, and another one than this. */
function statesOther(headers: Pairs, length: string | undefined): boolean {
  for (let i = 0; i < headers.length; i++) {
    const pair = headers[i]!
    if (pair[0] === 'content-length' && pair[1] !== length) return true
  }
  return false
}
