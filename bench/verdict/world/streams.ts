import { chat } from '../../catch/world/dialects/chat.ts'
import { pieces, serverSentEvents } from '../../../fixtures/provider/mind.ts'

interface Response {
  readonly output: readonly Item[]
}

interface Item {
  readonly id: string
  readonly type: string
  readonly content?: readonly { readonly text: string }[]
  readonly arguments?: string
}

/** A whole answer of OpenAI's responses, as the events it is streamed in. */
export function responsesStream(answer: unknown): string {
  const whole = answer as Response
  let sequence = 0
  const event = (type: string, data: object) => ({ event: type, data: { type, sequence_number: sequence++, ...data } })
  return serverSentEvents([
    event('response.created', { response: { ...whole, status: 'in_progress', output: [] } }),
    ...whole.output.flatMap((item, output_index) => [
      event('response.output_item.added', { output_index, item: begun(item) }),
      ...(item.type === 'message' ? textEvents(item, output_index) : callEvents(item, output_index)),
      event('response.output_item.done', { output_index, item }),
    ]),
    event('response.completed', { response: whole }),
  ]).join('')

  function textEvents({ id: item_id, content = [] }: Item, output_index: number) {
    return content.flatMap((part, content_index) => {
      const at = { item_id, output_index, content_index }
      return [
        event('response.content_part.added', { ...at, part: { ...part, text: '' } }),
        ...pieces(part.text, 8).map((delta) => event('response.output_text.delta', { ...at, delta, logprobs: [] })),
        event('response.output_text.done', { ...at, text: part.text, logprobs: [] }),
        event('response.content_part.done', { ...at, part }),
      ]
    })
  }

  function callEvents({ id: item_id, arguments: args = '' }: Item, output_index: number) {
    const at = { item_id, output_index }
    return [
      ...pieces(args, 8).map((delta) => event('response.function_call_arguments.delta', { ...at, delta })),
      event('response.function_call_arguments.done', { ...at, arguments: args }),
    ]
  }
}

function begun(item: Item): Item {
  const status = { status: 'in_progress' }
  return item.type === 'message' ? { ...item, ...status, content: [] } : { ...item, ...status, arguments: '' }
}

/** A whole answer of OpenAI's chat: where it calls tools, its first piece says that there is no text. */
export function chatStream(answer: unknown): string {
  const { choices } = answer as { choices: readonly { message: { content: string | null } }[] }
  const stream = chat.stream!(answer)
  return choices[0]?.message.content === null ? stream.replace('"content":""', '"content":null') : stream
}

/** A whole answer of Gemini's, as the one event it is streamed in. */
export function geminiStream(answer: unknown): string {
  return serverSentEvents([{ data: answer }]).join('')
}
