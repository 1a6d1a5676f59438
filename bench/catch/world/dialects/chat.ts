import { pieces, serverSentEvents } from '../../../../fixtures/provider/mind.ts'
import { BadRequest, type Decision, type Dialect, type Heard } from '../types.ts'

interface Body {
  readonly model: string
  readonly messages: readonly {
    readonly role: string
    readonly content?: string | readonly { readonly text?: string }[] | null
    readonly tool_calls?: readonly ToolCall[]
    readonly tool_call_id?: string
  }[]
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
}

interface ToolCall {
  readonly id: string
  readonly function: { readonly name: string; readonly arguments: string }
}

type Answer = ReturnType<typeof write>

/** OpenAI's chat completions. */
export const chat: Dialect = {
  read: (body) => {
    const { model, messages, tools = [] } = body as Body
    const calls = new Map(messages.flatMap(({ tool_calls = [] }) => tool_calls.map((call) => [call.id, call] as const)))
    const open = new Set(calls.keys())
    const results = messages.flatMap(({ role, content, tool_call_id = '' }): readonly Heard[] => {
      const call = calls.get(tool_call_id)
      if (role !== 'tool' || call === undefined) return []
      open.delete(tool_call_id)
      const args = JSON.parse(call.function.arguments) as Heard['args']
      return [{ name: call.function.name, args, text: textOf(content) }]
    })
    if (open.size > 0) throw new BadRequest('tool_call_ids did not have response messages')
    const said = (...roles: readonly string[]) =>
      messages.filter(({ role }) => roles.includes(role)).map(({ content }) => textOf(content))
    return {
      model,
      system: said('system', 'developer').join('\n'),
      user: said('user'),
      tools: tools.map(({ function: { name } }) => name),
      results,
    }
  },
  write,
  stream(answer) {
    const { choices, ...whole } = answer as Answer
    const { message, finish_reason } = choices[0]!
    const chunk = (delta: object, finish: string | null = null) => ({
      data: { ...whole, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] },
    })
    return serverSentEvents([
      chunk({ role: 'assistant', content: '' }),
      ...pieces(message.content ?? '', 8).map((content) => chunk({ content })),
      ...(message.tool_calls ?? []).flatMap(({ id, type, function: { name, arguments: args } }, index) => [
        chunk({ tool_calls: [{ index, id, type, function: { name, arguments: '' } }] }),
        ...pieces(args, 8).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
      ]),
      chunk({}, finish_reason),
      { data: '[DONE]' },
    ]).join('')
  },
}

function write(decision: Decision, body: object, id: (prefix: string) => string) {
  const isText = typeof decision === 'string'
  const message = {
    role: 'assistant' as const,
    content: isText ? decision : null,
    refusal: null,
    ...(!isText && {
      tool_calls: decision.map(({ name, args }) => ({
        id: id('call_'),
        type: 'function' as const,
        function: { name, arguments: JSON.stringify(args) },
      })),
    }),
  }
  return {
    id: id('chatcmpl-'),
    object: 'chat.completion',
    created: 1_772_600_000,
    model: (body as Body).model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: isText ? 'stop' : 'tool_calls' }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  }
}

function textOf(content: Body['messages'][number]['content']): string {
  if (typeof content === 'string') return content
  return (content ?? []).map(({ text }) => text ?? '').join('')
}
