import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HarvestError, neutral } from '../../errors/index.ts'

/**
 * A page by the rest of its path, without the secret, and its query; `undefined`: no such page. Pages are made when they
 * are asked for.
 */
export type Pages = (path: string, query: URLSearchParams) => string | undefined | Promise<string | undefined>

export interface ServedPages {
  /** With the secret. */
  readonly url: string
  /**
   * An address that leads to a page once, for a program that is started with it or with a file that holds it: a secret in
   * its arguments would be seen by every user of this machine.
   *
   * @param path - of the page, behind the secret
   */
  readonly once: (path: string) => string
  readonly close: () => Promise<void>
}

/**
 * Serves pages on 127.0.0.1 to whoever has the link, and to no one else on this machine or in this browser. Reads only.
 *
 * The secret is a part of every path. A cookie would be sent to every other server of 127.0.0.1: cookies know no ports.
 *
 * @param port - 0: a free one
 * @throws HarvestError `HARVEST_CLI_OPTION` when the port is taken
 */
export async function servePages(pages: Pages, port: number): Promise<ServedPages> {
  const secret = newSecret()
  const tickets = new Map<string, string>()
  const server = createServer((request, response) => {
    const here = `127.0.0.1:${portOf(server)}`
    void answer(request, response, { pages, secret: digestOf(secret), tickets, here })
  })
  await listen(server, port)
  const home = `http://127.0.0.1:${portOf(server)}`
  return {
    url: `${home}/${secret}/`,
    once: (path) => {
      const ticket = newSecret()
      tickets.set(digestOf(ticket).toString('base64'), `/${secret}/${path}`)
      return `${home}/${ticket}/`
    },
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections()
        server.close(() => closed())
      }),
  }
}

function newSecret(): string {
  return randomBytes(24).toString('base64url')
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((listening, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new HarvestError(
          'HARVEST_CLI_OPTION',
          {
            what: 'Cannot listen on this port',
            where: { port: `${port}`, system: error.message },
            fix: ['leave out --port: a free one is taken'],
          },
          { cause: error },
        ),
      ),
    )
    server.listen(port, '127.0.0.1', listening)
  })
}

interface Served {
  readonly pages: Pages
  readonly secret: Buffer
  /** Where the addresses lead that are good for once, by digest. */
  readonly tickets: Map<string, string>
  /** The one name this server answers to. */
  readonly here: string
}

function firstPart({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0]?.split('/')[1] ?? ''
}

/** Why a request is refused; `undefined`: it is not. */
function refusal(request: IncomingMessage, { secret, here }: Served): [number, string] | undefined {
  const { headers, method } = request
  // Any other name, localhost too, may be a page that made its own name point here.
  if (headers.host !== here) return [421, 'ask for 127.0.0.1']
  if (headers.origin !== undefined && headers.origin !== `http://${here}`) return [403, 'another site asked']
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return [403, 'another site asked']
  if (method !== 'GET' && method !== 'HEAD') return [405, 'reading only']
  if (!timingSafeEqual(digestOf(firstPart(request)), secret)) return [403, 'open the link that was printed']
  return undefined
}

async function answer(request: IncomingMessage, response: ServerResponse, served: Served): Promise<void> {
  const say = (status: number, text: string): void => {
    response.writeHead(status, { ...shared, 'content-type': 'text/plain; charset=utf-8' })
    response.end(`${text}\n`)
  }
  const first = firstPart(request)
  const ticket = digestOf(first).toString('base64')
  const leads =
    request.method === 'GET' && request.headers.host === served.here ? served.tickets.get(ticket) : undefined
  if (leads !== undefined) {
    served.tickets.delete(ticket)
    // No redirect: a browser would still say that another site asked.
    response.writeHead(200, { ...shared, 'content-type': 'text/html; charset=utf-8' })
    response.end(
      `<!doctype html><title>report</title><link rel="icon" href="data:,"><meta http-equiv="refresh" content="0;url=${leads}">`,
    )
    return
  }
  const refused = refusal(request, served)
  if (refused !== undefined) return say(...refused)
  // Never decoded: a bad escape must not throw, and paths are looked up, not opened.
  const url = request.url ?? ''
  const path = url.split('?', 1)[0]?.split('/').slice(2).join('/') ?? ''
  const query = new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?')) : '')
  try {
    const page = await served.pages(path, query)
    if (page === undefined) return say(404, 'no such page')
    response.writeHead(200, { ...shared, 'content-type': 'text/html; charset=utf-8' })
    response.end(request.method === 'HEAD' ? '' : page)
  } catch (error) {
    // A tape that became unreadable is said on its page; the others still open.
    say(500, neutral(HarvestError.is(error) ? error.message : 'the page cannot be made'))
    if (!HarvestError.is(error)) throw error
  }
}

const shared = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // The page's own policy stands in the page; a frame can be refused here alone.
  'content-security-policy': "frame-ancestors 'none'",
} as const

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
