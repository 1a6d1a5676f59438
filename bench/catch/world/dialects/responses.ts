import { BadRequest, type Dialect, type Heard } from '../types.ts'

interface Body {
  readonly model: string
  readonly instructions?: string
  readonly input: string | readonly Item[]
  readonly tools?: readonly { readonly name: string }[]
}

interface Item {
  readonly type?: string
  readonly role?: string
  readonly content?: string
  readonly call_id?: string
  readonly name?: string
  readonly arguments?: string
  readonly output?: string
}

/** OpenAI's responses. */
export const responses: Dialect = {
  read: (body) => {
    const { model, instructions = '', input, tools = [] } = body as Body
    const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input
    const calls = new Map(items.filter(({ type }) => type === 'function_call').map((item) => [item.call_id, item]))
    const open = new Set(calls.keys())
    const results = items.flatMap(({ type, call_id, output = '' }): readonly Heard[] => {
      const call = calls.get(call_id)
      if (type !== 'function_call_output' || call === undefined) return []
      open.delete(call_id)
      return [{ name: call.name ?? '', args: JSON.parse(call.arguments ?? '{}') as Heard['args'], text: output }]
    })
    if (open.size > 0) throw new BadRequest('No tool output found for function call')
    return {
      model,
      system: instructions,
      user: items.filter(({ role }) => role === 'user').map(({ content = '' }) => content),
      tools: tools.map(({ name }) => name),
      results,
    }
  },
  write(decision, body, id) {
    const message = (text: string) => ({
      id: id('msg_'),
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
    })
    return {
      id: id('resp_'),
      object: 'response',
      created_at: 1_772_600_000,
      status: 'completed',
      error: null,
      incomplete_details: null,
      model: (body as Body).model,
      output:
        typeof decision === 'string'
          ? [message(decision)]
          : decision.map(({ name, args }) => ({
              id: id('fc_'),
              type: 'function_call',
              status: 'completed',
              call_id: id('call_'),
              name,
              arguments: JSON.stringify(args),
            })),
      parallel_tool_calls: true,
      tool_choice: 'auto',
      tools: [],
      usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
    }
  },
}
