import type { Random } from './random.ts'
import { type Asked, asked } from './request.ts'

/** A model call, before it is put into the words of a vendor. */
export interface Talk {
  model: string
  system: string
  tools: { name: string; description: string; properties: Record<string, string> }[]
  turns: Turn[]
  settings: Record<string, unknown>
  stream: boolean
}

export type Turn =
  | { role: 'user'; text: string; image?: string }
  | { role: 'assistant'; text: string; calls?: { id: string; name: string; args: Record<string, unknown> }[] }
  | { role: 'tool'; id: string; text: string }

/** How a talk is sent. */
export interface Wire {
  readonly dialect: 'openai' | 'responses' | 'anthropic' | 'gemini' | 'bedrock'
  readonly by: Asked['by']
}

const most = ['openai', 'openai', 'openai', 'anthropic', 'anthropic', 'responses', 'gemini', 'bedrock'] as const

/** One call in three by the client of its vendor, where that is OpenAI or Anthropic. */
export function anyWire(random: Random): Wire {
  const dialect = random.pick<Wire['dialect']>(most)
  const hasClient = dialect === 'openai' || dialect === 'anthropic'
  return { dialect, by: hasClient && random.chance(0.33) ? dialect : 'fetch' }
}

/** A call like many others: most of what an agent asks begins and ends like what it asked before. */
export function anyTalk(random: Random): Talk {
  const order = random.int(10, 99_999)
  const turns: Turn[] = []
  if (random.chance(0.4)) {
    turns.push({ role: 'user', text: `Good morning, this is customer ${random.int(1, 999)}.` })
    turns.push({ role: 'assistant', text: 'Good morning! What can I do for you?' })
  }
  turns.push({ role: 'user', text: random.pick(questions)(order, random.int(1, 900), random.id(6)) })
  return {
    model: random.pick(['invented-large-1', 'invented-large-2', 'invented-small-1']),
    system: random.pick(['You sell tea.', 'You are the support of a tea house. Be short.']),
    tools: random.chance(0.5) ? anyTools(random) : [],
    turns,
    settings: { temperature: random.pick([0, 0.2, 0.7]) },
    stream: random.chance(0.15),
  }
}

/** The same after a round of two tools. */
export function toolTalk(random: Random): Talk {
  const talk = anyTalk(random)
  const [one, two] = [`call_${random.id(12)}`, `call_${random.id(12)}`]
  const [order, amount] = [random.int(10, 99_999), random.int(1, 900)]
  talk.tools = anyTools(random)
  talk.turns.push({
    role: 'assistant',
    text: '',
    calls: [
      { id: one, name: 'find_order', args: { order: `A-${order}`, expand: random.chance(0.5) } },
      { id: two, name: 'refund', args: { order: `A-${order}`, amount, currency: 'EUR' } },
    ],
  })
  talk.turns.push({ role: 'tool', id: one, text: JSON.stringify({ order: `A-${order}`, total: amount + 3 }) })
  talk.turns.push({ role: 'tool', id: two, text: JSON.stringify({ refunded: amount, ref: random.id(8) }) })
  return talk
}

/** The request a talk makes. */
export function request(talk: Talk, { dialect, by }: Wire): Asked {
  const [path, body] = dialects[dialect](talk)
  return asked({ path, by, body: JSON.stringify(body) })
}

const dialects: Readonly<Record<Wire['dialect'], (talk: Talk) => readonly [path: string, body: object]>> = {
  openai: (talk) => ['/v1/chat/completions', openaiBody(talk)],
  anthropic: (talk) => ['/v1/messages', anthropicBody(talk)],
  responses: (talk) => ['/v1/responses', responsesBody(talk)],
  gemini: (talk) => [`/v1beta/models/${talk.model}:${talk.stream ? 'streamG' : 'g'}enerateContent`, geminiBody(talk)],
  bedrock: (talk) => [`/model/${talk.model}/converse${talk.stream ? '-stream' : ''}`, bedrockBody(talk)],
}

/** A talk as the body of `/v1/chat/completions`. */
export function openaiBody({ model, system, tools, turns, settings, stream }: Talk): Record<string, unknown> {
  return {
    model,
    messages: [{ role: 'system', content: system }, ...turns.map(openaiMessage)],
    ...(tools.length === 0 ? {} : { tools: tools.map((tool) => ({ type: 'function', function: schema(tool) })) }),
    ...settings,
    ...(stream ? { stream } : {}),
  }
}

function openaiMessage(turn: Turn): unknown {
  if (turn.role === 'tool') return { role: 'tool', tool_call_id: turn.id, content: turn.text }
  if (turn.role === 'assistant') {
    const calls = turn.calls?.map(({ id, name, args }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    }))
    return { role: 'assistant', content: turn.text, ...(calls ? { tool_calls: calls } : {}) }
  }
  if (turn.image === undefined) return { role: 'user', content: turn.text }
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${turn.image}` } }
  return { role: 'user', content: [{ type: 'text', text: turn.text }, image] }
}

function anthropicBody({ model, system, tools, turns, settings, stream }: Talk): Record<string, unknown> {
  return {
    model,
    max_tokens: 512,
    system,
    messages: turns.map(anthropicMessage),
    ...(tools.length === 0
      ? {}
      : { tools: tools.map((tool) => ({ ...schema(tool), parameters: undefined, input_schema: shape(tool) })) }),
    ...settings,
    ...(stream ? { stream } : {}),
  }
}

function anthropicMessage(turn: Turn): unknown {
  if (turn.role === 'tool')
    return { role: 'user', content: [{ type: 'tool_result', tool_use_id: turn.id, content: turn.text }] }
  if (turn.role === 'assistant') {
    if (!turn.calls) return { role: 'assistant', content: turn.text }
    return {
      role: 'assistant',
      content: turn.calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
    }
  }
  if (turn.image === undefined) return { role: 'user', content: turn.text }
  const source = { type: 'base64', media_type: 'image/png', data: turn.image }
  return {
    role: 'user',
    content: [
      { type: 'text', text: turn.text },
      { type: 'image', source },
    ],
  }
}

function responsesBody({ model, system, tools, turns, settings, stream }: Talk): object {
  return {
    model,
    instructions: system,
    input: turns.flatMap((turn): readonly object[] => {
      if (turn.role === 'tool') return [{ type: 'function_call_output', call_id: turn.id, output: turn.text }]
      if (turn.role === 'assistant') {
        if (!turn.calls) return [{ role: 'assistant', content: [{ type: 'output_text', text: turn.text }] }]
        return turn.calls.map(({ id, name, args }) => ({
          type: 'function_call',
          call_id: id,
          name,
          arguments: JSON.stringify(args),
        }))
      }
      const image = { type: 'input_image', image_url: `data:image/png;base64,${turn.image}` }
      const content = [{ type: 'input_text', text: turn.text }, ...(turn.image === undefined ? [] : [image])]
      return [{ role: 'user', content }]
    }),
    ...(tools.length === 0 ? {} : { tools: tools.map((tool) => ({ type: 'function', ...schema(tool) })) }),
    ...settings,
    ...(stream ? { stream } : {}),
  }
}

function geminiBody({ system, tools, turns, settings }: Talk): object {
  return {
    systemInstruction: { parts: [{ text: system }] },
    contents: turns.map((turn) => {
      if (turn.role === 'tool') {
        const response = { output: turn.text }
        return { role: 'user', parts: [{ functionResponse: { id: turn.id, name: 'tool', response } }] }
      }
      if (turn.role === 'assistant') {
        const calls = turn.calls?.map(({ id, name, args }) => ({ functionCall: { id, name, args } }))
        return { role: 'model', parts: calls ?? [{ text: turn.text }] }
      }
      const image = { inlineData: { mimeType: 'image/png', data: turn.image } }
      return { role: 'user', parts: [{ text: turn.text }, ...(turn.image === undefined ? [] : [image])] }
    }),
    ...(tools.length === 0 ? {} : { tools: [{ functionDeclarations: tools.map(schema) }] }),
    generationConfig: settings,
  }
}

function bedrockBody({ system, tools, turns, settings }: Talk): object {
  return {
    system: [{ text: system }],
    messages: turns.map((turn) => {
      if (turn.role === 'tool') {
        return { role: 'user', content: [{ toolResult: { toolUseId: turn.id, content: [{ text: turn.text }] } }] }
      }
      if (turn.role === 'assistant') {
        const calls = turn.calls?.map(({ id, name, args }) => ({ toolUse: { toolUseId: id, name, input: args } }))
        return { role: 'assistant', content: calls ?? [{ text: turn.text }] }
      }
      const image = { image: { format: 'png', source: { bytes: turn.image } } }
      return { role: 'user', content: [{ text: turn.text }, ...(turn.image === undefined ? [] : [image])] }
    }),
    ...(tools.length === 0
      ? {}
      : {
          toolConfig: {
            tools: tools.map((tool) => {
              const { name, description } = tool
              return { toolSpec: { name, description, inputSchema: { json: shape(tool) } } }
            }),
          },
        }),
    inferenceConfig: settings,
  }
}

function schema(tool: Talk['tools'][number]): Record<string, unknown> {
  return { name: tool.name, description: tool.description, parameters: shape(tool) }
}

function shape({ properties }: Talk['tools'][number]): unknown {
  const types = Object.entries(properties).map(([name, type]) => [name, { type }])
  return { type: 'object', properties: Object.fromEntries(types) as unknown }
}

function anyTools(random: Random): Talk['tools'] {
  const refund = { order: 'string', amount: 'number', currency: 'string' }
  const find = { order: 'string', expand: 'boolean' }
  return [
    { name: 'find_order', description: 'Finds an order by its number', properties: find },
    { name: 'refund', description: `Refunds up to ${random.pick([50, 100, 500])} EUR`, properties: refund },
  ]
}

const questions: readonly ((order: number, amount: number, id: string) => string)[] = [
  (order) => `What about order ${order}?`,
  (order) => `Where is order ${order} now, and who signed for it?`,
  (order, amount) => `Please refund ${amount} EUR of order ${order}, the teapot was broken.`,
  (order, amount, id) => `Move ${amount} bags of Assam from shelf ${id} to order ${order}.`,
  (_, amount, id) => `Book ${amount} against account ${id} and close it.`,
  (order, amount) => `Is ${amount} EUR right for order ${order}? Yes or no.`,
]
