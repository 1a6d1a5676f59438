import type { ExchangeEvent } from '../../src/tape/index.ts'

export interface ModelCallParts {
  readonly model?: string
  /** Tools the model asks for. */
  readonly tools?: readonly string[]
  /** Input and output tokens; `null`: the answer does not tell. */
  readonly tokens?: readonly [input: number, output: number] | null
  readonly status?: number
}

/** A call of a chat model and its answer. */
export function modelCall(
  n: number,
  { model = 'invented-1', tools = [], tokens, status = 200 }: ModelCallParts = {},
): ExchangeEvent {
  const calls = tools.map((name, at) => ({ id: `call_${at}`, type: 'function', function: { name, arguments: '{}' } }))
  const message = { role: 'assistant', content: 'Done.', ...(calls.length > 0 && { tool_calls: calls }) }
  const [input, output] = tokens ?? [100, 10]
  const usage = tokens === null ? {} : { usage: { prompt_tokens: input, completion_tokens: output } }
  const answer =
    status === 200 ? { model, choices: [{ index: 0, message }], ...usage } : { error: { message: 'too many' } }
  return {
    kind: 'exchange',
    n,
    at: n,
    via: 'undici',
    method: 'POST',
    url: 'https://api.example/v1/chat/completions',
    request: {
      headers: [['content-type', 'application/json']],
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Refund?' }] }),
    },
    response: {
      moment: [n + 1, n + 1],
      status,
      headers: [['content-type', 'application/json']],
      chunks: [[n + 2, n + 2, JSON.stringify(answer)]],
      end: [n + 3, n + 2],
    },
  }
}
