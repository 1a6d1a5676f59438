import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A chat-completions server on 127.0.0.1 that decides by the last words it was told. */
export async function startModel(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      const { messages } = JSON.parse(body) as { messages: readonly { role: string; content: string }[] }
      const said = messages.map(({ content }) => content).join(' ')
      response.setHeader('content-type', 'application/json')
      if (said.includes('fail')) response.statusCode = 500
      const content = said.includes('refund') ? 'Done.' : decide(said)
      const usage = { prompt_tokens: 90 + (said.length % 20), completion_tokens: 10 }
      response.end(
        JSON.stringify({ model: 'gpt-4o', choices: [{ index: 0, message: { role: 'assistant', content } }], usage }),
      )
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections()
        server.close(() => closed())
      }),
  }
}

function decide(said: string): string {
  if (said.includes('Refund')) return 'refund'
  return said.includes('angry') ? 'escalate' : 'It is on its way.'
}
