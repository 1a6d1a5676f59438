import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chanceOf, type Incident, type Luck, recorded } from './incident.ts'

interface Message {
  readonly role: string
  readonly content: string | null
  readonly tool_calls?: readonly { readonly function: { readonly name: string } }[]
}

interface Thought {
  readonly content: string
  readonly calls: readonly { readonly name: string; readonly args: object }[]
}

/** A model on loopback, as an OpenAI server says it; each incident has an address. */
export async function openModel() {
  const incidents = new Map<string, { readonly incident: Incident; readonly hour: number }>()
  let calls = 0
  const server = http.createServer({ keepAliveTimeout: 0 }, (request, response) => {
    answer(request, response).catch((error: unknown) => void response.writeHead(500).end(String(error)))
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const { port } = server.address() as AddressInfo
  return {
    add(incident: Incident, hour: number): string {
      incidents.set(incident.id, { incident, hour })
      return `http://127.0.0.1:${port}/${incident.id}/v1`
    },
    get calls() {
      return calls
    },
    async close() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const known = incidents.get((request.url ?? '').split('/')[1] ?? '')
    if (known === undefined) return void response.writeHead(404).end()
    calls++
    const asked = JSON.parse(Buffer.concat(chunks).toString('utf8')) as {
      readonly model: string
      readonly stream?: boolean
      readonly messages: readonly Message[]
    }
    const luck = String(request.headers['x-luck'] ?? '')
    const thought = think(known.incident, known.hour, luck, asked.messages)
    if (asked.stream === true) streamed(response, asked.model, thought)
    else whole(response, asked.model, thought)
  }
}

/** Looks orders up, refunds what it found, and says so in words that are others each time. */
function think(incident: Incident, hour: number, luck: Luck, messages: readonly Message[]): Thought {
  const { plant, detours, slip, id } = incident
  const answers = messages
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => JSON.parse(content ?? '{}') as Result)
  const question = messages.filter(({ role }) => role === 'assistant').length
  const words = Math.floor(chanceOf(id, luck, question) * 1e6)
  if (question < detours) return { content: '', calls: [{ name: `look_${words % 7}`, args: { order: 'A-100' } }] }
  const looked = answers.filter(({ total }) => total !== undefined)
  if (looked.length === 0) {
    const isOrder = plant.layer === 'timing' && plant.how.startsWith('order')
    const names = isOrder ? ['lookup', 'cached'] : ['lookup']
    return { content: '', calls: names.map((name) => ({ name, args: { order: 'A-100' } })) }
  }
  if (answers.some(({ paid }) => paid !== undefined)) return { content: `Done, with words ${words}.`, calls: [] }
  const isOff = luck !== recorded && chanceOf(id, luck, 'slip') < slip
  const refunds = amountsOf(incident, luck, looked, hourIn(messages) === hour).map((amount) =>
    isOff ? amount + 1 : amount,
  )
  if (refunds.length === 0) return { content: `Nothing to do, in words ${words}.`, calls: [] }
  return { content: '', calls: refunds.map((amount) => ({ name: 'refund', args: { order: 'A-100', amount } })) }
}

interface Result {
  readonly total?: number
  readonly paid?: number
}

function amountsOf(
  { plant, id, total }: Incident,
  luck: Luck,
  looked: readonly Result[],
  isHour: boolean,
): readonly number[] {
  const first = looked[0]?.total ?? 0
  const last = looked.at(-1)?.total ?? 0
  switch (plant.layer) {
    case 'sampling': {
      const isWrong = luck === recorded || chanceOf(id, luck, 'planted') < plant.rate
      if (!isWrong) return [first]
      return { amount: [first * 100], nothing: [], twice: [first, first] }[plant.how]
    }
    case 'data': {
      const isNoticed = luck !== recorded && first !== total && chanceOf(id, luck, 'noticed') < plant.noticed
      return [isNoticed ? total : first]
    }
    case 'timing':
      if (plant.how === 'order in prompt') return [last]
      return [plant.how === 'clock in prompt' && isHour ? 0 : first]
    case 'code':
      return [first]
  }
}

function hourIn(messages: readonly Message[]): number | undefined {
  const [, hour] = /It is (\d+) o'clock/.exec(messages[1]?.content ?? '') ?? []
  return hour === undefined ? undefined : Number(hour)
}

const usage = { prompt_tokens: 600, completion_tokens: 60, total_tokens: 660 }

function bodyOf(model: string) {
  return { id: 'chatcmpl-1', created: 1_790_000_000, model }
}

function callsOf({ calls }: Thought) {
  return calls.map(({ name, args }, index) => ({
    index,
    id: `call_${name}_${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }))
}

function whole(response: ServerResponse, model: string, thought: Thought): void {
  const calls = callsOf(thought).map(({ index: _, ...call }) => call)
  const message = {
    role: 'assistant',
    content: calls.length > 0 ? null : thought.content,
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  const choices = [{ index: 0, message, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }]
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ ...bodyOf(model), object: 'chat.completion', choices, usage }))
}

function streamed(response: ServerResponse, model: string, thought: Thought): void {
  const event = (delta: object, finish_reason: string | null = null): string => {
    const choices = [{ index: 0, delta, finish_reason }]
    return `data: ${JSON.stringify({ ...bodyOf(model), object: 'chat.completion.chunk', choices })}\n\n`
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(event({ role: 'assistant', content: thought.content }))
  for (const call of callsOf(thought)) response.write(event({ tool_calls: [call] }))
  response.write(event({}, thought.calls.length > 0 ? 'tool_calls' : 'stop'))
  const last = { ...bodyOf(model), object: 'chat.completion.chunk', choices: [], usage }
  response.end(`data: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n`)
}
