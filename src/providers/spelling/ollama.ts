import { at, type JsonMap } from '../../json/canonical.ts'
import { eachMap, withMembers, withoutDefaults } from './rewrite.ts'

/** Whether a chat goes to Ollama's own endpoint. It has one for OpenAI's dialect as well. */
export function isOllama(path: string): boolean {
  return /\/api\/chat$/.test(path)
}

/**
 * A chat with Ollama: "Stream enables streaming of returned responses; true by default". Options, images and tools are
 * optional, and an empty list or map is what their absence is. Contents are texts and nothing else.
 *
 * @see https://pkg.go.dev/github.com/ollama/ollama/api, `ChatRequest` and `Message`
 */
export function ollamaChat(body: JsonMap): JsonMap {
  return withMembers(withoutDefaults(body, { stream: true, options: {}, tools: [] }), {
    messages: (value) =>
      eachMap(value, (message) =>
        at(message, 'images') === undefined ? message : withoutDefaults(message, { images: [] }),
      ),
  })
}
