import { parseTape, type Json, type Outcome, type Tape, type TapeEvent } from '../../src/tape/index.ts'
import { tapeText } from '../recordings/tape-text.ts'

/** One turn of the refund desk: what its model decided, or said, and what its tools answered. */
export type Turn =
  | { readonly calls: readonly ToolTurn[]; readonly model?: string }
  | { readonly say: string; readonly model?: string }

export interface ToolTurn {
  readonly name: string
  readonly args: { readonly [key: string]: Json }
  readonly result?: Json
}

/**
 * The tape of a run whose model is asked in turns and whose tools of one turn run side by side. Every model call uses 1,000
 * tokens in per turn so far and 10 out.
 */
export function refundRun(
  turns: readonly Turn[],
  { id = 'run', outcome }: { readonly id?: string; readonly outcome?: Outcome } = {},
): Tape {
  let n = 0
  const events: TapeEvent[] = []
  const messages: Json[] = [{ role: 'user', content: 'Refund A-100.' }]
  for (const [index, turn] of turns.entries()) {
    const model = turn.model ?? 'gpt-4o'
    const calls = 'calls' in turn ? turn.calls : []
    const message: Json = {
      role: 'assistant',
      content: 'say' in turn ? turn.say : null,
      ...(calls.length === 0
        ? {}
        : {
            tool_calls: calls.map(({ name, args }, at) => ({
              id: `call_${index}_${at}`,
              type: 'function',
              function: { name, arguments: JSON.stringify(args) },
            })),
          }),
    }
    const usage = { prompt_tokens: 1000 * (index + 1), completion_tokens: 10 }
    const body = JSON.stringify({ id: 'c', object: 'chat.completion', model, choices: [{ index: 0, message }], usage })
    const issued = n++
    events.push({
      kind: 'exchange',
      n: issued,
      at: issued,
      via: 'undici',
      method: 'POST',
      url: 'https://api.openai.com/v1/chat/completions',
      request: { headers: [['content-type', 'application/json']], body: JSON.stringify({ model, messages }) },
      response: {
        moment: [n, n++],
        status: 200,
        headers: [['content-type', 'application/json']],
        chunks: [[n, n++, body]],
        end: [n, n++],
      },
    })
    messages.push(message)
    const first = n
    n += calls.length
    for (const [at, { name, args, result }] of calls.entries()) {
      const settled = n++
      events.push({
        kind: 'tool',
        n: first + at,
        at: first + at,
        name,
        args,
        settled: [settled, settled],
        ...(result === undefined ? {} : { result }),
      })
      messages.push({ role: 'tool', tool_call_id: `call_${index}_${at}`, content: JSON.stringify(result ?? null) })
    }
  }
  const last = turns.at(-1)
  const returned: Outcome = { status: 'returned', value: { answer: last && 'say' in last ? last.say : null } }
  return parseTape(
    tapeText({
      header: { id, input: { text: 'Refund A-100.' } },
      events: events.sort((a, b) => a.n - b.n),
      close: { n, outcome: outcome ?? returned },
    }),
    id,
  )
}

/** Looks the order and the policy up side by side, refunds an amount, says so. */
export function refundOf(amount: number, options: { readonly id?: string; readonly outcome?: Outcome } = {}): Tape {
  return refundRun(
    [
      {
        calls: [
          { name: 'lookup_order', args: { order_id: 'A-100' }, result: { order_id: 'A-100', total: 25, paid: true } },
          { name: 'refund_policy', args: { country: 'DE' }, result: { country: 'DE', days: 30 } },
        ],
      },
      { calls: [{ name: 'refund', args: { order_id: 'A-100', amount }, result: { refunded: amount } }] },
      { say: `I refunded ${amount} EUR.` },
    ],
    options,
  )
}
