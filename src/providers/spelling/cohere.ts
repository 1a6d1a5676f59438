import { at, type JsonMap } from '../../json/canonical.ts'
import { eachMap, oneText, withMembers, withoutDefaults } from './rewrite.ts'

/**
 * A chat with Cohere: "If a string is provided, it will be treated as a text content block". That is said of what people and
 * the model say; the content of a tool's message is read as a result, and stays. Streaming is off by default.
 *
 * @see https://docs.cohere.com/reference/chat
 */
export function cohereChat(body: JsonMap): JsonMap {
  return withMembers(withoutDefaults(body, { stream: false }), {
    messages: (value) =>
      eachMap(value, (message) =>
        at(message, 'role') === 'tool' ? message : withMembers(message, { content: (said) => oneText(said, 'text') }),
      ),
  })
}
