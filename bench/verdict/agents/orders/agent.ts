// Orders of a wine merchant: the SDK of OpenAI for the model, axios for the services.
import { readFileSync } from 'node:fs'
import axios from 'axios'
import OpenAI from 'openai'
import { tools } from '../../../../src/record/index.ts'

interface Question {
  readonly customer: string
  readonly order: string
  readonly text: string
  readonly facts: readonly string[]
}

const instructions = readFileSync(new URL('./prompt.md', import.meta.url), 'utf8')
const client = new OpenAI({ apiKey: process.env['OPENAI_API_KEY'] ?? 'sk-not-a-key', maxRetries: 0 })
const shop = axios.create({ baseURL: `${process.env['GATEWAY']}/shop`, headers: { 'x-account-id': 'cave-du-nord' } })

const cellar = tools({
  replace_bottle: async (args: { order: string; bottle: string; count: number }) => ({ replaced: args.count }),
  give_discount: async (args: { order: string; percent: number }) => ({ given: args.percent }),
})

const offered: OpenAI.ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'replace_bottle',
      description: 'Sends a new bottle for a broken one, free of charge.',
      parameters: {
        type: 'object',
        properties: { bottle: { type: 'string' }, count: { type: 'integer', minimum: 1, maximum: 6 } },
        required: ['bottle', 'count'],
      },
    },
  },
  {
    type: 'function',
    function: {
      name: 'give_discount',
      description: 'Takes a percentage off the order. Cannot be taken back.',
      parameters: { type: 'object', properties: { percent: { type: 'number' } }, required: ['percent'] },
    },
  },
]

/** Looks order and customer up, lets the model act on the order, and saves its answer. */
export async function agent(asked: Question): Promise<{ readonly answer: string; readonly steps: number }> {
  const [order, customer] = await Promise.all([read(`/orders/${asked.order}`), read(`/customers/${asked.customer}`)])
  const stock = await read('/stock')
  const delays = await read('/delays')
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: instructions },
    { role: 'system', content: `What is known of the customer: ${asked.facts.join('; ')}.` },
    {
      role: 'user',
      content: `Order: ${JSON.stringify(order)}\nCustomer: ${JSON.stringify(customer)}\nStock: ${JSON.stringify(stock)}\nDelays: ${JSON.stringify(delays)}\n\n${asked.text}`,
    },
  ]
  for (let turn = 1; turn < 6; turn++) {
    const stream = client.chat.completions.stream({ model: 'gpt-5', top_p: 0.9, messages, tools: offered })
    const completion = await stream.finalChatCompletion()
    const { message } = completion.choices[0]!
    messages.push(message)
    const calls = message.tool_calls ?? []
    if (calls.length === 0) {
      const answer = message.content ?? ''
      await shop.post('/answers', { order: asked.order, answer }, { headers: { 'if-match': '"v3"' } })
      return { answer, steps: turn }
    }
    for (const call of calls) {
      if (call.type !== 'function') throw new Error(`unknown tool: ${call.type}`)
      const result = await act(call.function.name, JSON.parse(call.function.arguments) as Record<string, unknown>)
      messages.push({ role: 'tool', tool_call_id: call.id, content: JSON.stringify(result) })
    }
  }
  throw new Error('no answer after 5 turns')

  function act(name: string, args: Record<string, unknown>): Promise<unknown> {
    if (name === 'replace_bottle')
      return cellar.replace_bottle({ order: asked.order, bottle: String(args['bottle']), count: Number(args['count']) })
    return cellar.give_discount({ order: asked.order, percent: Math.min(15, Number(args['percent'])) })
  }
}

async function read(path: string): Promise<unknown> {
  const { data } = await shop.get<unknown>(path)
  return data
}
