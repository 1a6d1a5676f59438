import { captureStack } from './caller.ts'

/** Frames of those who open sockets for HTTP: their requests are recorded and served. */
const httpClients = /node:_http_(agent|client)|undici|http2|agent-base|-proxy-agent|interceptors/

/** Whether an HTTP client is opening a socket right now. A socket of anybody else is raw: a database, a protocol of its own. */
export function isOfHttpClient(): boolean {
  return httpClients.test(captureStack().stack ?? '')
}
