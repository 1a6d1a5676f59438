import Anthropic from '@anthropic-ai/sdk'
import { retriever } from '../../../../src/record/index.ts'

const gateway = `${process.env['GATEWAY']}/triage`
const client = new Anthropic({ baseURL: gateway, apiKey: process.env['ANTHROPIC_API_KEY'] ?? 'sk-not-a-key' })

interface Ticket {
  readonly id: string
  readonly customer: string
  readonly text: string
}

interface Note {
  readonly at: string
  readonly text: string
}

const searchArticles = retriever('search_articles', async ({ query, limit }: { query: string; limit: number }) =>
  call('GET', `/articles?q=${encodeURIComponent(query)}&limit=${limit}`),
)

const tools: Anthropic.Tool[] = [
  { name: 'get_account', description: 'Plan and region', input_schema: { type: 'object', properties: {} } },
  { name: 'search_articles', description: 'Help articles', input_schema: { type: 'object', properties: {} } },
  { name: 'set_priority', description: 'low, normal or high', input_schema: { type: 'object', properties: {} } },
  { name: 'assign', description: 'A team', input_schema: { type: 'object', properties: {} } },
  { name: 'reply', description: 'Text to the customer', input_schema: { type: 'object', properties: {} } },
]

const maxNotes = 5
const maxTurns = 8

/** Reads what is remembered of a customer, then lets the model sort the ticket. Streams. */
export async function agent(ticket: Ticket): Promise<{ readonly summary: string; readonly steps: readonly string[] }> {
  const notes = (await call('GET', `/memory/${ticket.customer}`)) as Note[]
  const newest = notes.toSorted((a, b) => b.at.localeCompare(a.at)).slice(0, maxNotes)
  const remembered = newest.map(({ at, text }) => `- ${at}: ${text}`).join('\n')
  const messages: Anthropic.MessageParam[] = [
    {
      role: 'user',
      content: `Ticket ${ticket.id} of ${ticket.customer}:\n${ticket.text}\n\nWhat we know of them:\n${remembered}`,
    },
  ]
  const steps: string[] = []
  for (let turn = 0; turn < maxTurns; turn++) {
    const stream = client.messages.stream({
      model: 'claude-sonnet-5',
      max_tokens: 1_000,
      system: 'You sort support tickets. Set priority and team, then reply.',
      messages,
      tools,
    })
    const { content } = await stream.finalMessage()
    const uses = content.filter((block) => block.type === 'tool_use')
    if (uses.length === 0) {
      const summary = content.map((block) => (block.type === 'text' ? block.text : '')).join('')
      await call('POST', '/memory', { customer: ticket.customer, text: `${ticket.id}: ${steps.join(', ')}` })
      return { summary, steps }
    }
    const results: Anthropic.ToolResultBlockParam[] = []
    for (const { id, name, input } of uses) {
      results.push({ type: 'tool_result', tool_use_id: id, content: await runTool(name, input as Args) })
      steps.push(name)
    }
    messages.push({ role: 'assistant', content }, { role: 'user', content: results })
  }
  throw new Error(`no end after ${maxTurns} turns`)

  async function runTool(name: string, args: Args): Promise<string> {
    try {
      return JSON.stringify(await dispatch(name, args))
    } catch (error) {
      return `failed: ${(error as Error).message}`
    }
  }

  async function dispatch(name: string, args: Args): Promise<unknown> {
    if (name === 'get_account') return call('GET', `/accounts/${args['customer']}`)
    if (name === 'search_articles') return searchArticles({ query: args['query']!, limit: 3 })
    if (name === 'set_priority') return call('PUT', `/tickets/${ticket.id}/priority`, { priority: args['priority'] })
    if (name === 'assign') return call('PUT', `/tickets/${ticket.id}/team`, { team: args['team'] })
    if (name === 'reply') return call('POST', `/tickets/${ticket.id}/replies`, { text: args['text'], public: true })
    throw new Error(`no tool ${name}`)
  }
}

type Args = Record<string, string>

async function call(method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${gateway}/api${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}`)
  return response.json()
}
