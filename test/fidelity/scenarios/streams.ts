import axios from 'axios'
import got from 'got'
import OpenAI from 'openai'
import { request } from 'undici'
import { errorFacts, type Place, type Scenario } from './scenario.ts'

const streamed = '{"stream":true,"model":"m","messages":[]}'

/** How bytes arrive: pieces, compression, and clients that stop listening. */
export const streams: Readonly<Record<string, Scenario>> = {
  'fetch reads a slow stream in the pieces it came in': { run: (place) => read(place, 'slow5') },
  'fetch reads a stream cut every seven bytes': { run: (place) => read(place, 'chunk7+slow1') },
  'fetch reads a slow gzip stream': { run: (place) => read(place, 'gzip+slow5') },
  'fetch reads a slow brotli stream': { run: (place) => read(place, 'br+slow5') },
  'fetch reads a slow zstd stream': { run: (place) => read(place, 'zstd+slow5') },
  'fetch reads gzip JSON': { run: (place) => read(place, 'gzip', { body: '{}' }) },
  'fetch reads brotli JSON': { run: (place) => read(place, 'br', { body: '{}' }) },
  'got reads gzip JSON': {
    run: (place) => got.post(`${place.faulty('gzip')}/vector/search`, { json: {} }).json(),
  },
  'axios reads brotli JSON': {
    run: async (place) => (await axios.post<unknown>(`${place.faulty('br')}/vector/search`, {})).data,
  },
  'undici hands over gzip bytes as they are': {
    run: async (place) => {
      const { body, headers } = await request(`${place.faulty('gzip')}/vector/search`, { method: 'POST', body: '{}' })
      return { bytes: Buffer.from(await body.arrayBuffer()).toString('base64'), encoding: headers['content-encoding'] }
    },
  },
  'openai reads a gzip stream': { run: (place) => streamText(openai(place, 'gzip+slow3')) },
  'openai reads a stream cut every three bytes': { run: (place) => streamText(openai(place, 'chunk3')) },
  'fetch is aborted after three pieces': { run: (place) => read(place, 'slow5', { abortAfter: 3 }) },
  'fetch with AbortSignal.timeout gives up on a slow answer': {
    run: async (place) => (await fetch(`${place.faulty('lat200')}/x`, { signal: AbortSignal.timeout(40) })).status,
    timers: 1,
  },
  'an openai stream left after two events': {
    run: async (place) => {
      const events: string[] = []
      for await (const { choices } of await openStream(openai(place, 'slow5'))) {
        if (events.push(JSON.stringify(choices)) === 2) break
      }
      return events
    },
  },
  'an openai stream aborted by signal after two events': {
    run: async (place) => {
      const controller = new AbortController()
      const events: string[] = []
      for await (const { choices } of await openStream(openai(place, 'slow5'), controller.signal)) {
        if (events.push(JSON.stringify(choices)) === 2) controller.abort()
      }
      return events
    },
  },
  'openai times out twice on a slow answer': {
    run: (place) => complete(openai(place, 'lat200', { timeout: 60, maxRetries: 1 })),
    timers: 2,
  },
}

/** An OpenAI client talking to a misbehaving provider. */
export function openai(place: Place, spec: string, options: ConstructorParameters<typeof OpenAI>[0] = {}): OpenAI {
  return new OpenAI({ apiKey: 'test-key', baseURL: `${place.faulty(spec)}/v1`, ...options })
}

/** One completion and what came of it. */
export async function complete(client: OpenAI): Promise<unknown> {
  const completion = await client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'x' }] })
  return completion.choices[0]?.message.content
}

/** One streamed completion: its text and how many events it took. */
export async function streamText(client: OpenAI): Promise<{ readonly text: string; readonly events: number }> {
  let text = ''
  let events = 0
  for await (const { choices } of await openStream(client)) {
    text += choices[0]?.delta.content ?? ''
    events += 1
  }
  return { text, events }
}

function openStream(client: OpenAI, signal?: AbortSignal) {
  const body = { model: 'm', stream: true as const, messages: [] }
  return client.chat.completions.create(body, signal ? { signal } : {})
}

/** Reads a body piece by piece, and says how it came and how it ended. */
export async function read(
  place: Place,
  spec: string,
  { body = streamed, abortAfter }: { readonly body?: string; readonly abortAfter?: number } = {},
): Promise<unknown> {
  const controller = new AbortController()
  const { signal } = controller
  const response = await fetch(`${place.faulty(spec)}/v1/chat/completions`, { method: 'POST', body, signal })
  const lengths: number[] = []
  const decoder = new TextDecoder()
  let text = ''
  const head = { status: response.status, url: response.url, encoding: response.headers.get('content-encoding') }
  try {
    for await (const piece of response.body!) {
      lengths.push(piece.length)
      text += decoder.decode(piece, { stream: true })
      if (lengths.length === abortAfter) controller.abort()
    }
  } catch (error) {
    return { ...head, lengths, text, endedWith: errorFacts(error) }
  }
  return { ...head, lengths, text }
}
