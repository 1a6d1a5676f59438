import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { run } from './harvest.ts'
import { configFor, project } from './project.ts'

interface Call {
  readonly tool: string
  readonly args: object
}

/** A text, and how sure the model is of its tokens. */
interface SureText {
  readonly text: string
  readonly logprobs: readonly (readonly [token: string, logprob: number])[]
}

/** A refusal, with what it says: nothing by default. */
interface Refusal {
  readonly status: number
  readonly message?: string
}

/** What the model of the desk says: text, tools it wants called, or that it does not answer. */
export type Decision = string | SureText | Call | readonly Call[] | Refusal

/** What else a question says. */
export interface DeskQuestion {
  readonly model: string
  /** Name and description of each tool. */
  readonly tools: readonly string[]
}

export interface Desk {
  readonly url: string
  /** Questions the model was asked so far. */
  readonly asked: { role: string; content?: unknown }[][]
  /** Questions without an answer whose asker is gone. */
  left: number
  /** The model that says it answered; absent: the one that was asked. */
  answeredBy?: string
  /** The id of an answer to these messages; absent: each has the same. */
  idOf?: (messages: readonly unknown[]) => string
  /** Called with the messages so far; decides what comes next. `undefined`: it never answers. */
  decide: (
    messages: readonly { readonly role: string; readonly content?: unknown }[],
    question: DeskQuestion,
  ) => Decision | undefined
  close(): Promise<void>
}

/** Ids as a cache in front of a provider gives them: the same question has the same answer. */
export function idsOfCache(): NonNullable<Desk['idOf']> {
  const ids = new Map<string, string>()
  return (messages) => {
    const asked = JSON.stringify(messages)
    const id = ids.get(asked) ?? `chatcmpl-${randomUUID()}`
    ids.set(asked, id)
    return id
  }
}

/** A chat-completions server on 127.0.0.1 whose decisions a test makes. */
export async function openDesk(decide: Desk['decide']): Promise<Desk> {
  const asked: { role: string; content?: unknown }[][] = []
  const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    const body: Buffer[] = []
    request.on('data', (chunk: Buffer) => body.push(chunk))
    request.on('end', () => {
      const {
        messages,
        model,
        tools = [],
      } = JSON.parse(Buffer.concat(body).toString()) as {
        messages: { role: string; content?: unknown }[]
        model: string
        tools?: readonly { readonly function: { readonly name: string; readonly description?: string } }[]
      }
      asked.push(messages)
      const named = tools.map(({ function: { name, description = '' } }) => `${name}: ${description}`)
      const decision = desk.decide(messages, { model, tools: named })
      if (decision === undefined) {
        response.once('close', () => (desk.left += 1))
        return
      }
      if (typeof decision === 'object' && 'status' in decision) {
        const { status, message } = decision
        response.writeHead(status).end(message === undefined ? '' : JSON.stringify({ error: { message } }))
        return
      }
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({
          ...completion(desk.answeredBy ?? model, decision),
          ...(desk.idOf && { id: desk.idOf(messages) }),
        }),
      )
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const desk: Desk = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    left: 0,
    decide,
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections()
        server.close(() => closed())
      }),
  }
  return desk
}

function completion(model: string, decided: Exclude<Decision, Refusal>): object {
  const isSure = typeof decided === 'object' && 'logprobs' in decided
  const decision = isSure ? decided.text : decided
  const content = isSure ? decided.logprobs.map(([token, logprob]) => ({ token, logprob })) : undefined
  const message =
    typeof decision === 'string'
      ? { role: 'assistant', content: decision }
      : {
          role: 'assistant',
          content: null,
          tool_calls: [decision].flat().map(({ tool, args }, at) => ({
            id: `call_${at + 1}`,
            type: 'function',
            function: { name: tool, arguments: JSON.stringify(args) },
          })),
        }
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }
  const choice = { index: 0, message, ...(content === undefined ? {} : { logprobs: { content } }) }
  return { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model, choices: [choice], usage }
}

/** Looks the order up before it refunds, when its model says so. The address of the model comes from the environment. */
export const deskAgent = `import { tools } from 'vitest-harvest/record'

const shop = tools({
  lookup_order: async ({ order_id }: { order_id: string }) => ({ order_id, total: 25 }),
  refund: async ({ order_id, amount }: { order_id: string; amount: number }) => ({ order_id, refunded: amount }),
})

export async function deskAgent(ticket: { text: string }) {
  const messages: any[] = [{ role: 'system', content: 'Look it up first.' }, { role: 'user', content: ticket.text }]
  for (;;) {
    const response = await fetch((process.env.DESK_URL ?? 'http://127.0.0.1:45999') + '/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o', messages }),
    })
    const { choices } = await response.json()
    const { message } = choices[0]
    messages.push(message)
    const [call] = message.tool_calls ?? []
    if (!call) return { answer: message.content }
    const result = await shop[call.function.name as keyof typeof shop](JSON.parse(call.function.arguments) as never)
    messages.push({ role: 'tool', tool_call_id: call.id, content: JSON.stringify(result) })
  }
}
`

/** A project with the desk's agent under the key `desk`. */
export function deskProject(): string {
  return project({
    'vitest.config.ts': configFor({ desk: './src/desk.ts#deskAgent' }),
    'src/desk.ts': deskAgent,
    'src/record.ts': `import { createRecorder } from 'vitest-harvest/record'
import { deskAgent } from './desk.ts'
const [id = 'first', text = 'Refund A-100.', commit = ''] = process.argv.slice(2)
const recorder = createRecorder(commit === '' ? {} : { commit })
const ticket = { text }
await recorder.run({ agent: 'desk', id, input: ticket }, () => deskAgent(ticket))
`,
  })
}

/** Records a run into the project's inbox. */
export async function recordDesk(cwd: string, desk: Desk, id = 'first', more: readonly string[] = []): Promise<void> {
  const { code, stderr } = await run(process.execPath, ['src/record.ts', id, ...more], {
    cwd,
    env: { DESK_URL: desk.url },
  })
  if (code !== 0) throw new Error(`recording failed: ${stderr}`)
}

/** Decides as {@link usual}, but for the refund of each so many-th run: that is of another amount, which no tape has. */
export function otherRefund(each: number): Desk['decide'] {
  let refunds = 0
  return (messages) => {
    const call = usual(messages)
    const isRefund = typeof call === 'object' && 'tool' in call && call.tool === 'refund'
    return isRefund && ++refunds % each === 0 ? { tool: 'refund', args: { order_id: 'A-100', amount: 26 } } : call
  }
}

/** The usual way: look the order up, refund its total, say so. */
export function usual(messages: readonly { readonly role: string }[]): Decision {
  const done = messages.filter(({ role }) => role === 'tool').length
  if (done === 0) return { tool: 'lookup_order', args: { order_id: 'A-100' } }
  if (done === 1) return { tool: 'refund', args: { order_id: 'A-100', amount: 25 } }
  return 'I refunded 25 EUR.'
}
