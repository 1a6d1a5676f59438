import type { Json } from '../../tape/types.ts'
import { at, isList, isMap, type JsonMap } from '../../json/canonical.ts'
import {
  eachMap,
  inside,
  isFilled,
  nameSet,
  oneText,
  withMembers,
  withoutDefaults,
  withoutMember,
  withoutNulls,
} from './rewrite.ts'

/**
 * A request to Anthropic's Messages.
 *
 * - a content, `system` and the content of a result: "Using a `string` for `content` is shorthand for an array of one content
 *   block of type `"text"`"
 * - turns: "Consecutive `user` or `assistant` turns in your request will be combined into a single turn"
 * - `cache_control` says where a cache may begin, and not what is asked: "the response you receive will be identical"
 * - defaults: `is_error` and `disable_parallel_tool_use` false, `auto` where there are tools, a tool of type `custom`
 *
 * Temperature is left alone: models differ in what they take. Nothing is changed inside of inputs, schemas and `metadata`.
 *
 * @see `@anthropic-ai/sdk`, resources/messages/messages.d.ts
 */
export function anthropicMessages(body: JsonMap): JsonMap {
  const own = withMembers(withoutNulls(withoutCacheMark(body), nullable), {
    system: content,
    messages: (value) => inTurns(eachMap(value, turn)),
    tools: (value) => eachMap(value, tool),
    tool_choice: inside((choice) => withoutDefaults(choice, { disable_parallel_tool_use: false })),
  })
  const isOffered = isFilled(at(body, 'tools'))
  return withoutDefaults(own, { stream: false, ...(isOffered ? { tool_choice: { type: 'auto' } } : {}) })
}

/** `MessageCreateParamsBase` */
const nullable = nameSet('container diagnostics inference_geo speed')

/** Only the mark itself: what a block holds is left alone. */
function withoutCacheMark(map: JsonMap): JsonMap {
  return withoutMember(map, 'cache_control')
}

function tool(value: JsonMap): JsonMap {
  return withoutDefaults(withoutNulls(withoutCacheMark(value), nameSet('type')), { type: 'custom' })
}

function turn(message: JsonMap): Json {
  return withMembers(message, { content })
}

function content(value: Json): Json {
  return oneText(eachMap(value, block), 'text')
}

function block(value: JsonMap): Json {
  const own = withoutCacheMark(value)
  switch (at(own, 'type')) {
    case 'text':
      return withoutNulls(own, nameSet('citations'))
    case 'tool_result':
      // Its blocks may be marked as well; a result is never within a result.
      return withMembers(withoutDefaults(own, { is_error: false }), {
        content: (inner) => oneText(eachMap(inner, withoutCacheMark), 'text'),
      })
    default:
      return own
  }
}

/** Neighbours of one role as the one turn they are. */
function inTurns(messages: Json): Json {
  if (!isList(messages)) return messages
  const turns: Json[] = []
  for (const message of messages) {
    const last = turns.at(-1)
    const joined = last === undefined ? undefined : oneTurn(last, message)
    if (joined === undefined) turns.push(message)
    else turns[turns.length - 1] = joined
  }
  return turns.length === messages.length ? messages : turns
}

function oneTurn(before: Json, after: Json): Json | undefined {
  if (!isTurn(before) || !isTurn(after) || before.role !== after.role) return undefined
  return { role: before.role, content: oneText([...blocksOf(before.content), ...blocksOf(after.content)], 'text') }
}

interface Turn extends JsonMap {
  readonly role: string
  readonly content: string | readonly Json[]
}

/** A message that says who speaks and what, and nothing more. */
function isTurn(message: Json): message is Turn {
  if (!isMap(message) || Object.keys(message).length !== 2) return false
  const { role, content: said } = message
  return (role === 'user' || role === 'assistant') && (typeof said === 'string' || isList(said))
}

function blocksOf(said: Turn['content']): readonly Json[] {
  return typeof said === 'string' ? [{ type: 'text', text: said }] : said
}
