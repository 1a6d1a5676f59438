import Anthropic from '@anthropic-ai/sdk'
import {
  type ContentBlock,
  ConverseCommand,
  ConverseStreamCommand,
  type Message,
  type ToolUseBlock,
} from '@aws-sdk/client-bedrock-runtime'
import { type Content, GoogleGenAI, type Part } from '@google/genai'
import OpenAI from 'openai'
import { bedrockClient, toolConfig } from '../../fixtures/agents/bedrock.ts'
import { type AgentInput, question } from '../../fixtures/agents/types.ts'
import { getWeather, readCity, weatherParameters } from '../../fixtures/agents/weather.ts'

/** Which of the two forms of an answer an agent asks for; both go through the vendor's own client. */
export type Form = 'whole' | 'stream'

/** What an agent got to know of its two answers, whatever their form. */
export interface Heard {
  readonly cities: readonly string[]
  readonly text: string
  readonly finish: unknown
  readonly tokens: unknown
}

/** Agents of two turns: two calls at once, then a text. */
export const formedAgents: Readonly<Record<string, (input: AgentInput, form: Form) => Promise<Heard>>> = {
  async 'openai-chat'(input, form) {
    const client = new OpenAI({ apiKey: 'test-key', baseURL: `${input.base}/v1` })
    const tools: OpenAI.ChatCompletionTool[] = [
      { type: 'function', function: { name: 'get_weather', parameters: weatherParameters } },
    ]
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: question(input) }]
    const cities: string[] = []
    for (;;) {
      const asked = { model: 'gpt-x', messages, tools }
      const { choices, usage } =
        form === 'whole'
          ? await client.chat.completions.create(asked)
          : await client.chat.completions
              .stream({ ...asked, stream_options: { include_usage: true } })
              .finalChatCompletion()
      const [choice] = choices
      const calls = choice?.message.tool_calls ?? []
      if (calls.length === 0)
        return {
          cities,
          text: choice?.message.content ?? '',
          finish: choice?.finish_reason,
          tokens: usage?.total_tokens,
        }
      const made = calls.flatMap((call) =>
        call.type === 'function'
          ? [
              {
                id: call.id,
                type: call.type,
                function: { name: call.function.name, arguments: call.function.arguments },
              },
            ]
          : [],
      )
      messages.push({ role: 'assistant', content: choice?.message.content ?? null, tool_calls: made })
      for (const { id, function: fn } of made) {
        cities.push(readCity(fn.arguments))
        messages.push({ role: 'tool', tool_call_id: id, content: await getWeather(readCity(fn.arguments)) })
      }
    }
  },

  async 'openai-responses'(input, form) {
    const client = new OpenAI({ apiKey: 'test-key', baseURL: `${input.base}/v1` })
    const items: OpenAI.Responses.ResponseInput = [{ role: 'user', content: question(input) }]
    const cities: string[] = []
    for (;;) {
      const asked = {
        model: 'gpt-x',
        input: items,
        tools: [{ type: 'function' as const, name: 'get_weather', parameters: weatherParameters, strict: true }],
      }
      const response =
        form === 'whole' ? await client.responses.create(asked) : await client.responses.stream(asked).finalResponse()
      const output: readonly OpenAI.Responses.ResponseOutputItem[] = response.output
      const calls = output.filter((item) => item.type === 'function_call')
      if (calls.length === 0)
        return { cities, text: response.output_text, finish: response.status, tokens: response.usage?.total_tokens }
      items.push(...calls.map(({ type, call_id, name, arguments: args }) => ({ type, call_id, name, arguments: args })))
      for (const { call_id, arguments: args } of calls) {
        cities.push(readCity(args))
        items.push({ type: 'function_call_output', call_id, output: await getWeather(readCity(args)) })
      }
    }
  },

  async anthropic(input, form) {
    const client = new Anthropic({ apiKey: 'test-key', baseURL: input.base })
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question(input) }]
    const cities: string[] = []
    for (;;) {
      const asked = {
        model: 'claude-x',
        max_tokens: 100,
        messages,
        tools: [{ name: 'get_weather', input_schema: weatherParameters }],
      }
      const { content, stop_reason, usage } =
        form === 'whole' ? await client.messages.create(asked) : await client.messages.stream(asked).finalMessage()
      const calls = content.filter((block) => block.type === 'tool_use')
      if (calls.length === 0) {
        const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('')
        return { cities, text, finish: stop_reason, tokens: [usage.input_tokens, usage.output_tokens] }
      }
      const results: Anthropic.ToolResultBlockParam[] = []
      for (const call of calls) {
        cities.push(readCity(call.input))
        results.push({ type: 'tool_result', tool_use_id: call.id, content: await getWeather(readCity(call.input)) })
      }
      messages.push({ role: 'assistant', content }, { role: 'user', content: results })
    }
  },

  async gemini(input, form) {
    const client = new GoogleGenAI({ apiKey: 'test-key', httpOptions: { baseUrl: input.base } })
    const tools = [{ functionDeclarations: [{ name: 'get_weather', parametersJsonSchema: weatherParameters }] }]
    const contents: Content[] = [{ role: 'user', parts: [{ text: question(input) }] }]
    const cities: string[] = []
    for (;;) {
      const asked = { model: 'gemini-x', contents, config: { tools } }
      const stream =
        form === 'whole'
          ? [await client.models.generateContent(asked)]
          : await client.models.generateContentStream(asked)
      const [said, answers]: [Part[], Part[]] = [[], []]
      let [text, finish, tokens]: [string, unknown, unknown] = ['', undefined, undefined]
      for await (const { candidates, functionCalls, usageMetadata } of stream) {
        finish = candidates?.[0]?.finishReason ?? finish
        tokens = usageMetadata?.totalTokenCount ?? tokens
        for (const part of candidates?.[0]?.content?.parts ?? []) text += part.text ?? ''
        for (const { name = '', args = {} } of functionCalls ?? []) {
          said.push({ functionCall: { name, args } })
          cities.push(readCity(args))
          answers.push({ functionResponse: { name, response: { output: await getWeather(readCity(args)) } } })
        }
      }
      if (said.length === 0) return { cities, text, finish, tokens }
      contents.push({ role: 'model', parts: said }, { role: 'user', parts: answers })
    }
  },

  async 'bedrock-converse'(input, form) {
    const client = bedrockClient({ endpoint: input.h2base })
    const messages: Message[] = [{ role: 'user', content: [{ text: question(input) }] }]
    const cities: string[] = []
    try {
      for (;;) {
        const { text, used, finish, tokens } = await converse(client, messages, form)
        if (used.length === 0) return { cities, text, finish, tokens }
        const results: ContentBlock[] = []
        for (const call of used) {
          cities.push(readCity(call.input))
          results.push({
            toolResult: { toolUseId: call.toolUseId, content: [{ text: await getWeather(readCity(call.input)) }] },
          })
        }
        messages.push(
          { role: 'assistant', content: used.map((toolUse) => ({ toolUse })) },
          { role: 'user', content: results },
        )
      }
    } finally {
      client.destroy()
    }
  },
}

async function converse(client: ReturnType<typeof bedrockClient>, messages: Message[], form: Form) {
  const asked = { modelId: 'model-x', messages, toolConfig }
  if (form === 'whole') {
    const { output, stopReason, usage } = await client.send(new ConverseCommand(asked))
    const content = output?.message?.content ?? []
    const used = content.flatMap(({ toolUse }) =>
      toolUse ? [{ toolUseId: toolUse.toolUseId, name: toolUse.name, input: toolUse.input }] : [],
    )
    return {
      text: content.map(({ text }) => text ?? '').join(''),
      used,
      finish: stopReason,
      tokens: usage?.totalTokens,
    }
  }
  const { stream = [] } = await client.send(new ConverseStreamCommand(asked))
  const calls: { toolUseId: string; name: string; input: string }[] = []
  let [text, finish, tokens]: [string, unknown, unknown] = ['', undefined, undefined]
  for await (const { contentBlockStart, contentBlockDelta, messageStop, metadata } of stream) {
    const started = contentBlockStart?.start?.toolUse
    if (started) calls.push({ toolUseId: started.toolUseId ?? '', name: started.name ?? '', input: '' })
    text += contentBlockDelta?.delta?.text ?? ''
    const last = calls.at(-1)
    if (last) last.input += contentBlockDelta?.delta?.toolUse?.input ?? ''
    finish = messageStop?.stopReason ?? finish
    tokens = metadata?.usage?.totalTokens ?? tokens
  }
  const used = calls.map((call): ToolUseBlock => ({ ...call, input: JSON.parse(call.input) }))
  return { text, used, finish, tokens }
}
