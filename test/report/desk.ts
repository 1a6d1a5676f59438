import { parseTape, type Tape, type TapeEvent } from '../../src/tape/index.ts'
import { runOf } from '../../src/report/run.ts'
import type { Opened } from '../../src/report/diff/facts.ts'
import type { ReportBlame } from '../../src/report/view/types.ts'
import { type TapeParts, tapeText } from '../recordings/tape-text.ts'

interface Said {
  readonly text?: string
  readonly calls?: readonly { readonly name: string; readonly args: object }[]
  readonly status?: number
  readonly logprobs?: readonly (readonly [token: string, logprob: number])[]
}

type ChatMessage = Readonly<Record<string, unknown>>

/** A chat completion: what was asked and what came back, at moment `n`. */
export function chat(
  n: number,
  system: string,
  messages: readonly ChatMessage[],
  said: Said,
  model = 'gpt-5',
): TapeEvent {
  const { text = null, calls = [], status = 200, logprobs } = said
  const message = {
    role: 'assistant',
    content: text,
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(toolCall) }),
  }
  const answer =
    status === 200
      ? {
          model,
          choices: [
            {
              index: 0,
              message,
              finish_reason: calls.length === 0 ? 'stop' : 'tool_calls',
              ...(logprobs && { logprobs: { content: logprobs.map(([token, logprob]) => ({ token, logprob })) } }),
            },
          ],
          usage: { prompt_tokens: 100 + messages.length, completion_tokens: 20, total_tokens: 120 + messages.length },
        }
      : { error: { message: 'Rate limit reached', type: 'rate_limit_error' } }
  const tools = [{ type: 'function', function: { name: 'refund', parameters: { type: 'object' } } }]
  return {
    kind: 'exchange',
    n,
    at: n * 10,
    via: 'undici',
    method: 'POST',
    url: 'https://api.openai.com/v1/chat/completions',
    request: {
      headers: [['content-type', 'application/json']],
      body: JSON.stringify({
        model,
        messages: [{ role: 'system', content: system }, ...messages],
        tools,
        temperature: 0,
      }),
    },
    response: {
      moment: [n + 1, n * 10 + 5],
      status,
      headers: [['content-type', 'application/json']],
      chunks: [[n + 2, n * 10 + 8, JSON.stringify(answer)]],
      end: [n + 3, n * 10 + 8],
    },
  }
}

function toolCall({ name, args }: { readonly name: string; readonly args: object }, index: number): object {
  return { id: `call_${name}_${index}`, type: 'function', function: { name, arguments: JSON.stringify(args) } }
}

export function tool(
  n: number,
  name: string,
  args: object,
  result: object,
  kind: 'tool' | 'retrieval' = 'tool',
): TapeEvent {
  return { kind, n, at: n * 10, name, args: args as never, settled: [n + 1, n * 10 + 4], result: result as never }
}

const message = (n: number, from: string, to: string, body: string): TapeEvent => ({
  kind: 'message',
  n,
  at: n * 10,
  from,
  to,
  body,
})

const triage = 'You are the triage agent. Answer the customer.'
const policy = 'You know the policy.'
const billing = 'You are the billing specialist. Tell amounts in EUR.'
const question = 'Please refund order A-100, it arrived broken.'
const ask = 'May a broken item be refunded in Germany?'
const check = 'What was paid for A-100?'

/**
 * A run of three agents: triage asks policy, whose first call meets a rate limit, then billing, which misreads an amount.
 * The other run is the good one: without the rate limit, and with the right amount.
 */
export function deskEvents({ isBad = true }: { readonly isBad?: boolean } = {}): readonly TapeEvent[] {
  const amount = isBad ? 2500 : 25
  const paid = isBad ? 'Order A-100 was paid with 2500 EUR.' : 'Order A-100 was paid with 25.00 EUR.'
  const user = { role: 'user', content: question }
  const policyAsked = [{ role: 'user', content: `${ask}\n\nPassages: broken items are refunded in 30 days` }]
  const lookup = { name: 'lookup_order', args: { order_id: 'A-100' } }
  const looked = [
    { role: 'user', content: check },
    { role: 'assistant', content: null, tool_calls: [toolCall(lookup, 0)] },
    { role: 'tool', tool_call_id: 'call_lookup_order_0', content: '{"order_id":"A-100","paid_minor":2500}' },
  ]
  const told = [user, { role: 'user', content: `policy: yes\nbilling: ${paid}` }]
  const refund = { name: 'refund', args: { order_id: 'A-100', amount } }
  return [
    chat(1, triage, [user], { text: 'I ask policy and billing.' }),
    message(10, 'triage', 'policy', ask),
    tool(11, 'search_policy', { query: ask }, { passages: ['broken items are refunded in 30 days'] }, 'retrieval'),
    ...(isBad ? [chat(20, policy, policyAsked, { status: 429 }, 'gpt-5-nano')] : []),
    chat(30, policy, policyAsked, { text: 'Yes, within 30 days.' }, 'gpt-5-nano'),
    message(39, 'policy', 'triage', 'Yes, within 30 days.'),
    message(40, 'triage', 'billing', check),
    chat(41, billing, looked.slice(0, 1), { calls: [lookup] }, 'gpt-5-mini'),
    tool(50, 'lookup_order', lookup.args, { order_id: 'A-100', paid_minor: 2500 }),
    chat(
      60,
      billing,
      looked,
      {
        text: paid,
        logprobs: [
          ['2500', Math.log(0.42)],
          [' EUR', Math.log(0.99)],
        ],
      },
      'gpt-5-mini',
    ),
    message(69, 'billing', 'triage', paid),
    chat(70, triage, told, { calls: [refund] }),
    tool(80, 'refund', refund.args, { refunded: amount }),
    chat(
      90,
      triage,
      [
        ...told,
        { role: 'assistant', content: null, tool_calls: [toolCall(refund, 0)] },
        { role: 'tool', tool_call_id: 'call_refund_0', content: `{"refunded":${amount}}` },
      ],
      { text: `I refunded ${amount} EUR.` },
    ),
  ]
}

export function tapeOf(parts: TapeParts, source = 'desk.tape.jsonl'): Tape {
  return parseTape(tapeText(parts), source)
}

export function opened(tape: Tape): Opened {
  return { tape, run: runOf(tape, {}) }
}

export function deskTape(isBad = true): Tape {
  return tapeOf({
    header: { id: isBad ? 'desk-bad' : 'desk-good', agent: 'desk' },
    events: deskEvents({ isBad }),
    close: { outcome: { status: 'returned', value: { refunded: isBad ? 2500 : 25 } } },
  })
}

/** Blame of the bad run, as `blame --json` prints it. */
export const deskBlame: ReportBlame = {
  recorded: 'bad',
  gradedBy: 'refunded=25',
  delta: 0.05,
  tau: 0.2,
  tail: 'noisy',
  spent: { forks: 96, modelCalls: 260, costUsd: 0.21 },
  verdict: {
    kind: 'confirmed',
    commitments: [
      { position: 5, how: 'certified', resampled: { ok: 11, forks: 16 }, kept: { ok: 0, forks: 16 }, alpha: 0.0125 },
    ],
  },
  steps: Array.from({ length: 9 }, (_, position) => {
    const isIt = position === 5
    const ok = position <= 5 ? 19 : 0
    return {
      position,
      steps: position === 2 ? [3, 4] : [position < 2 ? position + 1 : position + 2],
      label: isIt ? 'the model\'s answer "Order A-100 was paid with 2500 EUR."' : `position ${position}`,
      resampled: { ok, failed: 36 - ok },
      value: ok / 36,
      sequence: { low: Math.max(0, ok / 36 - 0.2), high: Math.min(1, ok / 36 + 0.2) },
      drop: isIt ? 0.53 : 0,
      display: { low: isIt ? 0.31 : -0.2, high: isIt ? 0.68 : 0.2 },
      ...(isIt ? { commitment: 'certified' } : {}),
    }
  }),
  methods: { sequence: 'Beta(1/2, 1/2) mixture confidence sequence, 95 %' },
}
