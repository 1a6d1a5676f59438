import { ownFolder, ownFolderPath } from '../own-files.ts'
import { captureStack, mostFrames } from './caller.ts'

/** undici: the one in Node, and any in a package, installed as `undici7` too. Anybody's project may lie in a folder of that name. */
const undici = /node:internal\/deps\/undici\/|[\\/]node_modules[\\/].*\bundici(?![a-z])/

/** Those who open sockets for HTTP: their requests are recorded and served. */
const httpClients =
  /node:_http_(?:agent|client)|node:internal\/http2\/|[\\/]node_modules[\\/].*(?:\bhttp2|agent-base|-proxy-agent|interceptors)/

/** Whether undici is on a stack. */
export function isOfUndici({ stack = '' }: { readonly stack?: string }): boolean {
  return framesOfOthers(stack).some((frame) => undici.test(frame))
}

/** Whether an HTTP client is opening a socket right now. A socket of anybody else is raw: a database, a protocol of its own. */
export function isOfHttpClient(): boolean {
  // Mostly it is one of the nearest frames: each that is written down takes its time.
  return isOnStack(nearest) || isOnStack(mostFrames)
}

const nearest = 8

function isOnStack(frames: number): boolean {
  const { stack = '' } = captureStack(frames)
  return framesOfOthers(stack).some((frame) => httpClients.test(frame) || undici.test(frame))
}

const own = [ownFolder.href, ownFolderPath]

/** Our files are named after what they do: no client is in them. */
function framesOfOthers(stack: string): readonly string[] {
  return stack.split('\n').filter((frame) => !own.some((folder) => frame.includes(folder)))
}
