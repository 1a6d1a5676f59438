import { encodeValue, type TapeClose, type TapeEvent } from '../../src/tape/index.ts'
import type { VerdictName } from '../../src/replay/index.ts'

/** An agent of two model calls, a tool, a service and a message; each scenario edits its own copy. */
const agent = `import { message, tool } from 'vitest-harvest/record'

const system = 'You answer customers. Refund at most 100 EUR without asking.'
const greeting = 'Please help with order '
const settings = { temperature: 0.5 }
const tools = [{ type: 'function', function: { name: 'refund', description: 'Pays money back', parameters: {} } }]
const refund = tool('refund', async (order: object) => 'ok')
const escalate = tool('escalate', async (order: object) => 'ok')

async function ask(messages: readonly object[]): Promise<any> {
  const address = process.env.MODEL_URL ?? 'https://api.openai.com'
  const answer = await fetch(address + '/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4.1', ...settings, tools, messages: [{ role: 'system', content: system }, ...messages] }),
  })
  return (await answer.json()).choices[0].message
}

export async function support({ order }: { order: string }) {
  const told = [{ role: 'user', content: greeting + order }]
  const call = await ask(told)
  const result = await refund(JSON.parse(call.tool_calls[0].function.arguments))
  const shop = await fetch('https://shop.example/orders', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer key-of-this-machine' },
    body: JSON.stringify({ order }),
  })
  await shop.text()
  message('desk', 'worker', { refunded: order })
  const said = await ask([...told, call, { role: 'tool', tool_call_id: call.tool_calls[0].id, content: result }])
  return { said: said.content }
}
`

/** One way in which an agent differs from its tape, and what every command has to say about it. */
export interface Scenario {
  readonly id: string
  readonly verdict: VerdictName
  readonly edits: readonly (readonly [from: string, to: string])[]
  /** Lines of its case. */
  readonly more?: string
  /** The recorded run, where it is another one. */
  readonly tape?: 'import' | 'placeholder'
  /** Nothing differs and everything was compared. */
  readonly isExact?: true
  /** With live models: their answers are what is judged, not the question. Default: `same` for `unproven`. */
  readonly live?: VerdictName
  /** As a new case, which has neither the policy nor the acceptance of this one. */
  readonly promoted?: VerdictName
}

const prompt = (to: string) => [['at most 100 EUR', `at most ${to} EUR`]] as const
const says = [['return { said: said.content }', `return { said: 'no' }`]] as const

export const scenarios: readonly Scenario[] = [
  { id: 'same', verdict: 'same', edits: [], isExact: true },
  { id: 'refactored', verdict: 'same', edits: [['const told', 'const unused = 1\n  const told']], isExact: true },
  { id: 'accepted', verdict: 'same', edits: prompt('120') },
  {
    id: 'spelling',
    verdict: 'same',
    edits: [['content: greeting + order', `content: [{ type: 'text', text: greeting + order }]`]],
  },
  {
    id: 'not-judged',
    verdict: 'same',
    edits: prompt('130'),
    more: `drift: { instructions: report }\n`,
    promoted: 'unproven',
  },
  {
    id: 'ignored',
    verdict: 'same',
    edits: prompt('140'),
    more: `drift: { instructions: ignore }\n`,
    promoted: 'unproven',
  },
  {
    id: 'not-compared',
    verdict: 'same',
    edits: [['await refund(JSON', `await refund({ to: 'desk@shop.example' } ?? JSON`]],
    tape: 'placeholder',
  },
  {
    id: 'imported',
    verdict: 'same',
    // No other tool records messages between agents.
    edits: [[`  message('desk', 'worker', { refunded: order })\n`, '']],
    tape: 'import',
  },
  { id: 'known-bad', verdict: 'same', edits: [], more: 'expect: fail\n', isExact: true },
  { id: 'trace', verdict: 'different', edits: [['await refund(', 'await escalate(']], live: 'different' },
  { id: 'outcome', verdict: 'different', edits: says, live: 'different' },
  {
    id: 'throws',
    verdict: 'different',
    edits: [['return { said', `throw new TypeError('no stock')\n  return { said`]],
    live: 'different',
  },
  {
    id: 'arguments',
    verdict: 'different',
    edits: [['await refund(JSON', 'await refund({ amount: 26 } ?? JSON']],
    live: 'different',
  },
  { id: 'recipient', verdict: 'different', edits: [[`'worker'`, `'auditor'`]], live: 'same' },
  {
    id: 'credential',
    verdict: 'different',
    edits: [[`, authorization: 'Bearer key-of-this-machine'`, '']],
    live: 'same',
  },
  {
    id: 'destination',
    verdict: 'different',
    edits: [['https://shop.example', 'https://other.example']],
    live: 'same',
  },
  { id: 'both', verdict: 'different', edits: [...prompt('150'), ...says], live: 'different' },
  { id: 'fixed', verdict: 'different', edits: says, more: 'expect: fail\n', live: 'different' },
  { id: 'instructions', verdict: 'unproven', edits: prompt('160') },
  { id: 'tools', verdict: 'unproven', edits: [['Pays money back', 'Pays money']] },
  { id: 'params', verdict: 'unproven', edits: [['temperature: 0.5', 'temperature: 0.7']] },
  { id: 'user-message', verdict: 'unproven', edits: [['Please help with order ', 'Help with order ']] },
  {
    id: 'headers',
    verdict: 'unproven',
    edits: [
      [
        `'content-type': 'application/json' },\n    body: JSON.stringify({ model`,
        `'content-type': 'application/json', 'openai-beta': 'assistants=v2' },\n    body: JSON.stringify({ model`,
      ],
    ],
  },
  { id: 'endpoint', verdict: 'unproven', edits: [['https://api.openai.com', 'https://eu.api.openai.com']] },
  { id: 'whitespace', verdict: 'unproven', edits: [['customers. Refund', 'customers.  Refund']] },
  { id: 'known-bad-asks', verdict: 'unproven', edits: prompt('170'), more: 'expect: fail\n' },
]

/** @throws Error for an edit that finds nothing: its scenario would be another one */
export function agentOf({ id, edits }: Scenario): string {
  return edits.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`${id}: the agent has no ${from}`)
    return text.replace(from, () => to)
  }, agent)
}

const url = 'https://api.openai.com/v1/chat/completions'
const order = 'A-1'
const said = `Refunded ${order}.`
const json = [['content-type', 'application/json']] as const

export const toolCall = (args: object) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'refund', arguments: JSON.stringify(args) } }],
})
export const finalAnswer = { role: 'assistant', content: said }

/** What the model decides for the tool. */
export const refundArguments = { order, amount: 25 }

export const baseline = `baseline:\n  - refund(*)\noutcome: { said: '${said}' }\n`

export interface Recorded {
  readonly input: { readonly order: string }
  readonly events: readonly TapeEvent[]
  readonly outcome: TapeClose['outcome']
}

/** The recorded run. */
export function recorded({ tape }: Scenario): Recorded {
  const args = tape === 'placeholder' ? { to: 'redacted-1@email.invalid' } : refundArguments
  const user = { role: 'user', content: `Please help with order ${order}` }
  const call = toolCall(refundArguments)
  const result = { role: 'tool', tool_call_id: 'call_1', content: 'ok' }
  const exchange = (
    n: number,
    to: string,
    headers: readonly (readonly [string, string])[],
    body: object,
    answer: object,
  ): TapeEvent => ({
    kind: 'exchange',
    n,
    at: n,
    via: 'undici',
    method: 'POST',
    url: to,
    request: { headers, body: JSON.stringify(body) },
    response: {
      moment: [n + 1, n + 0.1],
      status: 200,
      headers: json,
      chunks: [[n + 2, n + 0.2, JSON.stringify(answer)]],
      end: [n + 3, n + 0.2],
    },
  })
  const asked = (n: number, messages: readonly object[], message: object): TapeEvent =>
    exchange(
      n,
      url,
      json,
      {
        model: 'gpt-4.1',
        temperature: 0.5,
        tools: [{ type: 'function', function: { name: 'refund', description: 'Pays money back', parameters: {} } }],
        messages: [
          { role: 'system', content: 'You answer customers. Refund at most 100 EUR without asking.' },
          ...messages,
        ],
      },
      { choices: [{ message, finish_reason: 'stop' }] },
    )
  const handOver: TapeEvent = {
    kind: 'message',
    n: 11,
    at: 11,
    from: 'desk',
    to: 'worker',
    body: { refunded: order },
  }
  const shop = exchange(7, 'https://shop.example/orders', [...json, ['authorization', 'Bearer [key-1]']], { order }, {})
  return {
    input: { order },
    events: [
      asked(1, [user], call),
      { kind: 'tool', n: 5, at: 5, name: 'refund', args: encodeValue(args), settled: [6, 6], result: 'ok' },
      shop,
      ...(tape === 'import' ? [] : [handOver]),
      asked(12, [user, call, result], finalAnswer),
    ],
    outcome: tape === 'import' ? { status: 'unknown' } : { status: 'returned', value: encodeValue({ said }) },
  }
}
