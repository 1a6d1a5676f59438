import type { JsonMap } from '../../json/canonical.ts'
import { openAiChat } from './openai-chat.ts'
import { eachMap, withMembers, withoutDefaults } from './rewrite.ts'

/** Whether a chat goes to Mistral itself. */
export function isMistral(url: string): boolean {
  return URL.canParse(url) && /(^|\.)mistral\.ai$/.test(new URL(url).hostname.replace(/\.$/, ''))
}

/**
 * A chat with Mistral: OpenAI's dialect with fields of its own.
 *
 * - `tool_choice: any` is `required`: "any: Deprecated in favor of `required`"
 * - `safe_prompt` and `prefix` are false by default
 *
 * @see https://docs.mistral.ai/api and `ToolChoiceEnum` of mistral-common
 */
export function mistralChat(body: JsonMap, url: string): JsonMap {
  const own = withMembers(withoutDefaults(body, { safe_prompt: false }), {
    tool_choice: (value) => (value === 'any' ? 'required' : value),
    messages: (value) => eachMap(value, (message) => withoutDefaults(message, { prefix: false })),
  })
  return openAiChat(own, url)
}
