// The server that the conformance suite judges: everything that its server scenarios ask for, with the server of the official
// SDK over streamable HTTP, sessions, and streams that are gone on with.
import { randomUUID } from 'node:crypto'
import type { Server as HttpServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { type EventStore, StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  GetPromptRequestSchema,
  type JSONRPCMessage,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  type ServerNotification,
  type ServerRequest,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>
type Words = Readonly<Record<string, string>>

const sessions = new Map<string, StreamableHTTPServerTransport>()

/** A PNG of one red pixel, and a WAV without a sound. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const wav = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='

const text = (said: string) => ({ type: 'text', text: said })
const image = { type: 'image', data: png, mimeType: 'image/png' }
const resource = (uri: string, mimeType: string, said: string) => ({
  type: 'resource',
  resource: { uri, mimeType, text: said },
})

async function elicited(message: string, properties: object, extra: Extra): Promise<object[]> {
  const requestedSchema = { type: 'object' as const, properties: properties as Record<string, never> }
  const { action, content = {} } = await extra.sendRequest(
    { method: 'elicitation/create', params: { message, requestedSchema } },
    ElicitResultSchema,
  )
  return [text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`)]
}

const options = ['option1', 'option2', 'option3']
const titled = ['value1', 'value2', 'value3'].map((value) => ({ const: value, title: `The ${value}` }))

const tools: Readonly<Record<string, (args: Words, extra: Extra) => object[] | Promise<object[]>>> = {
  test_simple_text: () => [text('This is a simple text response for testing.')],
  test_image_content: () => [image],
  test_audio_content: () => [{ type: 'audio', data: wav, mimeType: 'audio/wav' }],
  test_embedded_resource: () => [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource.')],
  test_multiple_content_types: () => [
    text('Multiple content types test:'),
    image,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ],
  async test_tool_with_logging(_args, { sendNotification }) {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await sendNotification({ method: 'notifications/message', params: { level: 'info', data } })
      await sleep(20)
    }
    return [text('Tool with logging executed')]
  },
  async test_tool_with_progress(_args, { sendNotification, _meta: meta }) {
    const progressToken = meta?.progressToken ?? 0
    for (const progress of [0, 50, 100]) {
      await sendNotification({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } })
      await sleep(20)
    }
    return [text(`${progressToken}`)]
  },
  test_error_handling() {
    throw new Error('This tool intentionally returns an error for testing')
  },
  async test_reconnection(_args, { sessionId = '', requestId }) {
    sessions.get(sessionId)?.closeSSEStream(requestId)
    await sleep(100)
    return [text('The client came back')]
  },
  async test_sampling({ prompt = '' }, { sendRequest }) {
    const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: prompt } }]
    const params = { messages, maxTokens: 100 }
    const { content } = await sendRequest({ method: 'sampling/createMessage', params }, CreateMessageResultSchema)
    return [text(`LLM response: ${JSON.stringify(content)}`)]
  },
  test_elicitation: ({ message = '' }, extra) => elicited(message, { response: { type: 'string' } }, extra),
  test_elicitation_sep1034_defaults(_args, extra) {
    const properties = {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }
    return elicited('Please review the defaults', properties, extra)
  },
  test_elicitation_sep1330_enums(_args, extra) {
    const properties = {
      untitledSingle: { type: 'string', enum: options },
      titledSingle: { type: 'string', oneOf: titled },
      legacyEnum: { type: 'string', enum: ['opt1', 'opt2'], enumNames: ['Option One', 'Option Two'] },
      untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
      titledMulti: { type: 'array', items: { anyOf: titled } },
    }
    return elicited('Please select options', properties, extra)
  },
  json_schema_2020_12_tool: (args) => [text(JSON.stringify(args))],
}

const noInput = { type: 'object' as const, properties: {} }
const stringInput = (key: string) => ({
  type: 'object' as const,
  properties: { [key]: { type: 'string' } },
  required: [key],
})
const inputs: Readonly<Record<string, object>> = {
  test_sampling: stringInput('prompt'),
  test_elicitation: stringInput('message'),
  json_schema_2020_12_tool: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
    properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
    additionalProperties: false,
  },
}

const resources: Readonly<Record<string, object>> = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: png },
  'test://watched-resource': { mimeType: 'text/plain', text: 'Watched resource content' },
}

const prompts: Readonly<Record<string, readonly [args: readonly string[], make: (args: Words) => object[]]>> = {
  test_simple_prompt: [[], () => [text('This is a simple prompt for testing.')]],
  test_prompt_with_arguments: [
    ['arg1', 'arg2'],
    ({ arg1, arg2 }) => [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  ],
  test_prompt_with_embedded_resource: [
    ['resourceUri'],
    ({ resourceUri = '' }) => [
      resource(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
      text('Please process the embedded resource above.'),
    ],
  ],
  test_prompt_with_image: [[], () => [image, text('Please analyze the image above.')]],
}

function everythingServer(): Server {
  const listChanged = true
  const server = new Server(
    { name: 'harvest', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged },
        resources: { subscribe: true, listChanged },
        prompts: { listChanged },
        logging: {},
        completions: {},
      },
    },
  )
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.keys(tools).map((name) => ({
      name,
      description: `Does ${name}`,
      inputSchema: (inputs[name] ?? noInput) as typeof noInput,
    })),
  }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: args = {} } }, extra) => {
    try {
      return { content: (await tools[name]!(args as Words, extra)) as never[] }
    } catch (error) {
      return { isError: true, content: [text(String(error))] as never[] }
    }
  })
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: Object.keys(resources).map((uri) => ({ uri, name: uri, description: `Holds ${uri}` })),
  }))
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template' }],
  }))
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
    const [, id] = /^test:\/\/template\/(.+)\/data$/.exec(uri) ?? []
    const made = {
      mimeType: 'application/json',
      text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
    }
    return { contents: [{ uri, ...(id === undefined ? resources[uri] : made) }] as never[] }
  })
  server.setRequestHandler(ListPromptsRequestSchema, () => ({
    prompts: Object.entries(prompts).map(([name, [args]]) => ({
      name,
      description: `Asks ${name}`,
      arguments: args.map((one) => ({ name: one, required: true })),
    })),
  }))
  server.setRequestHandler(GetPromptRequestSchema, ({ params: { name, arguments: args = {} } }) => ({
    messages: prompts[name]![1](args).map((content) => ({ role: 'user' as const, content: content as never })),
  }))
  server.setRequestHandler(CompleteRequestSchema, () => ({ completion: { values: [], total: 0, hasMore: false } }))
  for (const schema of [SetLevelRequestSchema, SubscribeRequestSchema, UnsubscribeRequestSchema])
    server.setRequestHandler(schema, () => ({}))
  return server
}

/** Keeps what was sent on each stream, for whoever comes back to it. */
function eventStore(): EventStore {
  const kept: { readonly id: string; readonly stream: string; readonly message: JSONRPCMessage }[] = []
  return {
    async storeEvent(stream, message) {
      const id = `${stream}::${kept.length}`
      kept.push({ id, stream, message })
      return Promise.resolve(id)
    },
    async replayEventsAfter(last, { send }) {
      const at = kept.findIndex(({ id }) => id === last)
      const stream = kept[at]?.stream ?? ''
      for (const { id, message } of kept.slice(at + 1).filter((one) => one.stream === stream))
        if (Object.keys(message).length > 0) await send(id, message)
      return stream
    },
  }
}

/** Listens on a free port of this machine. */
export function serveEverything(): HttpServer {
  const app = createMcpExpressApp()
  // Some scenarios answer with all headers that came, and a tape keeps no more than those that may matter.
  app.disable('x-powered-by')
  app.all('/mcp', async (request, response) => {
    const known = sessions.get(String(request.headers['mcp-session-id']))
    if (known) return known.handleRequest(request, response, request.body)
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      eventStore: eventStore(),
      retryInterval: 200,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    })
    await everythingServer().connect(transport as Transport)
    return transport.handleRequest(request, response, request.body)
  })
  return app.listen(0, '127.0.0.1')
}
