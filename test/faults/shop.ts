import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { tool } from '../../src/record/index.ts'

/** Where the model listens. */
export interface ShopInput {
  readonly base: string
}

const look = tool('get_weather', async ({ city }: { city: string }) => ({ city, degrees: 21 }))

const parameters = { type: 'object' as const, properties: { city: { type: 'string' as const } } }
const question = 'What is the weather in Paris and Tokyo?'
const key = { apiKey: 'not-a-key' }

/** The SDK of OpenAI as it comes: two retries, ten minutes of patience. */
export async function openaiAgent({ base }: ShopInput): Promise<string> {
  const client = new OpenAI({ ...key, baseURL: `${base}/v1` })
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: question }]
  for (let turn = 0; turn < 4; turn++) {
    const { choices } = await client.chat.completions.create({
      model: 'gpt-x',
      messages,
      tools: [{ type: 'function', function: { name: 'get_weather', parameters } }],
    })
    const message = choices[0]?.message
    if (message === undefined) throw new Error('the model said nothing')
    messages.push(message)
    if (message.tool_calls === undefined) return message.content ?? ''
    for (const call of message.tool_calls) {
      if (call.type !== 'function') continue
      const found = await look(JSON.parse(call.function.arguments) as { city: string })
      messages.push({ role: 'tool', tool_call_id: call.id, content: JSON.stringify(found) })
    }
  }
  throw new Error('no answer after 4 turns')
}

/** The SDK of Anthropic, streaming. */
export async function anthropicAgent({ base }: ShopInput): Promise<string> {
  const client = new Anthropic({ ...key, baseURL: base })
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }]
  for (let turn = 0; turn < 4; turn++) {
    const tools = [{ name: 'get_weather', input_schema: parameters }]
    const stream = client.messages.stream({ model: 'claude-x', max_tokens: 100, messages, tools })
    const { content } = await stream.finalMessage()
    const calls = content.filter((block) => block.type === 'tool_use')
    if (calls.length === 0) return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    const results: Anthropic.ToolResultBlockParam[] = []
    for (const call of calls) {
      const found = await look(call.input as { city: string })
      results.push({ type: 'tool_result', tool_use_id: call.id, content: JSON.stringify(found) })
    }
    messages.push({ role: 'assistant', content }, { role: 'user', content: results })
  }
  throw new Error('no answer after 4 turns')
}
