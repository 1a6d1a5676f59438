import { setTimeout as sleep } from 'node:timers/promises'
import OpenAI from 'openai'

const gateway = `${process.env['GATEWAY']}/billing`
const client = new OpenAI({ baseURL: `${gateway}/v1`, apiKey: process.env['OPENAI_API_KEY'] ?? 'sk-not-a-key' })

interface Job {
  readonly customer: string
  /** With the customer's own offset. */
  readonly asOf: string
  readonly currency: string
}

interface Invoice {
  readonly id: string
  readonly amount: number
  readonly disputed: boolean
}

const parameters = { type: 'object', properties: {}, additionalProperties: true }
const tools: OpenAI.Responses.Tool[] = ['list_invoices', 'exchange_rate', 'issue_credit', 'notify'].map((name) => ({
  type: 'function',
  name,
  description: `Billing: ${name}`,
  parameters,
  strict: false,
}))

/** Adds up what a customer disputes in a month, and credits it in the customer's currency. */
export async function agent(job: Job): Promise<{ readonly answer: string; readonly credits: number }> {
  const month = job.asOf.slice(0, 7)
  const input: OpenAI.Responses.ResponseInput = [
    {
      role: 'user',
      content: `Credit what customer ${job.customer} disputes in ${month}, in ${job.currency}.`,
    },
  ]
  let credits = 0
  for (let turn = 0; turn < 8; turn++) {
    const response = await client.responses.create({
      model: 'gpt-5',
      instructions: 'You settle disputes. Credit only what is disputed, then notify the customer.',
      input,
      tools,
    })
    const calls = response.output.filter((item) => item.type === 'function_call')
    if (calls.length === 0) return { answer: response.output_text, credits }
    for (const { call_id, name, arguments: text } of calls) {
      input.push({ type: 'function_call', call_id, name, arguments: text })
      const output = JSON.stringify(await run(name, JSON.parse(text) as Record<string, string>))
      input.push({ type: 'function_call_output', call_id, output })
    }
  }
  throw new Error('no answer after 8 turns')

  async function run(name: string, args: Record<string, string>): Promise<unknown> {
    if (name === 'list_invoices') return listInvoices(args['customer']!, args['month']!)
    if (name === 'exchange_rate') return request('GET', `/rates?from=${args['from']}&to=${args['to']}`)
    if (name === 'issue_credit') {
      const { customer, amount, currency } = args
      if (Number(amount) <= 0) return { error: 'nothing to credit' }
      credits++
      return request('POST', '/credits', { customer, amount, currency })
    }
    if (name === 'notify') return request('POST', '/notifications', { customer: args['customer'], text: args['text'] })
    return { error: `no tool ${name}` }
  }
}

async function listInvoices(customer: string, month: string): Promise<{ readonly disputed: readonly Invoice[] }> {
  const all: Invoice[] = []
  let page: number | null = 1
  while (page !== null) {
    const { items, next } = (await request('GET', `/invoices?customer=${customer}&month=${month}&page=${page}`)) as {
      items: Invoice[]
      next: number | null
    }
    all.push(...items)
    page = next
  }
  return { disputed: all.filter(({ disputed }) => disputed) }
}

const attempts = 3

async function request(method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> {
  const key = crypto.randomUUID()
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(`${gateway}/api${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (response.ok) return response.json()
    if (response.status < 500 || attempt === attempts) throw new Error(`${method} ${path}: ${response.status}`)
    await sleep(10 * attempt)
  }
}
