import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** What the pretended model is to answer; sent as part of the request. */
export interface Wish {
  readonly model?: string
  /** Tokens read and written; `null`: the answer tells none, as OpenAI's streams do when nobody asks. */
  readonly usage?: readonly [number, number] | null
  readonly tools?: readonly string[]
  /** What it calls each of them with. */
  readonly args?: object
  readonly status?: number
  readonly waitMs?: number
  /** Characters the answer is long. */
  readonly pad?: number
}

export interface Model {
  readonly base: string
  /** Asks it as a client of OpenAI's chat completions would. */
  ask(wish?: Wish, signal?: AbortSignal): Promise<string>
  close(): Promise<void>
}

/** A chat model on loopback that uses as many tokens as it is told to. */
export async function startModel(): Promise<Model> {
  const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    const body: Buffer[] = []
    request.on('data', (chunk: Buffer) => body.push(chunk))
    request.on('end', () => {
      const { model, wish } = JSON.parse(Buffer.concat(body).toString()) as { model: string; wish: Wish }
      void sleep(wish.waitMs ?? 0).then(() => {
        response.writeHead(wish.status ?? 200, { 'content-type': 'application/json' })
        response.end(JSON.stringify(answer(model, wish)))
      })
    })
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    base,
    async ask(wish = {}, signal) {
      const messages = [{ role: 'user', content: 'Where is my order?' }]
      const response = await fetch(`${base}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: wish.model ?? 'gpt-4o', messages, wish }),
        ...(signal ? { signal } : {}),
      })
      return response.text()
    },
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections()
        server.close(() => closed())
      }),
  }
}

function answer(model: string, { usage = [10, 5], tools = [], args = {}, status = 200, pad = 0 }: Wish): object {
  if (status >= 400) return { error: { type: 'rate_limit_error', message: 'later' } }
  const calls = tools.map((name, i) => ({
    id: `call_${i}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }))
  const message = {
    role: 'assistant',
    content: `It is on its way.${' Thank you!'.repeat(pad / 11)}`,
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model,
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    ...(usage && { usage: { prompt_tokens: usage[0], completion_tokens: usage[1] } }),
  }
}
