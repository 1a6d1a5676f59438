import type { Json } from '../../tape/types.ts'
import { at, type JsonMap } from '../../json/canonical.ts'
import { isOpenAi } from './openai-hosts.ts'
import { eachMap, inside, isFilled, nameSet, oneText, withMembers, withoutDefaults, withoutNulls } from './rewrite.ts'

/**
 * A chat completion of OpenAI and of all who speak its dialect.
 *
 * - a content is a text or a list of parts: `content: string | Array<ChatCompletionContentPartText>`
 * - one stop sequence is a text or a list of it: `stop?: string | Array<string> | null`, "Up to 4 sequences"
 * - what may be `null` is absent then, as far as the types say `| null`
 * - defaults, from the comments beside the types: "Number between -2.0 and 2.0" penalties of 0; `n` of 1; "`none` is the
 *   default when no tools are present. `auto` is the default if tools are present"
 * - at OpenAI alone: temperature and `top_p` of 1 (vLLM takes those of the model, Mistral and Ollama have others), parallel
 *   calls, and `developer`: "With o1 models and newer, `developer` messages replace the previous `system` messages"
 *
 * @see `openai`, resources/chat/completions/completions.d.ts
 */
export function openAiChat(body: JsonMap, url: string): JsonMap {
  const isOwn = isOpenAi(url, body)
  const offersTools = isFilled(at(body, 'tools'))
  const defaults: JsonMap = {
    ...chatDefaults,
    ...(isOwn ? { temperature: 1, top_p: 1 } : {}),
    ...(isOwn && offersTools ? { parallel_tool_calls: true } : {}),
    ...(isFilled(at(body, 'functions')) ? {} : { tool_choice: offersTools ? 'auto' : 'none' }),
  }
  return withMembers(withoutDefaults(withoutNulls(body, nullable), defaults), {
    messages: (value) => eachMap(value, (message) => chatMessage(message, isOwn)),
    stop: (value) => (Array.isArray(value) && value.length === 1 ? (value[0] as Json) : value),
  })
}

const chatDefaults: JsonMap = { stream: false, n: 1, logprobs: false, presence_penalty: 0, frequency_penalty: 0 }

function chatMessage(message: JsonMap, isOwn: boolean): Json {
  const bare = at(message, 'role') === 'assistant' ? answerMessage(message) : message
  const own = withMembers(bare, { content: (value) => oneText(value, 'text') })
  return isOwn && at(own, 'role') === 'developer' ? { ...own, role: 'system' } : own
}

/**
 * `parse()` and the helpers for streams put `parsed` and `parsed_arguments` beside what the model said, which their types
 * allow to be `null`: `ParsedChatCompletionMessage`. They read what is there once more, and none was read.
 */
function answerMessage(message: JsonMap): JsonMap {
  return withMembers(withoutNulls(message, nullableOfAnswer), {
    tool_calls: (calls) => eachMap(calls, (call) => withMembers(call, { function: inside(withoutParsed) })),
  })
}

function withoutParsed(fn: JsonMap): JsonMap {
  return withoutNulls(fn, unreadArguments)
}

/** `ChatCompletionCreateParamsBase` */
const nullable = nameSet(
  [
    'audio frequency_penalty logit_bias logprobs max_completion_tokens max_tokens metadata modalities moderation n',
    'prediction presence_penalty prompt_cache_key prompt_cache_retention reasoning_effort safety_identifier seed',
    'service_tier stop store stream stream_options temperature top_logprobs top_p verbosity',
  ].join(' '),
)

/** `ChatCompletionAssistantMessageParam`. An empty content is a text, and stays. */
const nullableOfAnswer = nameSet('audio content function_call parsed refusal')
/** `ParsedFunction` */
const unreadArguments = nameSet('parsed_arguments')
