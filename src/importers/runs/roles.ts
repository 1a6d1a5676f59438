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
