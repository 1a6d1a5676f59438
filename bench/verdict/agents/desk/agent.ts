// The support desk: plain fetch to a model, and a customer service with credentials.
interface Ticket {
  readonly id: string
  readonly customer: string
  readonly text: string
  readonly history: readonly { readonly role: 'user' | 'assistant'; readonly text: string }[]
}

interface Message {
  readonly role: string
  readonly content?: string | null
  readonly tool_call_id?: string
  readonly tool_calls?: readonly {
    readonly id: string
    readonly function: { readonly name: string; readonly arguments: string }
  }[]
}

const endpoint = 'https://api.openai.com/v1/chat/completions'
const crm = 'https://crm.acme.example/api'
const tenant = 'acme-eu'

const instructions =
  'You are the support desk of Acme. Never promise a refund above 100 EUR. Always answer in the language of the customer. Escalate to Priya Nair when a lawyer is mentioned. Close a ticket only after the customer has agreed.'

const tools = [
  {
    type: 'function',
    function: {
      name: 'add_note',
      description: 'Adds an internal note to the ticket. Customers never see it.',
      parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    },
  },
  {
    type: 'function',
    function: {
      name: 'escalate',
      description: 'Hands the ticket to a person of the second line.',
      parameters: {
        type: 'object',
        properties: { to: { type: 'string' }, urgent: { type: 'boolean' } },
        required: ['to'],
      },
    },
  },
]

/** Answers a ticket, with notes and escalations in the customer service. */
export async function agent(ticket: Ticket): Promise<string> {
  const customer = (await crmCall('GET', `/customers/${ticket.customer}`)) as { name: string; plan: string }
  const earlier = ticket.history.map(({ role, text }) => ({ role, content: text }))
  const messages: Message[] = [
    { role: 'system', content: instructions },
    ...earlier,
    { role: 'user', content: `Ticket ${ticket.id} of ${customer.name}, ${customer.plan} plan: ${ticket.text}` },
  ]
  for (let turn = 0; turn < 6; turn++) {
    const message = await complete(messages)
    messages.push(message)
    if (message.tool_calls === undefined) {
      await crmCall(
        'POST',
        `/tickets/${ticket.id}/replies`,
        { text: message.content, public: true },
        `reply-${ticket.id}`,
      )
      return message.content ?? ''
    }
    for (const call of message.tool_calls) {
      const args = JSON.parse(call.function.arguments) as { text?: string; to?: string; urgent?: boolean }
      const result = await run(call.function.name, args)
      messages.push({ role: 'tool', tool_call_id: call.id, content: JSON.stringify(result) })
    }
  }
  throw new Error('no answer after 6 turns')

  function run(name: string, args: { text?: string; to?: string; urgent?: boolean }): Promise<unknown> {
    if (name === 'add_note')
      return crmCall('POST', `/tickets/${ticket.id}/notes`, { text: args.text }, `note-${ticket.id}`)
    return crmCall('PUT', `/tickets/${ticket.id}/owner`, { owner: args.to, urgent: args.urgent ?? false })
  }
}

async function complete(messages: readonly Message[]): Promise<Message> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${process.env['OPENAI_API_KEY'] ?? 'sk-not-a-key'}`,
      'openai-organization': 'org-acme',
    },
    body: JSON.stringify({ model: 'gpt-5-mini', temperature: 0.2, max_tokens: 400, seed: 7, messages, tools }),
  })
  if (!response.ok) throw new Error(`model: ${response.status}`)
  const { choices } = (await response.json()) as { choices: [{ message: Message }] }
  return choices[0].message
}

async function crmCall(method: string, path: string, body?: object, key?: string): Promise<unknown> {
  const headers: Record<string, string> = {
    accept: 'application/json',
    authorization: `Bearer ${process.env['CRM_TOKEN'] ?? 'crm-not-a-token'}`,
    'x-tenant-id': tenant,
  }
  if (body !== undefined) headers['content-type'] = 'application/json'
  if (key !== undefined) headers['idempotency-key'] = key
  const response = await fetch(`${crm}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`)
  return response.json()
}
