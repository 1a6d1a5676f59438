import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tools } from '../src/record/index.ts'

/** What the tool answers to what the model wanted. */
export const shop = { total: (want: number): number => want }

const steps = tools({ look: async ({ at, want }: { at: number; want: number }) => ({ at, total: shop.total(want) }) })

/** Asks its model in turns, runs the tool it wants, and answers what the model says at last. */
export async function sumAgent(input: unknown): Promise<{ readonly answer: string }> {
  const { url } = input as { readonly url: string }
  const messages: unknown[] = [{ role: 'user', content: 'Sum the orders up.' }]
  for (;;) {
    const body = JSON.stringify({ model: 'gpt-4o', messages })
    const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body })
    const { choices } = (await response.json()) as { choices: { message: Message }[] }
    const message = choices[0]!.message
    messages.push(message)
    const [call] = message.tool_calls ?? []
    if (call === undefined) return { answer: message.content ?? '' }
    const { at, want } = JSON.parse(call.function.arguments) as { at: number; want: number }
    const content = JSON.stringify(await steps.look({ at, want }))
    messages.push({ role: 'tool', tool_call_id: call.id, content })
  }
}

interface Message {
  readonly content: string | null
  readonly tool_calls?: { readonly id: string; readonly function: { readonly arguments: string } }[]
}

/** A model on 127.0.0.1. */
export interface LiveModel {
  readonly url: string
  /** How often it was asked. */
  asked: number
  /** Turns in which it wants its tool, before it says what it found. */
  turns: number
  /** What it wants at a turn. */
  want: (turn: number) => number
  /** What it says at last, of all that was said before in one text. */
  say: (messages: string) => string
  close(): void
}

export async function openModel(): Promise<LiveModel> {
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const body: Buffer[] = []
    request.on('data', (chunk: Buffer) => body.push(chunk))
    request.on('end', () => {
      model.asked++
      const { messages } = JSON.parse(Buffer.concat(body).toString()) as { messages: { role: string }[] }
      const at = messages.filter(({ role }) => role === 'tool').length
      const call = (): object => {
        const args = JSON.stringify({ at, want: model.want(at) })
        return { id: `call_${at}`, type: 'function', function: { name: 'look', arguments: args } }
      }
      const message =
        at < model.turns
          ? { role: 'assistant', content: null, tool_calls: [call()] }
          : { role: 'assistant', content: model.say(JSON.stringify(messages)) }
      const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }
      const choices = [{ index: 0, message }]
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({ id: 'c-1', object: 'chat.completion', created: 1, model: 'gpt-4o', choices, usage }),
      )
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const model: LiveModel = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: 0,
    turns: 5,
    want: () => 1,
    say: () => '',
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
  return model
}
