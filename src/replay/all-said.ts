import { decodeBody } from '../providers/index.ts'
import { decodeBytes, type RecordedResponse } from '../tape/index.ts'

/**
 * Whether the first pieces of a compressed body say all that it says: what follows is a check sum, and whether that came before
 * the client that had read the last word hung up is chance.
 */
export function isAllSaid({ headers, chunks }: RecordedResponse, count: number): boolean {
  const encoding = headers.find(([name]) => name.toLowerCase() === 'content-encoding')?.[1]
  if (encoding === undefined) return false
  const pieces = chunks.map(([, , piece]) => decodeBytes(piece))
  const [begin, whole] = [pieces.slice(0, count), pieces].map((some) => decodeBody(Buffer.concat(some), encoding))
  return Buffer.compare(begin!, whole!) === 0
}
