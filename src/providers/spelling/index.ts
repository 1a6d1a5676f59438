import { type Address, dialectOf, readAddress } from '../dialect.ts'
import type { JsonMap } from '../../json/canonical.ts'
import type { Dialect } from '../types.ts'
import { anthropicMessages } from './anthropic.ts'
import { cohereChat } from './cohere.ts'
import { converseMessages } from './converse.ts'
import { geminiContents } from './gemini.ts'
import { isGeminiAddress, withGeminiNames } from './gemini-names.ts'
import { isMistral, mistralChat } from './mistral.ts'
import { isOllama, ollamaChat } from './ollama.ts'
import { openAiChat } from './openai-chat.ts'
import { openAiResponses } from './openai-responses.ts'
import type { Spelling } from './rewrite.ts'

/**
 * The body of a request to a model in one spelling: what its provider is bound to read alike is written alike. Two requests
 * with the same form ask one question.
 *
 * Every rule rests on the reference, the types or the wire format of a provider, which the file of its dialect names. None
 * guesses what a model would take for the same: blanks in a text, the order of tools, a text in two parts or another id of
 * one model stay what they are. Arguments of calls, what tools answered, schemas and `metadata` are left alone. Writing a
 * form once more gives the same. Never throws.
 *
 * @returns the body itself where there is nothing to change
 */
export function inOneSpelling(url: string, body: JsonMap): JsonMap {
  const named = withGeminiNames(url, body)
  const address = readAddress(url)
  const dialect = dialectOf(address, named)
  return dialect === undefined ? named : spelled(dialect, address, url, named)
}

/** The same, where the dialect is known and Gemini's fields have their one name already. */
export function spelled(dialect: Dialect, { path }: Address, url: string, body: JsonMap): JsonMap {
  if (dialect === 'gemini' && !isGeminiAddress(url)) return body
  if (dialect === 'openai-chat' && isOllama(path)) return ollamaChat(body)
  if (dialect === 'openai-chat' && isMistral(url)) return mistralChat(body, url)
  return spellings[dialect]?.(body, url) ?? body
}

const spellings: Partial<Record<Dialect, Spelling>> = {
  'openai-chat': openAiChat,
  'openai-responses': openAiResponses,
  anthropic: anthropicMessages,
  gemini: geminiContents,
  'bedrock-converse': converseMessages,
  cohere: cohereChat,
}
