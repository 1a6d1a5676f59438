const roles: ReadonlySet<string> = new Set([
  'system',
  'developer',
  'user',
  'human',
  'assistant',
  'ai',
  'model',
  'tool',
  'function',
  'toolResult',
])

/** Whether a word is the role of a message in a conversation with one model. */
export function isRole(word: string | undefined): boolean {
  return word !== undefined && roles.has(word)
}

/** Items of OpenAI's responses that are no messages, by their `type`. */
export const responseItems: ReadonlySet<string> = new Set([
  'reasoning',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'local_shell_call',
  'local_shell_call_output',
])
