import { describe, expect, test } from 'vitest'
import { canonicalJson, inOneSpelling, readModelRequest } from '../../src/providers/index.ts'
import { parseRequest } from '../../src/match/difference.ts'
import type { Json } from '../../src/tape/types.ts'
import { agentRequests } from './agent-requests.ts'

type JsonMap = { readonly [key: string]: Json }
/** What is done to the request of an agent, to write it in one way and in another. */
type Row = readonly [name: string, one: JsonMap, other: JsonMap]

const text = (words: string): Json => ({ type: 'text', text: words })
const user = { role: 'user', content: 'Hi' }
const cached = { cache_control: { type: 'ephemeral' } }
const tool = { name: 'find', input_schema: { type: 'object' } }

/** Both spellings ask one question, whichever was recorded; so do the parts that drift is told by. */
function isOne(url: string, base: JsonMap, one: JsonMap, other: JsonMap): boolean {
  const [first, second] = [one, other].map((change) => JSON.stringify({ ...base, ...change })) as [string, string]
  const forms = [first, second].map((body) => canonicalJson(parseRequest(body, url) ?? null))
  const parts = [first, second].map((body) =>
    canonicalJson({ ...readModelRequest({ method: 'POST', url, body }) } as unknown as Json),
  )
  expect(forms[0] === forms[1], 'form and parts agree').toBe(parts[0] === parts[1])
  return forms[0] === forms[1]
}

function table(name: string, url: string, base: JsonMap, same: readonly Row[], different: readonly Row[]): void {
  describe(name, () => {
    test.for(same)('is one question: %s', ([, one, other]) => {
      expect(isOne(url, base, one, other)).toBe(true)
    })
    test.for(different)('is another question: %s', ([, one, other]) => {
      expect(isOne(url, base, one, other)).toBe(false)
    })
  })
}

const openai = 'https://api.openai.com/v1/chat/completions'
const vllm = 'http://127.0.0.1:8000/v1/chat/completions'
const chat = { model: 'gpt-4.1', messages: [user] }
const calls = [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }]
const chatTools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }]
const others = [{ type: 'function', function: { name: 'g', parameters: { type: 'object' } } }]

/** A call with what `parse()` of the SDK puts beside its arguments. */
function parsedCalls(read: Json | undefined): Json {
  const fn = { name: 'f', arguments: '{}', ...(read !== undefined && { parsed_arguments: read }) }
  return [{ id: 'c1', type: 'function', function: fn }]
}

const anyChat: readonly Row[] = [
  ['a text and a list of its one part', {}, { messages: [{ role: 'user', content: [text('Hi')] }] }],
  [
    'what an answer did not have, left out or null',
    { messages: [user, { role: 'assistant', tool_calls: calls }] },
    { messages: [user, { role: 'assistant', content: null, refusal: null, audio: null, tool_calls: calls }] },
  ],
  [
    'what the SDK read from an answer, left out or null',
    { messages: [user, { role: 'assistant', content: 'x', tool_calls: parsedCalls(undefined) }] },
    { messages: [user, { role: 'assistant', content: 'x', parsed: null, tool_calls: parsedCalls(null) }] },
  ],
  ['no stream', {}, { stream: false }],
  ['one answer', {}, { n: 1, logprobs: false }],
  ['no penalties', {}, { presence_penalty: 0, frequency_penalty: 0 }],
  ['one stop sequence, as a text and in a list', { stop: 'END' }, { stop: ['END'] }],
  ['a setting that is null', {}, { temperature: null, max_tokens: null, stop: null, seed: null }],
  ['no tool choice, without tools', {}, { tool_choice: 'none' }],
  ['an automatic tool choice, with tools', { tools: chatTools }, { tools: chatTools, tool_choice: 'auto' }],
]
const noChat: readonly Row[] = [
  [
    'what the SDK read from an answer',
    { messages: [user, { role: 'assistant', content: '{"a":1}' }] },
    { messages: [user, { role: 'assistant', content: '{"a":1}', parsed: { a: 1 } }] },
  ],
  [
    'what the SDK read from a call',
    { messages: [user, { role: 'assistant', tool_calls: parsedCalls(undefined) }] },
    { messages: [user, { role: 'assistant', tool_calls: parsedCalls({}) }] },
  ],
  [
    'a field of another message that is null',
    { messages: [{ role: 'user', content: 'x' }] },
    { messages: [{ role: 'user', content: 'x', parsed: null }] },
  ],
  [
    'two texts and their concatenation',
    { messages: [{ role: 'user', content: [text('H'), text('i')] }] },
    { messages: [user] },
  ],
  [
    'an empty text and none',
    { messages: [user, { role: 'assistant', content: '', tool_calls: calls }] },
    { messages: [user, { role: 'assistant', content: null, tool_calls: calls }] },
  ],
  ['another blank', {}, { messages: [{ role: 'user', content: 'Hi ' }] }],
  ['tools in another order', { tools: [...chatTools, ...others] }, { tools: [...others, ...chatTools] }],
  ['max_tokens and max_completion_tokens', { max_tokens: 9 }, { max_completion_tokens: 9 }],
  ['an alias of a model and its dated name', { model: 'gpt-4o' }, { model: 'gpt-4o-2024-08-06' }],
  ['a seed', {}, { seed: 1 }],
  [
    'a system message and a first user turn',
    { messages: [{ role: 'system', content: 'a' }, user] },
    { messages: [{ role: 'user', content: 'a' }, user] },
  ],
  ['a field that is never null', {}, { tools: null }],
  [
    'a user message whose content is null',
    { messages: [{ role: 'user' }] },
    { messages: [{ role: 'user', content: null }] },
  ],
  ['a stream', {}, { stream: true }],
  ['no tool choice, with tools', { tools: chatTools }, { tools: chatTools, tool_choice: 'none' }],
  ['a part that is marked', {}, { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', mark: 1 }] }] }],
]
const ownChat: readonly Row[] = [
  ['a temperature of 1', {}, { temperature: 1 }],
  ['a top_p of 1', {}, { top_p: 1 }],
  ['parallel calls', { tools: chatTools }, { tools: chatTools, parallel_tool_calls: true }],
  [
    'developer and system',
    { messages: [{ role: 'developer', content: 'a' }, user] },
    { messages: [{ role: 'system', content: 'a' }, user] },
  ],
]
table(
  'a chat completion at OpenAI',
  openai,
  chat,
  [...anyChat, ...ownChat],
  [...noChat, ['fewer calls at once', { tools: chatTools }, { tools: chatTools, parallel_tool_calls: false }]],
)
table(
  'a chat completion of an OpenAI model at Azure',
  'https://x.openai.azure.com/openai/deployments/gpt-4o/chat/completions',
  { messages: [user] },
  ownChat,
  [],
)
table(
  'a chat completion of another model at Azure',
  'https://x.openai.azure.com/openai/deployments/deepseek-r1/chat/completions',
  { messages: [user] },
  anyChat,
  ownChat,
)
table(
  'a chat completion of an open model at Azure',
  'https://x.services.ai.azure.com/openai/v1/chat/completions',
  { ...chat, model: 'gpt-oss-120b' },
  [],
  ownChat,
)
table('a chat completion on this machine', vllm, chat, anyChat, [...noChat, ...ownChat])
table(
  'a chat completion at a host named after OpenAI',
  'https://api.openai.com.evil.example/v1/chat/completions',
  chat,
  anyChat,
  ownChat,
)

table(
  'a chat with Mistral',
  'https://api.mistral.ai/v1/chat/completions',
  chat,
  [
    ...anyChat,
    [
      'any tool and a required one',
      { tools: chatTools, tool_choice: 'any' },
      { tools: chatTools, tool_choice: 'required' },
    ],
    ['no safe prompt', {}, { safe_prompt: false }],
    [
      'no prefix',
      { messages: [user, { role: 'assistant', content: 'H' }] },
      { messages: [user, { role: 'assistant', content: 'H', prefix: false }] },
    ],
  ],
  [
    ...ownChat,
    [
      'a prefix',
      { messages: [user, { role: 'assistant', content: 'H' }] },
      { messages: [user, { role: 'assistant', content: 'H', prefix: true }] },
    ],
  ],
)
table(
  'a chat with somebody else than Mistral',
  vllm,
  chat,
  [],
  [
    [
      'any tool and a required one',
      { tools: chatTools, tool_choice: 'any' },
      { tools: chatTools, tool_choice: 'required' },
    ],
    ['no safe prompt', {}, { safe_prompt: false }],
  ],
)

table(
  'a chat with Ollama',
  'http://127.0.0.1:11434/api/chat',
  { model: 'qwen3', messages: [user] },
  [
    ['a stream', {}, { stream: true }],
    ['nothing to choose from', {}, { options: {}, tools: [], messages: [{ ...user, images: [] }] }],
  ],
  [
    ['a whole answer', {}, { stream: false }],
    ['an option', {}, { options: { temperature: 0 } }],
    ['an image', {}, { messages: [{ ...user, images: ['aGk='] }] }],
    ['a list of parts, which it does not take', {}, { messages: [{ role: 'user', content: [text('Hi')] }] }],
  ],
)

const responses = 'https://api.openai.com/v1/responses'
const asked = { model: 'gpt-4.1', input: 'Hi' }
const output = (value: Json): JsonMap => ({ input: [{ type: 'function_call_output', call_id: 'c1', output: value }] })
/** An answer and a call with what `parse()` of the SDK puts beside them. */
const parsed = (read: Json | undefined): JsonMap => {
  const [inText, inCall] = read === undefined ? [{}, {}] : [{ parsed: read }, { parsed_arguments: read }]
  const content = [{ type: 'output_text', text: 'x', annotations: [], ...inText }]
  const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}', ...inCall }
  return { input: [user, { type: 'message', role: 'assistant', content }, call] }
}
table(
  'a Responses request',
  responses,
  asked,
  [
    ['a text and a message of the user', {}, { input: [user] }],
    ['a message that says it is one', { input: [user] }, { input: [{ type: 'message', ...user }] }],
    [
      'a text and a list of its one part',
      {},
      { input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }] },
    ],
    [
      'an earlier answer',
      { input: [user, { role: 'assistant', content: 'Yes' }] },
      { input: [user, { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes' }] }] },
    ],
    ['what the SDK read from an answer, left out or null', parsed(undefined), parsed(null)],
    ['what a tool answered', output('x'), output([{ type: 'input_text', text: 'x' }])],
    [
      'defaults',
      {},
      {
        stream: false,
        truncation: 'disabled',
        tool_choice: 'auto',
        background: false,
        text: { format: { type: 'text' } },
      },
    ],
    ["OpenAI's defaults", {}, { temperature: 1, top_p: 1, parallel_tool_calls: true, store: true }],
    [
      'settings that are null',
      {},
      { instructions: null, previous_response_id: null, reasoning: null, max_output_tokens: null },
    ],
    [
      'a verbosity beside a format of text',
      { text: { verbosity: 'low' } },
      { text: { verbosity: 'low', format: { type: 'text' } } },
    ],
  ],
  [
    [
      'instructions and a first item of the system',
      { instructions: 'a', input: [user] },
      { input: [{ role: 'system', content: 'a' }, user] },
    ],
    ['what the SDK read from an answer', parsed(undefined), parsed({})],
    ['nothing is kept', {}, { store: false }],
    [
      'a strict tool',
      { tools: [{ type: 'function', name: 'f' }] },
      { tools: [{ type: 'function', name: 'f', strict: false }] },
    ],
    [
      'two texts and their concatenation',
      output('ab'),
      output([
        { type: 'input_text', text: 'a' },
        { type: 'input_text', text: 'b' },
      ]),
    ],
    [
      'an earlier answer with its notes',
      { input: [{ role: 'assistant', content: 'a' }] },
      {
        input: [
          { role: 'assistant', content: [{ type: 'output_text', text: 'a', annotations: [{ type: 'url_citation' }] }] },
        ],
      },
    ],
    ['an earlier response', {}, { previous_response_id: 'r1' }],
    [
      'developer and system',
      { input: [{ role: 'developer', content: 'a' }] },
      { input: [{ role: 'system', content: 'a' }] },
    ],
    ['a format', {}, { text: { format: { type: 'json_object' } } }],
    ['a field that is never null', {}, { tools: null }],
  ],
)
table(
  'a Responses request elsewhere',
  'http://127.0.0.1:8000/v1/responses',
  asked,
  [['no stream', {}, { stream: false }]],
  [
    ["OpenAI's temperature", {}, { temperature: 1 }],
    ["OpenAI's memory", {}, { store: true }],
  ],
)

const claude = { model: 'claude-1', max_tokens: 9, messages: [user] }
const result = (more: JsonMap): JsonMap => ({
  messages: [user, { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', ...more }] }],
})
table(
  'a request to Anthropic',
  'https://api.anthropic.com/v1/messages',
  claude,
  [
    ['a text and a list of its one block', {}, { messages: [{ role: 'user', content: [text('Hi')] }] }],
    ['a system prompt and a list of its one block', { system: 'a' }, { system: [text('a')] }],
    ['what a tool answered', result({ content: 'x' }), result({ content: [text('x')] })],
    ['a result that is no error', result({ content: 'x' }), result({ content: 'x', is_error: false })],
    [
      'turns of one speaker',
      { messages: [user, { role: 'user', content: 'there' }] },
      { messages: [{ role: 'user', content: [text('Hi'), text('there')] }] },
    ],
    ['no stream', {}, { stream: false }],
    [
      'an automatic tool choice',
      { tools: [tool] },
      { tools: [tool], tool_choice: { type: 'auto', disable_parallel_tool_use: false } },
    ],
    ['a tool of the agent', { tools: [tool] }, { tools: [{ ...tool, type: 'custom' }] }],
    [
      'marks of a cache',
      { system: 'a', tools: [tool], ...result({ content: 'x' }) },
      {
        system: [{ type: 'text', text: 'a', ...cached }],
        tools: [{ ...tool, ...cached }],
        ...result({ content: [{ type: 'text', text: 'x', ...cached }], ...cached }),
        ...cached,
      },
    ],
    [
      'no citations',
      { messages: [{ role: 'user', content: [text('a'), text('b')] }] },
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'a', citations: null }, text('b')] }] },
    ],
    ['a container that is null', {}, { container: null }],
  ],
  [
    ['a temperature of 1', {}, { temperature: 1 }],
    ['a system prompt and a first user turn', { system: 'a' }, { messages: [{ role: 'user', content: 'a' }, user] }],
    ['two texts and their concatenation', {}, { messages: [{ role: 'user', content: [text('H'), text('i')] }] }],
    ['a result that is an error', result({ content: 'x' }), result({ content: 'x', is_error: true })],
    [
      'calls one by one',
      { tools: [tool] },
      { tools: [tool], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    ],
    ['an automatic tool choice without tools', {}, { tool_choice: { type: 'auto' } }],
    [
      'turns of two speakers',
      { messages: [user, { role: 'assistant', content: 'a' }] },
      { messages: [user, { role: 'user', content: 'a' }] },
    ],
    ['a field that is never null', {}, { temperature: null }],
    [
      'an order of blocks',
      { messages: [{ role: 'user', content: [text('a'), text('b')] }] },
      { messages: [{ role: 'user', content: [text('b'), text('a')] }] },
    ],
  ],
)

const gemini = 'https://generativelanguage.googleapis.com/v1beta/models/gemini-1:generateContent'
const parts = [{ text: 'Hi' }]
table(
  'a request to Gemini',
  gemini,
  { contents: [{ role: 'user', parts }] },
  [
    ['a speaker that is the user', {}, { contents: [{ parts }] }],
    ['a role of the instruction', { systemInstruction: { parts } }, { system_instruction: { role: 'user', parts } }],
    ['one candidate', { generationConfig: { topP: 1 } }, { generation_config: { top_p: 1, candidate_count: 1 } }],
    ['a field that is null', {}, { tools: null }],
    ['a configuration in which nothing is set', {}, { generationConfig: {} }],
    ['the default as the only setting', {}, { generationConfig: { candidateCount: 1 } }],
  ],
  [
    ['the model as speaker', {}, { contents: [{ role: 'model', parts }] }],
    ['two candidates', { generationConfig: {} }, { generationConfig: { candidateCount: 2 } }],
    ['a temperature of 1', { generationConfig: {} }, { generationConfig: { temperature: 1 } }],
    [
      'an instruction and a first turn',
      { systemInstruction: { parts } },
      {
        contents: [
          { role: 'user', parts },
          { role: 'user', parts },
        ],
      },
    ],
    ['two texts and their concatenation', {}, { contents: [{ role: 'user', parts: [{ text: 'H' }, { text: 'i' }] }] }],
  ],
)
table(
  'contents that go somewhere else',
  'https://a.example/generate',
  { contents: [{ role: 'user', parts }] },
  [],
  [['a speaker that is the user', {}, { contents: [{ parts }] }]],
)

const point = { cachePoint: { type: 'default' } }
const said = [{ text: 'Hi' }]
const spec = { toolSpec: { name: 'f', inputSchema: { json: {} } } }
table(
  'a request to Converse',
  'https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-1/converse',
  { messages: [{ role: 'user', content: said }] },
  [
    [
      'points of a cache',
      { system: said, toolConfig: { tools: [spec] } },
      {
        system: [...said, point],
        messages: [{ role: 'user', content: [...said, point] }],
        toolConfig: { tools: [spec, point] },
      },
    ],
  ],
  [
    // The reference names no default.
    [
      'a status of a result',
      { messages: [{ role: 'user', content: [{ toolResult: { toolUseId: 'c1', content: said } }] }] },
      {
        messages: [{ role: 'user', content: [{ toolResult: { toolUseId: 'c1', content: said, status: 'success' } }] }],
      },
    ],
    ['another text', {}, { messages: [{ role: 'user', content: [{ text: 'Hi' }, { text: '!' }] }] }],
  ],
)

table(
  'a request to Cohere',
  'https://api.cohere.com/v2/chat',
  { model: 'command-a', messages: [user] },
  [
    ['a text and a list of its one block', {}, { messages: [{ role: 'user', content: [text('Hi')] }] }],
    ['no stream', {}, { stream: false }],
  ],
  [
    ['two texts and their concatenation', {}, { messages: [{ role: 'user', content: [text('H'), text('i')] }] }],
    [
      'what a tool answered',
      { messages: [{ role: 'tool', tool_call_id: 'c1', content: 'x' }] },
      { messages: [{ role: 'tool', tool_call_id: 'c1', content: [text('x')] }] },
    ],
    ['a first version', {}, { messages: [], message: 'Hi' }],
  ],
)

test.for(Object.entries(agentRequests))('%s is left alone where it has one spelling', ([, { url, body }]) => {
  const once = inOneSpelling(url, body)
  expect(inOneSpelling(url, once)).toBe(once)
})
