import type { Json } from '../../tape/types.ts'
import { at, isList, type JsonMap } from '../../json/canonical.ts'
import { eachMap, inside, withMembers } from './rewrite.ts'

/**
 * A request to Bedrock's Converse without the points where a cache may begin: they decide what a call costs, and not what is
 * asked. The status of a result stays: no reference says that an absent one means success.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
 */
export function converseMessages(body: JsonMap): JsonMap {
  return withMembers(body, {
    system: withoutCachePoints,
    messages: (value) => eachMap(value, (message) => withMembers(message, { content: withoutCachePoints })),
    toolConfig: inside((config) => withMembers(config, { tools: withoutCachePoints })),
  })
}

function withoutCachePoints(value: Json): Json {
  if (!isList(value)) return value
  const kept = value.filter((block) => at(block, 'cachePoint') === undefined)
  return kept.length === value.length ? value : kept
}
