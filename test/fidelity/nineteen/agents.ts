import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import OpenAI from 'openai'

/** Addresses of one of the nineteen agents. */
export interface Base {
  readonly base: string
}

/** What a developer may change between recording and replay. */
export interface Change {
  readonly system?: string
  readonly toolDescription?: string
  readonly user?: string
}

/** One JSON answer, byte for byte. */
export async function rawAnswer({ base }: Base): Promise<string> {
  return (await fetch(`${base}/tool/raw`)).text()
}

/** The pieces an event stream came in; `onPiece` is called when one was read. */
export async function streamPieces({ base }: Base, onPiece = (): void => undefined): Promise<readonly string[]> {
  const response = await fetch(`${base}/events/8`)
  const decoder = new TextDecoder()
  const pieces: string[] = []
  for await (const piece of response.body!) {
    pieces.push(decoder.decode(piece))
    onPiece()
  }
  return pieces
}

/** One model call with a system prompt, a tool and a user message. */
export async function chat({ base }: Base, change: Change = {}): Promise<unknown> {
  const { system = 'You sell tea.', toolDescription = 'Weather of a city', user = 'I am user 7' } = change
  const client = new OpenAI({ apiKey: 'test-key', baseURL: `${base}/v1`, maxRetries: 0 })
  const parameters = { type: 'object', properties: { city: { type: 'string' } } }
  const { choices } = await client.chat.completions.create({
    model: 'm',
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
    tools: [{ type: 'function', function: { name: 'get_weather', description: toolDescription, parameters } }],
  })
  return choices[0]?.message
}

/** Two questions of which one begins like the other, asked in either order. */
export async function twoOrders(
  { base }: Base,
  orders: readonly string[] = ['order 12', 'order 123'],
): Promise<unknown> {
  const client = new OpenAI({ apiKey: 'test-key', baseURL: `${base}/v1`, maxRetries: 0 })
  const answers = orders.map(async (order) => {
    const messages = [{ role: 'user' as const, content: `What about ${order}` }]
    const { choices } = await client.chat.completions.create({ model: 'm', messages })
    return [order, choices[0]?.message.content] as const
  })
  return Object.fromEntries(await Promise.all(answers))
}

/** Asks the model one thing after the other. */
export async function askInTurn(
  { base }: Base,
  questions: readonly string[] = ['reserve it', 'charge it'],
): Promise<unknown> {
  const client = new OpenAI({ apiKey: 'test-key', baseURL: `${base}/v1`, maxRetries: 0 })
  const answers: unknown[] = []
  for (const content of questions) {
    const { choices } = await client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content }] })
    answers.push(choices[0]?.message.content)
  }
  return answers
}

/** Calls named tools one after the other. */
export async function callInTurn({ base }: Base, names: readonly string[] = ['reserve', 'charge']): Promise<unknown> {
  const answers: unknown[] = []
  for (const name of names)
    answers.push(await (await fetch(`${base}/tool/${name}`, { method: 'POST', body: name })).json())
  return answers
}

/** Calls named tools one after the other, ignoring every error, as agents do that must go on. */
export async function callAndGoOn(input: Base, names: readonly string[]): Promise<string> {
  for (const name of names) await callInTurn(input, [name]).catch(() => undefined)
  return 'done'
}

/** The same request three times. */
export async function thrice({ base }: Base): Promise<readonly string[]> {
  const answers: string[] = []
  for (let i = 0; i < 3; i += 1) answers.push(await (await fetch(`${base}/tool/dice`)).text())
  return answers
}

/** Three calls at once; returns who came back when. The provider answers them slowest first. */
export async function threeAtOnce({ base }: Base): Promise<readonly string[]> {
  const arrived: string[] = []
  const calls = [240, 120, 5].map(async (latency) => {
    await (await fetch(`${base}/~three-${latency}~lat${latency}/tool/slow`)).text()
    arrived.push(`after ${latency}`)
  })
  await Promise.all(calls)
  return arrived
}

/** Sends a key in a header, another in the body, and somebody's address. */
export async function tellsSecrets({ base }: Base): Promise<string> {
  const response = await fetch(`${base}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secrets.header}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'm',
      messages: [{ role: 'user', content: `I am ${secrets.email}, key ${secrets.body}` }],
    }),
  })
  return response.text()
}

/** Invented secrets in the shapes of real ones. */
export const secrets = {
  header: 'sk-proj-Zq3vT8mN1cX5rLw9KdYb2HfJ7sPgEa4u',
  body: 'AKIAQ7WZ3MNB5XKD2LRT',
  email: 'greta.holm@teahouse.example',
} as const

/** A stream whose connection is lost half way. */
export async function losesConnection({ base }: Base): Promise<unknown> {
  const pieces: string[] = []
  const decoder = new TextDecoder()
  try {
    const response = await fetch(`${base}/~lost~dropmid+slow3/events/8`)
    for await (const piece of response.body!) pieces.push(decoder.decode(piece))
    return { pieces, ended: 'well' }
  } catch (error) {
    const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } }
    return { pieces, name, message, code: cause?.code, because: cause?.message }
  }
}

/** Waits and tries again while it is told there are too many requests. */
export async function triesAgain({ base }: Base): Promise<readonly (number | string)[]> {
  const seen: (number | string)[] = []
  for (;;) {
    const response = await fetch(`${base}/~again~429x1r2/tool/again`)
    seen.push(response.status, response.headers.get('retry-after') ?? 'no retry-after')
    const body = await response.text()
    if (response.ok) return [...seen, body]
    await sleep(20)
  }
}

/** Reads the first piece of a stream and leaves. */
export async function leavesEarly({ base }: Base): Promise<unknown> {
  const controller = new AbortController()
  const response = await fetch(`${base}/~early~slow30/events/8`, { signal: controller.signal })
  const decoder = new TextDecoder()
  const pieces: string[] = []
  try {
    for await (const piece of response.body!) {
      pieces.push(decoder.decode(piece))
      controller.abort()
    }
  } catch (error) {
    return { pieces, endedWith: (error as Error).name }
  }
  return { pieces, endedWith: 'nothing' }
}

/** Asks a server by node:http. */
export function askByNodeHttp(port: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    http.get(`http://127.0.0.1:${port}/`, resolve).on('error', reject)
  })
}
