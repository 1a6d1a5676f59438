import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { Asked } from './request.ts'

/** Where the servers listen. */
export interface Bases {
  readonly first: string
  readonly second: string
  readonly unknown: string
}

/** What a request came to: the name of an answer, or that there was none. */
export type Got = { readonly answer: string } | { readonly refused: string }

/** Sends one request as its agent would. */
export async function ask(request: Asked, bases: Bases): Promise<Got> {
  try {
    const text = await send(request, bases[request.host])
    const answer = /answer-\d+/.exec(text)?.[0]
    return answer === undefined ? { refused: text.slice(0, 200) } : { answer }
  } catch (error) {
    return { refused: String(error).slice(0, 200) }
  }
}

async function send(request: Asked, base: string): Promise<string> {
  const { by, body } = request
  if (by === 'fetch') {
    const { method, path, headers } = request
    const response = await fetch(base + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: body as string }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${response.status} ${text}`)
    return text
  }
  const options = { apiKey: 'test-key', maxRetries: 0, baseURL: by === 'openai' ? `${base}/v1` : base }
  const given = JSON.parse(String(body)) as never
  const made: unknown =
    by === 'openai'
      ? await new OpenAI(options).chat.completions.create(given)
      : await new Anthropic(options).messages.create(given)
  if (!isStream(made)) return JSON.stringify(made)
  let text = ''
  for await (const piece of made) text += JSON.stringify(piece)
  return text
}

function isStream(made: unknown): made is AsyncIterable<unknown> {
  return typeof made === 'object' && made !== null && Symbol.asyncIterator in made
}
