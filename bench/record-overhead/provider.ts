// A model in a process of its own: answers every request with a chat completion of 0.7 KB, at once or after /<ms>.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const sentence = 'The order 4711 was delivered on Monday, and 25 EUR were paid for it. '
let answers = 0

function answer(): string {
  const id = ++answers
  const call = { id: `call_${id}`, type: 'function', function: { name: 'lookup_order', arguments: '{"id":"4711"}' } }
  return JSON.stringify({
    id: `chatcmpl-${id}`,
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'invented-1',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: sentence.repeat(5), tool_calls: [call] },
        finish_reason: 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 400, completion_tokens: 60, total_tokens: 460 },
  })
}

const server = createServer((request, response) => {
  const delayMs = Number(/^\/(\d+)\//.exec(request.url ?? '')?.[1] ?? 0)
  const send = (): void => {
    const body = answer()
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'x-request-id': `req_${answers}`,
    })
    response.end(body)
  }
  request.resume().on('end', () => (delayMs === 0 ? send() : setTimeout(send, delayMs)))
})
// Connections stay open between rounds: the next one does not pay for new ones.
server.keepAliveTimeout = 600_000
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('disconnect', () => process.exit())
