import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { spoil } from './ledger.ts'
import { type ModelMessage, think, type Thought, wordOf } from './mind.ts'
import { entryOf, type HttpFault, isThere, type Luck, recorded, type World } from './world.ts'

/** A model and a service that listen on 127.0.0.1: one address for every world, and nothing known of the runs in it. */
export interface ModelServer {
  /** Makes a world reachable. */
  add(world: World): void
  /** Address of a world's model and service. */
  addressOf(world: World): string
  /** Forgets a world. */
  remove(world: World): void
  /** Requests that reached a world's model, so far. */
  callsOf(world: World): number
  close(): Promise<void>
}

/** Says whose luck a request has: the one thing that tells the runs of a world apart. */
export const luckHeader = 'x-luck'

export async function openModelServer(): Promise<ModelServer> {
  const worlds = new Map<string, { readonly world: World; calls: number }>()
  // The client closes connections it does not use. If both did, a busy machine would lose requests between the two.
  const server = http.createServer({ keepAliveTimeout: 0 }, (request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error))
    })
  })
  // A client that goes away in the middle of an answer is what some faults are about.
  server.on('clientError', (_, socket) => socket.destroy())
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const { port } = server.address() as AddressInfo
  return {
    add: (world) => void worlds.set(world.id, { world, calls: 0 }),
    addressOf: ({ id }) => `http://127.0.0.1:${port}/${id}`,
    remove: ({ id }) => void worlds.delete(id),
    callsOf: ({ id }) => worlds.get(id)?.calls ?? 0,
    async close() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, id = '', kind, entry] = (request.url ?? '').split('/')
    const known = worlds.get(id)
    if (known === undefined) return void response.writeHead(404).end()
    const { world } = known
    const luck = String(request.headers[luckHeader] ?? '')
    if (kind === 'instructions') return reply(response, instruction(world, luck, Number(entry)))
    const asked = JSON.parse(await textOf(request)) as ChatRequest
    known.calls++
    if (asked.messages[0]?.content === 'clerk') return reply(response, completion(asked, echoOf(asked)))
    const thought = think(world, luck, asked.messages)
    const fault = luck === recorded ? faultAt(world, thought.question) : undefined
    if (luck === recorded && isFirstTry(request) && isRefusedOnce(world, thought.question)) {
      response.writeHead(429, { 'retry-after-ms': '1' }).end('{"error":{"message":"slow down"}}')
      return
    }
    if (fault !== undefined) return refuse(response, fault, completion(asked, thought))
    if (asked.stream === true) stream(response, chunksOf(completion(asked, thought)))
    else reply(response, completion(asked, thought))
  }
}

interface ChatRequest {
  readonly model: string
  readonly stream?: boolean
  readonly messages: readonly ModelMessage[]
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

function instruction(world: World, luck: Luck, entry: number): unknown {
  const right = entryOf(world, entry)
  const plant = world.plants.find((one) => one.what === 'value' && one.entry === entry)
  if (plant?.what !== 'value' || plant.fault === 'timeout' || !isThere(world, luck, plant)) return right
  return spoil(right, plant.fault)
}

/** A clerk says what it has read. */
function echoOf({ messages }: ChatRequest): Thought {
  const read = JSON.parse(messages.at(-1)?.content ?? 'null') as Parameters<typeof wordOf>[0]
  return { question: 0, isOtherModel: false, calls: [], content: wordOf(read) }
}

function faultAt({ plants }: World, question: number): HttpFault | undefined {
  const plant = plants.find((one) => one.what === 'http' && one.question === question)
  return plant?.what === 'http' ? plant.fault : undefined
}

/** The SDK says which try it is: nothing needs to be kept between them. */
function isFirstTry({ headers }: IncomingMessage): boolean {
  return (headers['x-stainless-retry-count'] ?? '0') === '0'
}

function isRefusedOnce({ plants }: World, question: number): boolean {
  return plants.some((plant) => plant.what === 'decoy' && plant.kind === '429' && plant.at === question)
}

type Completion = ReturnType<typeof completion>

function completion({ model }: ChatRequest, { question, content, calls, isOtherModel }: Thought) {
  const size = content.length + JSON.stringify(calls).length
  return {
    id: `chatcmpl-${question}`,
    object: 'chat.completion',
    created: 1_790_000_000,
    model: isOtherModel ? `${model}-next` : model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content,
          refusal: null,
          ...(calls.length > 0 && {
            tool_calls: calls.map(({ name, args }) => ({
              id: `call_${args.entry}`,
              type: 'function',
              function: { name, arguments: JSON.stringify(args) },
            })),
          }),
        },
        logprobs: null,
        finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
      },
    ],
    usage: {
      prompt_tokens: 60 + 40 * question,
      completion_tokens: size >> 2,
      total_tokens: 60 + 40 * question + (size >> 2),
    },
  }
}

/** The completion as a stream: the text, then the arguments in two pieces. */
function chunksOf({ choices: [choice], usage: _, ...whole }: Completion): readonly string[] {
  const { content, ...message } = choice?.message ?? { content: '' }
  const calls = ('tool_calls' in message ? message.tool_calls : undefined) ?? []
  const event = (delta: object, finish_reason: string | null = null): string =>
    `data: ${JSON.stringify({ ...whole, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  return [
    event({ role: 'assistant', content }),
    ...calls.flatMap(({ function: { name, arguments: args }, ...call }, index) => [
      event({ tool_calls: [{ index, ...call, function: { name, arguments: args.slice(0, 5) } }] }),
      event({ tool_calls: [{ index, function: { arguments: args.slice(5) } }] }),
    ]),
    event({}, choice?.finish_reason),
    'data: [DONE]\n\n',
  ]
}

function reply(response: ServerResponse, body: unknown): void {
  const text = JSON.stringify(body)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
}

function stream(response: ServerResponse, chunks: readonly string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(chunks.join(''))
}

/** Answers as a provider in trouble does. */
function refuse(response: ServerResponse, fault: HttpFault, whole: Completion): void {
  const text = JSON.stringify(whole)
  const chunks = chunksOf(whole)
  const json = { 'content-type': 'application/json' }
  switch (fault) {
    case '429':
    case '500':
    case '503':
    case '529':
      return void response.writeHead(Number(fault), json).end('{"error":{"message":"try again later"}}')
    case '429_retry_after':
      return void response.writeHead(429, { ...json, 'retry-after': '1' }).end('{"error":{"message":"slow down"}}')
    case 'reset':
      response.writeHead(200, { ...json, 'content-length': Buffer.byteLength(text) })
      return void response.write(text.slice(0, text.length >> 1), () => response.destroy())
    case 'truncated_json':
      return void response.writeHead(200, json).end(text.slice(0, text.length >> 1))
    case 'truncated_sse':
      // The arguments break off, and so does the stream, politely.
      return stream(response, chunks.slice(0, 2))
    case 'malformed_chunk':
      return stream(response, [...chunks.slice(0, 1), 'data: {"choices":[{"delta"\n\n', ...chunks.slice(1)])
    case 'html':
      return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Bad gateway</html>')
    case 'empty':
      return void response.writeHead(200, json).end()
    case 'slow':
      // It never says a word; the client gives up.
      return
    case 'duplicate':
      return stream(
        response,
        chunks.flatMap((chunk) => (chunk.includes('tool_calls') ? [chunk, chunk] : [chunk])),
      )
  }
}
