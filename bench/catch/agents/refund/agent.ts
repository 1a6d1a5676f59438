import OpenAI from 'openai'
import { tools } from '../../../../src/record/index.ts'

const gateway = `${process.env['GATEWAY']}/refund`
const client = new OpenAI({ baseURL: `${gateway}/v1`, apiKey: process.env['OPENAI_API_KEY'] ?? 'sk-not-a-key' })

interface Ticket {
  readonly id: string
  readonly text: string
  readonly email: string
}

interface Order {
  readonly order_id: string
  readonly total: number
  readonly currency: string
  readonly country: string
}

type Args = Record<string, string | number>

const shop = tools({
  lookup_order: async ({ order_id }: Args) => get(`/orders/${order_id}`),
  refund_policy: async ({ country }: Args) => get(`/policies/${country}`),
  refund: async (order: Args) => post('/refunds', order),
  send_email: async ({ to, subject, text }: Args) => post('/emails', { to, subject, text }),
  close_ticket: async ({ ticket_id, resolution }: Args) => post('/tickets/close', { ticket_id, resolution }),
})

const offered = ['lookup_order', 'refund_policy', 'refund'].map((name) => ({
  type: 'function' as const,
  function: { name, description: `Tool of the shop: ${name}`, parameters: { type: 'object', properties: {} } },
}))

/** Looks order and policy up at once, refunds what the guard lets through, then writes to the customer. */
export async function agent(ticket: Ticket): Promise<{ readonly answer: string; readonly refunded: number }> {
  const instructions = 'You are the refund desk of a shop. Look the order up before you refund anything.'
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: instructions },
    { role: 'user', content: `Ticket ${ticket.id}: ${ticket.text}` },
  ]
  const orders = new Map<string, Order>()
  let refunded = 0
  for (let turn = 0; turn < 8; turn++) {
    const stream = client.chat.completions.stream({ model: 'gpt-5', messages, tools: offered })
    const { message } = (await stream.finalChatCompletion()).choices[0]!
    messages.push(message)
    const calls = message.tool_calls ?? []
    if (calls.length === 0) {
      const answer = message.content ?? ''
      await shop.send_email({ to: ticket.email, subject: `Your ticket ${ticket.id}`, text: answer })
      await shop.close_ticket({ ticket_id: ticket.id, resolution: refunded > 0 ? 'refunded' : 'declined' })
      return { answer, refunded }
    }
    messages.push(...(await Promise.all(calls.map(runTool))))
  }
  throw new Error('no answer after 8 turns')

  async function runTool(call: OpenAI.ChatCompletionMessageToolCall): Promise<OpenAI.ChatCompletionToolMessageParam> {
    if (call.type !== 'function') throw new Error(`unknown type of tool: ${call.type}`)
    const args = JSON.parse(call.function.arguments) as Args
    const result = await dispatch(call.function.name, args)
    return { role: 'tool', tool_call_id: call.id, content: JSON.stringify(result) }
  }

  async function dispatch(name: string, args: Args): Promise<unknown> {
    switch (name) {
      case 'lookup_order': {
        const order = (await shop.lookup_order(args)) as Order
        orders.set(order.order_id, order)
        return order
      }
      case 'refund_policy':
        return shop.refund_policy(args)
      case 'refund': {
        const order = orders.get(String(args['order_id']))
        const amount = Number(args['amount'])
        if (order === undefined) return { error: 'look the order up first' }
        if (amount > order.total) return { error: `more than the total of ${order.total}` }
        const done = await shop.refund({ order_id: order.order_id, amount, currency: order.currency })
        refunded += amount
        return done
      }
      default:
        return { error: `no tool ${name}` }
    }
  }
}

async function get(path: string): Promise<unknown> {
  const response = await fetch(`${gateway}/api${path}`)
  if (!response.ok) throw new Error(`${path}: ${response.status}`)
  return response.json()
}

async function post(path: string, body: object): Promise<unknown> {
  const response = await fetch(`${gateway}/api${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status}`)
  return response.json()
}
