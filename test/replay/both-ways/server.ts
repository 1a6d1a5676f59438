import { createServer, type ServerResponse } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'

/** Answers the agents; each piece of a stream leaves by itself. */
export async function withServer<T>(work: (base: string) => Promise<T>): Promise<T> {
  const together: [place: string, response: ServerResponse][] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const path = (request.url ?? '').slice(1).split('?', 1)[0] ?? ''
      const { host: _host, connection: _connection, ...headers } = request.headers
      if (path === 'together') together.push([request.url?.at(-1) ?? '', response])
      if (together.length === 3) {
        // Recorded apart, to have one order.
        for (const [place, one] of together.splice(0))
          setTimeout(() => one.writeHead(200, { 'content-length': 2 }).end('{}'), 30 * Number(place))
      }
      if (path === 'echo') response.end(JSON.stringify([request.url, headers, Buffer.concat(chunks).toString('utf8')]))
      else answers[path]?.(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    return await work(`http://127.0.0.1:${(server.address() as { port: number }).port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

let held: ServerResponse | undefined
const later = (work: () => void, ms = 30): void => void setTimeout(work, ms)
const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  json(response) {
    const headers = { 'Content-Type': 'application/json', 'x-two': ['a', 'b'], 'set-cookie': ['a=1', 'b=2'] }
    response.writeHead(201, 'Fine', headers).end('{"a":"é"}')
  },
  sized: (response) => void response.writeHead(200, 'OK', { 'Content-Length': 5, 'X-Two': ['a', 'b'] }).end('sized'),
  nothing: (response) => void response.writeHead(204).end(),
  none: (response) => void response.writeHead(200, { 'content-length': 0 }).end(),
  moved: (response) => void response.writeHead(302, { location: '/json' }).end('elsewhere'),
  held(response) {
    held = response
    response.writeHead(200, { 'content-length': 4 }).flushHeaders()
  },
  release(response) {
    response.end('released')
    later(() => void held?.end('held'))
  },
  429: (response) => void response.writeHead(429, { 'retry-after': '1' }).end('slow down'),
  empty: (response) => void response.writeHead(200).end(),
  form: (response) =>
    void response.writeHead(200, { 'content-type': 'application/x-www-form-urlencoded' }).end('a=1&b=2'),
  slow: (response) => later(() => void response.end('slow'), 120),
  never: () => undefined,
  reset(response) {
    response.writeHead(200).write('data: 1\n\n')
    later(() => void response.socket?.destroy())
  },
  torn(response) {
    response.writeHead(200).write('data: 1\n\n')
    later(() => response.socket?.resetAndDestroy())
  },
  gone: (response) => void response.socket?.destroy(),
  stream: (response) => inPieces(response.writeHead(200, { 'content-type': 'text/event-stream' })),
  gzip: (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"a":"é"}')),
  br: (response) => void response.writeHead(200, { 'content-encoding': 'br' }).end(brotliCompressSync('{"a":"é"}')),
  deflate: (response) => void response.writeHead(200, { 'content-encoding': 'deflate' }).end(deflateSync('{"a":"é"}')),
  parts: (response) => inPieces(response.writeHead(200, { 'content-type': 'text/plain', 'content-length': 45 })),
}

/** Five pieces, each by itself. */
function inPieces(response: ServerResponse): void {
  let next = 0
  const write = (): void => {
    if (next === 5) return void response.end()
    response.write(`data: ${next++}\n\n`)
    setTimeout(write, 15)
  }
  write()
}
