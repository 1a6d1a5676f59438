/** The files of the two projects that are compared, as somebody would write them. */

/** The agent both of them test: looks the order up, refunds, answers with what the model says. Four steps. */
export const agent = `import OpenAI from 'openai'
import { tools } from 'vitest-harvest/record'

const client = new OpenAI({ apiKey: process.env.OPENAI_API_KEY ?? 'sk-not-a-key' })

const shop = tools({
  lookup_order: async ({ order_id }: { order_id: string }) => ({ order_id, total: 25, currency: 'EUR' }),
  refund: async ({ order_id, amount }: { order_id: string; amount: number }) => ({ order_id, refunded: amount }),
})

const offered = Object.keys(shop).map((name) => ({
  type: 'function' as const,
  function: { name, parameters: { type: 'object' } },
}))

export async function refundAgent(ticket: { text: string }) {
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: 'Look the order up first. Never refund more than its total.' },
    { role: 'user', content: ticket.text },
  ]
  const looked = await act(messages)
  const refunded = await act(messages)
  return { order: looked.order_id, refunded: refunded.refunded }
}

async function act(messages: OpenAI.ChatCompletionMessageParam[]): Promise<Record<string, unknown>> {
  const { choices } = await client.chat.completions.create({ model: 'gpt-5', messages, tools: offered })
  const { message } = choices[0]!
  messages.push(message)
  const call = message.tool_calls?.[0]
  if (call?.type !== 'function') throw new Error('the model called no tool')
  const run = shop[call.function.name as keyof typeof shop] as (args: unknown) => Promise<Record<string, unknown>>
  const result = await run(JSON.parse(call.function.arguments))
  messages.push({ role: 'tool', tool_call_id: call.id, content: JSON.stringify(result) })
  return result
}
`

/** Says what a case is about: as long for every number, so that a recording of one can be told of another. */
export function orderOf(n: number): string {
  return `A-${`${n}`.padStart(6, '0')}`
}

export function ticketOf(order: string): string {
  return `Please refund my order ${order}, it arrived broken.`
}

/** Records one run against a model on this machine. */
export const recordOnce = `import { createRecorder } from 'vitest-harvest/record'
import { refundAgent } from './src/refund-agent.ts'

const recorder = createRecorder({ dir: 'recordings/inbox' })
const input = { text: ${JSON.stringify(ticketOf(orderOf(0)))} }
console.log(await recorder.run({ agent: 'refund', input }, () => refundAgent(input)))
`

export const ourConfig = (isShared: boolean): string => `import { defineConfig } from 'vitest/config'
import { harvest } from 'vitest-harvest/plugin'

export default defineConfig({ plugins: [harvest({ ${isShared ? "isolate: 'none', " : ''}agents: { refund: './src/refund-agent.ts#refundAgent' } })] })
`

/** \`isolate: false\` is how our cases run; it is the faster way for the hand-written suite as well. */
export function handConfig(isolate: boolean, setupFiles: readonly string[] = ['./test/model.ts']): string {
  const setUp = `[${setupFiles.map((file) => `'${file}'`).join(', ')}]`
  return `import { defineConfig } from 'vitest/config'

export default defineConfig({ test: { include: ['test/**/*.test.ts'], isolate: ${isolate}, setupFiles: ${setUp} } })
`
}

/** What a person writes once: answers of the model by hand, in place of \`fetch\`, and what it was asked. */
export const handModel = `import { beforeEach } from 'vitest'

interface Asked {
  messages: { role: string; tool_calls?: { function: { name: string; arguments: string } }[] }[]
}

// Shared by all copies of this file in one worker: the client takes hold of fetch once.
const state = ((globalThis as { model?: { answers: unknown[]; asked: Asked[] } }).model ??= { answers: [], asked: [] })

globalThis.fetch = async (_url, init) => {
  state.asked.push(JSON.parse(String(init?.body)))
  const answer = state.answers.shift()
  if (answer === undefined) throw new Error('the agent asked once more')
  return Response.json(answer)
}

beforeEach(() => {
  state.answers = []
  state.asked = []
})

export function answers(...calls: [name: string, args: object][]) {
  state.answers = calls.map(([name, args], index) => ({
    id: \`chatcmpl-\${index}\`,
    object: 'chat.completion',
    created: 1_795_270_199,
    model: 'gpt-5',
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: \`call_\${index}\`, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
        },
      },
    ],
    usage: { prompt_tokens: 90, completion_tokens: 15, total_tokens: 105 },
  }))
  return {
    asked: state.asked,
    /** The tools the model was told the results of. */
    called: () =>
      state.asked.at(-1)!.messages.flatMap(({ tool_calls = [] }) =>
        tool_calls.map(({ function: { name, arguments: args } }) => [name, JSON.parse(args)]),
      ),
  }
}
`

const handHead = `import { expect, test } from 'vitest'
import { refundAgent } from '../../src/refund-agent.ts'
import { answers } from '../model.ts'
`

/** A hand-written test file with these cases in it. */
export function handTests(numbers: readonly number[]): string {
  return [handHead, ...numbers.map((n) => handTest(orderOf(n)))].join('\n')
}

function handTest(order: string): string {
  return `test('refund-${order}', async () => {
  const lookup = ['lookup_order', { order_id: '${order}' }] satisfies [string, object]
  const refund = ['refund', { order_id: '${order}', amount: 25 }] satisfies [string, object]
  const model = answers(lookup, refund)
  const result = await refundAgent({ text: '${ticketOf(order)}' })
  expect(result).toEqual({ order: '${order}', refunded: 25 })
  expect(model.asked).toHaveLength(2)
  expect(model.asked[0]!.messages.at(-1)).toEqual({ role: 'user', content: '${ticketOf(order)}' })
  expect(model.called()).toEqual([lookup])
})
`
}

/**
 * The least that any replay of a case does: its tape is read and every line of it verified, the agent is loaded afresh, and
 * what its client gets stands on the tape. Nothing is compared but what the agent returns.
 */
export const leastModel = (isShared: boolean): string => `import { vi } from 'vitest'
import { readTape } from 'vitest-harvest/tape'

interface Answer {
  headers: [string, string][]
  body: string
}

// Shared by all copies of this file in one worker: the client takes hold of fetch once.
const state = ((globalThis as { tape?: { answers: Answer[] } }).tape ??= { answers: [] })

globalThis.fetch = async () => {
  const { body, headers } = state.answers.shift()!
  return new Response(body, { headers })
}

export async function replay(file: string) {
  const { header, events, close } = readTape(file)
  state.answers = events.flatMap((event) => {
    if (event.kind !== 'exchange') return []
    const headers = event.response!.headers.filter(([name]) => name.startsWith('content-')) as [string, string][]
    return [{ headers, body: event.response!.chunks.map(([, , piece]) => piece).join('') }]
  })
${isShared ? '' : '  vi.resetModules()\n'}  const { refundAgent } = await import('../src/refund-agent.ts')
  return { returned: await refundAgent(header.input as { text: string }), recorded: close!.outcome }
}
`

export function leastTest(name: string, tape: string): string {
  return `import { expect, test } from 'vitest'
import { replay } from '../model.ts'

test('${name}', async () => {
  const { returned, recorded } = await replay(new URL('${tape}', import.meta.url).pathname)
  expect({ status: 'returned', value: returned }).toEqual(recorded)
})
`
}
