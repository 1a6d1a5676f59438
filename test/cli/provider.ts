import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A chat-completions server on 127.0.0.1 that always says the same; answers its address. */
export async function startProvider(content: string): Promise<{ readonly url: string; close(): void }> {
  const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({ model: 'invented-1', choices: [{ index: 0, message: { role: 'assistant', content } }] }),
      )
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() }
}
