import type { Json } from '../../tape/types.ts'
import { at, type JsonMap } from '../../json/canonical.ts'
import { isOpenAi } from './openai-hosts.ts'
import { eachMap, inside, nameSet, oneText, withMembers, withoutDefaults, withoutNulls } from './rewrite.ts'

/**
 * A request to OpenAI's Responses.
 *
 * - `input`: "A text input to the model, equivalent to a text input with the `user` role"
 * - an item with a role is a message, whether or not it says `type: message`
 * - a content, and the output of a call, is a text or a list of parts
 * - defaults, from the comments beside the types; a format of text is the default. Others who speak the dialect have other
 *   temperatures, and may keep nothing: these are left out at OpenAI alone
 *
 * What a tool says of itself stays, `strict` included: its default is not that of a chat. So does the place of instructions.
 *
 * @see `openai`, resources/responses/responses.d.ts
 */
export function openAiResponses(body: JsonMap, url: string): JsonMap {
  const defaults = isOpenAi(url, body) ? { ...anywhere, ...atOpenAi } : anywhere
  const own = withMembers(withoutNulls(body, nullable), {
    input: (value) => (typeof value === 'string' ? [{ role: 'user', content: value }] : eachMap(value, item)),
    text: inside((text) => withoutDefaults(text, { format: { type: 'text' } })),
  })
  // A `text` that said no more than the default is empty now.
  const hadFormat = at(at(body, 'text'), 'format') !== undefined
  return withoutDefaults(own, hadFormat ? { ...defaults, text: {} } : defaults)
}

const anywhere: JsonMap = { stream: false, background: false, truncation: 'disabled', tool_choice: 'auto' }
const atOpenAi: JsonMap = { temperature: 1, top_p: 1, parallel_tool_calls: true, store: true }

function item(value: JsonMap): Json {
  const type = at(value, 'type')
  if (type === 'function_call_output' || type === 'custom_tool_call_output') {
    return withMembers(value, { output: (output) => oneText(output, 'input_text') })
  }
  if (type === 'function_call') return withoutNulls(value, unreadArguments)
  const role = at(value, 'role')
  if (typeof role !== 'string' || (type !== undefined && type !== 'message')) return value
  const part = role === 'assistant' ? 'output_text' : 'input_text'
  return withMembers(withoutDefaults(value, { type: 'message' }), {
    content: (content) => oneText(role === 'assistant' ? eachMap(content, answerPart) : content, part),
  })
}

/** `ParsedResponseOutputText`: `parse()` of the SDK puts what it read beside the text, and `null` where it read nothing. */
function answerPart(part: JsonMap): Json {
  return at(part, 'type') === 'output_text' ? withoutNulls(part, unreadText) : part
}

const unreadText = nameSet('parsed')
/** `ParsedResponseFunctionToolCall` */
const unreadArguments = nameSet('parsed_arguments')

/** `ResponseCreateParamsBase` */
const nullable = nameSet(
  [
    'background context_management conversation include instructions max_output_tokens max_tool_calls metadata moderation',
    'parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_retention reasoning safety_identifier',
    'service_tier store stream stream_options temperature top_logprobs top_p truncation',
  ].join(' '),
)
