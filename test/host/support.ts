import { encodeValue, type TapeEvent } from '../../src/tape/index.ts'
import { golden, tapeText } from './refund.ts'

/** An agent of two model calls and a tool, with its prompt in a file of its own, as files of an inline project. */
export const supportSources = {
  'src/prompt.ts': `export const prompt = 'You answer customers. Refund at most 100 EUR without asking.'\n`,
  'src/support.ts': `import { tool } from 'vitest-harvest/record'
import { prompt } from './prompt.ts'
import { settings, greeting, tools } from './settings.ts'

const refund = tool('refund', async (order: { order: string; amount: number }) => 'ok')

async function ask(messages: readonly object[]): Promise<any> {
  const answer = await fetch('https://api.openai.com/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer key' },
    body: JSON.stringify({ model: 'gpt-4.1', ...settings, tools, messages: [{ role: 'system', content: prompt }, ...messages] }),
  })
  return (await answer.json()).choices[0].message
}

export async function support({ order }: { order: string }) {
  const told = [{ role: 'user', content: greeting + order }]
  const call = await ask(told)
  const args = JSON.parse(call.tool_calls[0].function.arguments)
  const result = await refund(args)
  const said = await ask([...told, call, { role: 'tool', tool_call_id: call.tool_calls[0].id, content: result }])
  return { said: said.content }
}
`,
  'src/settings.ts': `export const settings = {}
export const greeting = 'Please help with order '
export const tools = [{ type: 'function', function: { name: 'refund', description: 'Pays money back', parameters: {} } }]
`,
} as const

const url = 'https://api.openai.com/v1/chat/completions'

/** The events of one run of it. */
export function supportEvents(order: string): readonly TapeEvent[] {
  const system = { role: 'system', content: 'You answer customers. Refund at most 100 EUR without asking.' }
  const user = { role: 'user', content: `Please help with order ${order}` }
  const args = { order, amount: 25 }
  const call = {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'refund', arguments: JSON.stringify(args) } }],
  }
  const result = { role: 'tool', tool_call_id: 'call_1', content: 'ok' }
  const tools = [{ type: 'function', function: { name: 'refund', description: 'Pays money back', parameters: {} } }]
  const asked = (n: number, at: number, messages: readonly object[], message: object): TapeEvent => ({
    kind: 'exchange',
    n,
    at,
    via: 'undici',
    method: 'POST',
    url,
    request: {
      headers: [['content-type', 'application/json']],
      body: JSON.stringify({ model: 'gpt-4.1', tools, messages: [system, ...messages] }),
    },
    response: {
      moment: [n + 1, at + 5],
      status: 200,
      headers: [['content-type', 'application/json']],
      chunks: [[n + 2, at + 6, JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] })]],
      end: [n + 3, at + 6],
    },
  })
  return [
    asked(1, 0, [user], call),
    { kind: 'tool', n: 5, at: 10, name: 'refund', args: encodeValue(args), settled: [6, 20], result: 'ok' },
    asked(7, 21, [user, call, result], { role: 'assistant', content: `Refunded ${order}.` }),
  ]
}

/** A case of it and its tape. */
export function supportCase(id: string, order = id.toUpperCase(), more = ''): Record<string, string> {
  const baseline = `baseline:\n  - refund(amount, order)\noutcome: { said: 'Refunded ${order}.' }\n`
  return golden(id, `${more}${baseline}`, supportSketch(order))
}

function supportSketch(order: string): Parameters<typeof tapeText>[1] & object {
  return {
    agent: 'support',
    input: { order },
    returned: { said: `Refunded ${order}.` },
    events: supportEvents(order),
  }
}

/** Its tape alone. */
export function supportTape(id: string, order = id.toUpperCase()): string {
  return tapeText(id, supportSketch(order))
}
