import { pieces, serverSentEvents } from '../../../../fixtures/provider/mind.ts'
import { BadRequest, type Decision, type Dialect, type Heard } from '../types.ts'

interface Body {
  readonly model: string
  readonly system?: string | readonly Block[]
  readonly messages: readonly { readonly role: string; readonly content: string | readonly Block[] }[]
  readonly tools?: readonly { readonly name: string }[]
}

interface Block {
  readonly type: string
  readonly text?: string
  readonly id?: string
  readonly name?: string
  readonly input?: Heard['args']
  readonly tool_use_id?: string
  readonly content?: string | readonly Block[]
}

type Answer = ReturnType<typeof write>

/** Anthropic's messages. */
export const anthropic: Dialect = {
  read: (body) => {
    const { model, system = '', messages, tools = [] } = body as Body
    const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    const calls = new Map(blocks.filter(({ type }) => type === 'tool_use').map((block) => [block.id, block]))
    const open = new Set(calls.keys())
    const results = blocks.flatMap(({ type, tool_use_id, content = '' }): readonly Heard[] => {
      const call = calls.get(tool_use_id)
      if (type !== 'tool_result' || call === undefined) return []
      open.delete(tool_use_id)
      return [{ name: call.name ?? '', args: call.input ?? {}, text: textOf(content) }]
    })
    if (open.size > 0) throw new BadRequest('tool_use ids were found without tool_result blocks')
    return {
      model,
      system: textOf(system),
      user: messages.filter(({ role }) => role === 'user').map(({ content }) => textOf(content)),
      tools: tools.map(({ name }) => name),
      results,
    }
  },
  write,
  stream(answer) {
    const whole = answer as Answer
    const event = (type: string, data: object) => ({ event: type, data: { type, ...data } })
    return serverSentEvents([
      event('message_start', { message: { ...whole, content: [], stop_reason: null } }),
      ...whole.content.flatMap((block, index) => [
        event('content_block_start', {
          index,
          content_block: block.type === 'text' ? { type: 'text', text: '' } : { ...block, input: {} },
        }),
        ...(block.type === 'text'
          ? pieces(block.text, 8).map((text) => ({ type: 'text_delta', text }))
          : pieces(JSON.stringify(block.input), 8).map((partial) => ({
              type: 'input_json_delta',
              partial_json: partial,
            }))
        ).map((delta) => event('content_block_delta', { index, delta })),
        event('content_block_stop', { index }),
      ]),
      event('message_delta', {
        delta: { stop_reason: whole.stop_reason, stop_sequence: null },
        usage: { output_tokens: 5 },
      }),
      event('message_stop', {}),
    ]).join('')
  },
}

function write(decision: Decision, body: object, id: (prefix: string) => string) {
  return {
    id: id('msg_'),
    type: 'message',
    role: 'assistant',
    model: (body as Body).model,
    content:
      typeof decision === 'string'
        ? [{ type: 'text' as const, text: decision }]
        : decision.map(({ name, args }) => ({ type: 'tool_use' as const, id: id('toolu_'), name, input: args })),
    stop_reason: typeof decision === 'string' ? 'end_turn' : 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
  }
}

function textOf(content: string | readonly Block[]): string {
  if (typeof content === 'string') return content
  return content.flatMap(({ type, text }) => (type === 'text' ? [text ?? ''] : [])).join('\n')
}
