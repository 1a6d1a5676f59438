import { configFor } from '../cli/project.ts'

/** The agents of a shop, as their team wrote them. `refund` pays twice when the bank is slow: the bug of the story. */
const agents = `import { tool } from 'vitest-harvest/record'

interface Ticket { id: string; text: string; order_id: string; slow?: boolean }

const lookupOrder = tool('lookup_order', async (order: { order_id: string }) => ({ total: 25 }))
const refundPolicy = tool('refund_policy', async (order: { order_id: string }) => ({ days: 30 }))
const refund = tool('refund', async (order: { order_id: string; amount: number }) => ({ paid: order.amount }))
const escalate = tool('escalate', async (ticket: { id: string }) => ({ queue: 'people' }))

async function ask(messages: object[], order_id: string) {
  const response = await fetch((process.env.MODEL_URL ?? 'https://api.openai.com') + '/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o', messages, user: order_id }),
  })
  if (!response.ok) throw new Error('the model answered ' + response.status)
  return (await response.json()).choices[0].message.content as string
}

export async function refundAgent({ text, order_id, slow }: Ticket) {
  const messages: object[] = [{ role: 'user', content: text }]
  const plan = await ask(messages, order_id)
  if (plan !== 'refund') return { answer: plan }
  const [order, policy] = await Promise.all([lookupOrder({ order_id }), refundPolicy({ order_id })])
  if (policy.days < 1) return { answer: 'too late' }
  await refund({ order_id, amount: 25 })
  if (slow) await refund({ order_id, amount: 25 })
  messages.push({ role: 'assistant', content: plan })
  return { answer: await ask(messages, order_id) }
}

export async function triageAgent({ id, text, order_id }: Ticket) {
  const plan = await ask([{ role: 'system', content: 'Who is to answer?' }, { role: 'user', content: text }], order_id)
  return plan === 'escalate' ? escalate({ id }) : { plan }
}

export async function answerAgent({ text, order_id }: Ticket) {
  return { answer: await ask([{ role: 'system', content: 'Be brief.' }, { role: 'user', content: text }], order_id) }
}
`

/** The service: POST /refund, /triage and /answer with a ticket; says its port on stdout, ends with its stdin. */
const service = `import { createServer } from 'node:http'
import { createRecorder } from 'vitest-harvest/record'
import { answerAgent, refundAgent, triageAgent } from './agents.ts'

const recorder = createRecorder({
  commit: process.env.GIT_SHA,
  sample: 0.05,
  keep: { tools: ['escalate'] },
})
const agents = { refund: refundAgent, triage: triageAgent, answer: answerAgent }

const server = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk) => (body += chunk))
  request.on('end', async () => {
    const ticket = JSON.parse(body)
    const name = request.url!.slice(1) as keyof typeof agents
    try {
      const answer = await recorder.run({ agent: name, id: ticket.id, input: ticket }, async () => {
        const answered = await agents[name](ticket)
        if (ticket.slow) recorder.flag('the customer was paid twice')
        return answered
      })
      response.end(JSON.stringify(answer))
    } catch (error) {
      response.statusCode = 500
      response.end(String(error))
    }
  })
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as { port: number }).port))
process.stdin.on('end', () => process.exit()).resume()
`

/** The files of the shop's repository. */
export const shop: Readonly<Record<string, string>> = {
  'src/agents.ts': agents,
  'src/service.ts': service,
  'vitest.config.ts': configFor({
    refund: './src/agents.ts#refundAgent',
    triage: './src/agents.ts#triageAgent',
    answer: './src/agents.ts#answerAgent',
  }),
  '.gitignore': 'node_modules/\nrecordings/inbox/\n.vitest/\n',
}

/** One ticket of a day. */
export interface Ticket {
  readonly id: string
  readonly agent: 'refund' | 'triage' | 'answer'
  readonly text: string
  readonly order_id: string
  readonly slow?: true
  readonly isIncident: boolean
}

/** A day of tickets: mostly quiet ones, and twelve that went wrong in four ways. */
export function ticketsOfADay(count: number): readonly Ticket[] {
  const incidents = new Map<number, Partial<Ticket>>(
    ['slow', 'slow', 'slow', 'broken', 'broken', 'broken', 'broken', 'broken', 'angry', 'angry', 'angry', 'angry'].map(
      (kind, i) => [
        Math.floor(((i + 0.5) * count) / 12),
        kind === 'slow'
          ? { agent: 'refund', slow: true, text: 'Refund me.' }
          : kind === 'broken'
            ? { agent: 'answer', text: 'Make the model fail.' }
            : { agent: 'triage', text: 'I am angry.' },
      ],
    ),
  )
  const names = ['refund', 'triage', 'answer'] as const
  return Array.from({ length: count }, (_, i): Ticket => {
    const incident = incidents.get(i)
    return {
      id: `ticket-${String(i).padStart(4, '0')}`,
      agent: names[i % names.length] ?? 'answer',
      text: i % 3 === 0 ? 'Refund me.' : 'Where is my order?',
      order_id: `A-${i}`,
      isIncident: incident !== undefined,
      ...incident,
    }
  })
}
