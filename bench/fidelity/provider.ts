import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A model on loopback that does what its last user message tells it to. */
export interface Provider {
  readonly base: string
  /** From here on every connection is a live call in a replay. */
  refuse(): void
  /** Connections since then. */
  live(): number
  close(): Promise<void>
}

/**
 * Starts it. It answers `/v1/chat/completions` alone, so that tools which know nothing but models can take part. In a
 * message it understands: `say: …` what to answer (with dashes, so that question and answer can be told apart), `pieces` for a stream of eight, `lose` for one that is cut off half
 * way, `wait 120` to answer later, `busy` to be told to come back the first time.
 */
export async function startProvider(): Promise<Provider> {
  let [answers, live, isOpen] = [0, 0, true]
  const busy = new Set<string>()
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (piece: string) => (text += piece))
    request.on('end', () => {
      const said = isOpen ? lastMessage(text) : 'refused'
      if (!isOpen) live++
      void answer(said, response).catch((error: unknown) => response.destroy(error as Error))
    })
  })
  const sockets = new Set<{ destroy(): void }>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // A connection without a request would go unseen.
    if (!isOpen) live++
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refuse() {
      isOpen = false
      for (const socket of sockets) socket.destroy()
    },
    live: () => live,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((done) => server.close(done))
    },
  }

  async function answer(said: string, response: ServerResponse): Promise<void> {
    if (said === 'refused') return void response.writeHead(503).end('a live call in a replay')
    if (said.includes('busy') && !busy.has(said)) {
      busy.add(said)
      const error = { message: 'too many requests', type: 'rate_limit' }
      response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '2' })
      return void response.end(JSON.stringify({ error }))
    }
    if (/\b(?:pieces|lose)\b/.test(said)) return stream(said, response)
    await sleep(Number(/wait (\d+)/.exec(said)?.[1] ?? 0))
    const content = /say: (.*)/.exec(said)?.[1]?.replaceAll(' ', '-') ?? `answer ${++answers} to ${said}`
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(completion(content)))
  }
}

async function stream(said: string, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let n = 1; n <= 8; n++) {
    if (/\blose\b/.test(said) && n === 5) return void response.destroy()
    const choices = [{ index: 0, delta: { content: `piece ${n} ` }, finish_reason: n === 8 ? 'stop' : null }]
    const chunk = { id: 'chatcmpl-s', object: 'chat.completion.chunk', created: 1, model: 'invented', choices }
    response.write(`data: ${JSON.stringify(chunk)}\n\n${n === 8 ? 'data: [DONE]\n\n' : ''}`)
    await sleep(100)
  }
  response.end()
}

function completion(content: string): object {
  return {
    id: `chatcmpl-${Math.random().toString(36).slice(2)}`,
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'invented-2026-01',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
  }
}

function lastMessage(body: string): string {
  const { messages } = JSON.parse(body) as { messages: readonly { content: string }[] }
  return messages.at(-1)?.content ?? ''
}
