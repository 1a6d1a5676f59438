import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server on loopback that answers with what it is told to: by path, or `/bytes?n` with so many letters. */
export async function startOrigin(
  answers: Readonly<Record<string, { readonly body: Buffer; readonly coding?: string }>> = {},
) {
  const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    request.resume().on('end', () => {
      const { pathname, search } = new URL(request.url ?? '', 'http://origin')
      const { body, coding } = answers[pathname] ?? { body: Buffer.alloc(Number(search.slice(1)), 'abcdefgh ') }
      response.writeHead(200, { 'content-type': 'text/plain', ...(coding && { 'content-encoding': coding }) })
      response.end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
