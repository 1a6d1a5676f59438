import type { Json } from '../../src/tape/types.ts'

type JsonMap = { readonly [key: string]: Json }

/** A request in the middle of an agent's run: instructions, tools, a call, its result, settings. */
export interface AgentRequest {
  readonly url: string
  readonly body: JsonMap
  /** Where the caller's own data stand: arguments, results, schemas, metadata. */
  readonly data: readonly string[]
}

/** Looks like spelling everywhere, and is data. */
const tricky: JsonMap = {
  role: 'developer',
  content: [{ type: 'text', text: 'x' }],
  cache_control: { type: 'ephemeral' },
  is_error: false,
  stream: false,
  n: 1,
  type: 'custom',
  nothing: null,
}
const schema: JsonMap = {
  type: 'object',
  properties: { stream: { type: 'boolean', default: false }, content: { type: 'string', enum: ['a', 'b'] } },
  required: ['stream'],
  additionalProperties: false,
}
const chatTools: Json = [{ type: 'function', function: { name: 'find', description: 'Finds.', parameters: schema } }]
const chatMessages: Json = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Where is order 7?' },
  {
    role: 'assistant',
    content: 'Looking.',
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'find', arguments: JSON.stringify(tricky) } }],
  },
  { role: 'tool', tool_call_id: 'c1', content: JSON.stringify(tricky) },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'And' },
      { type: 'text', text: 'now?' },
    ],
  },
]
const chat: JsonMap = {
  model: 'gpt-4.1',
  messages: chatMessages,
  tools: chatTools,
  temperature: 0.2,
  seed: 7,
  max_tokens: 100,
  response_format: { type: 'json_object' },
  metadata: tricky,
}
const chatData = [
  'messages.2.tool_calls.0.function.arguments',
  'messages.3.content',
  'tools.0.function.parameters',
  'metadata',
]

export const agentRequests: Readonly<Record<string, AgentRequest>> = {
  'a chat completion at OpenAI': {
    url: 'https://api.openai.com/v1/chat/completions',
    body: chat,
    data: chatData,
  },
  'a chat completion elsewhere': {
    url: 'http://127.0.0.1:8000/v1/chat/completions',
    body: chat,
    data: chatData,
  },
  'a chat with Mistral': {
    url: 'https://api.mistral.ai/v1/chat/completions',
    body: { ...chat, model: 'mistral-large-latest', tool_choice: 'required' },
    data: chatData,
  },
  'a Responses request': {
    url: 'https://api.openai.com/v1/responses',
    body: {
      model: 'gpt-4.1',
      instructions: 'Be brief.',
      input: [
        { role: 'user', content: 'Where is order 7?' },
        { type: 'function_call', call_id: 'c1', name: 'find', arguments: JSON.stringify(tricky) },
        { type: 'function_call_output', call_id: 'c1', output: JSON.stringify(tricky) },
        { role: 'assistant', content: 'There.' },
      ],
      tools: [{ type: 'function', name: 'find', description: 'Finds.', strict: true, parameters: schema }],
      temperature: 0.2,
      max_output_tokens: 100,
      metadata: tricky,
    },
    data: ['input.1.arguments', 'input.2.output', 'tools.0.parameters', 'metadata'],
  },
  'a request to Anthropic': {
    url: 'https://api.anthropic.com/v1/messages',
    body: {
      model: 'claude-1',
      max_tokens: 100,
      temperature: 1,
      system: 'Be brief.',
      messages: [
        { role: 'user', content: 'Where is order 7?' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Looking.' },
            { type: 'tool_use', id: 'c1', name: 'find', input: tricky },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: JSON.stringify(tricky) },
            { type: 'text', text: 'And now?' },
          ],
        },
      ],
      tools: [{ name: 'find', description: 'Finds.', input_schema: schema }],
      metadata: tricky,
    },
    data: ['messages.1.content.1.input', 'messages.2.content.0.content', 'tools.0.input_schema', 'metadata'],
  },
  'a request to Gemini': {
    url: 'https://generativelanguage.googleapis.com/v1beta/models/gemini-1:generateContent',
    body: {
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'Where is order 7?' }] },
        { role: 'model', parts: [{ functionCall: { name: 'find', args: tricky } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'find', response: tricky } }] },
      ],
      tools: [{ functionDeclarations: [{ name: 'find', description: 'Finds.', parametersJsonSchema: schema }] }],
      generationConfig: { temperature: 1, maxOutputTokens: 100 },
      labels: tricky,
    },
    data: [
      'contents.1.parts.0.functionCall.args',
      'contents.2.parts.0.functionResponse.response',
      'tools.0.functionDeclarations.0.parametersJsonSchema',
      'labels',
    ],
  },
  'a request to Converse': {
    url: 'https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-1/converse',
    body: {
      system: [{ text: 'Be brief.' }],
      messages: [
        { role: 'user', content: [{ text: 'Where is order 7?' }] },
        { role: 'assistant', content: [{ toolUse: { toolUseId: 'c1', name: 'find', input: tricky } }] },
        {
          role: 'user',
          content: [{ toolResult: { toolUseId: 'c1', content: [{ json: tricky }], status: 'success' } }],
        },
      ],
      toolConfig: { tools: [{ toolSpec: { name: 'find', description: 'Finds.', inputSchema: { json: schema } } }] },
      inferenceConfig: { maxTokens: 100, temperature: 1 },
      requestMetadata: { order: '7' },
    },
    data: [
      'messages.1.content.0.toolUse.input',
      'messages.2.content.0.toolResult.content.0.json',
      'toolConfig.tools.0.toolSpec.inputSchema.json',
      'requestMetadata',
    ],
  },
  'a request to Cohere': {
    url: 'https://api.cohere.com/v2/chat',
    body: {
      model: 'command-a',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Where is order 7?' },
        {
          role: 'assistant',
          tool_plan: 'Look.',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'find', arguments: JSON.stringify(tricky) } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: JSON.stringify(tricky) }] },
      ],
      tools: chatTools,
      temperature: 0.3,
    },
    data: ['messages.2.tool_calls.0.function.arguments', 'messages.3.content', 'tools.0.function.parameters'],
  },
  'a chat with Ollama': {
    url: 'http://127.0.0.1:11434/api/chat',
    body: {
      model: 'qwen3',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Where is order 7?' },
        { role: 'assistant', content: '', tool_calls: [{ function: { name: 'find', arguments: tricky } }] },
        { role: 'tool', tool_name: 'find', content: JSON.stringify(tricky) },
      ],
      tools: chatTools,
      options: { temperature: 0, num_ctx: 4096 },
      think: true,
    },
    data: ['messages.2.tool_calls.0.function.arguments', 'messages.3.content', 'tools.0.function.parameters'],
  },
}

/** The value at a path such as `messages.2.content`. */
export function valueAt(value: Json | undefined, path: string): Json | undefined {
  let found: unknown = value
  for (const key of path.split('.')) found = (found as { readonly [key: string]: unknown } | undefined)?.[key]
  return found as Json | undefined
}
