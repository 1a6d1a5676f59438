import { anthropic } from './dialects/anthropic.ts'
import { chat } from './dialects/chat.ts'
import { gemini } from './dialects/gemini.ts'
import { responses } from './dialects/responses.ts'
import { answerMcp } from './mcp.ts'
import {
  type ApiRequest,
  type Asked,
  BadRequest,
  type Decision,
  type Deeds,
  type Dialect,
  Overloaded,
  type WireAnswer,
  type WireRequest,
  type World,
} from './types.ts'

export interface LiveOptions {
  /** Instead of the world's own mind: what a model answered before. */
  readonly decide?: (asked: Asked) => Decision
  /** Default: different in every answer, as real providers make them. */
  readonly id?: (prefix: string) => string
}

/** An answer of a model: what it decided, or that it cannot be asked right now. */
export type Scripted = Decision | { readonly overloaded: true }

/** One run's world, with a record of what was done in it. */
export interface LiveWorld {
  readonly deeds: Deeds
  /** Bodies of the requests to the model, as they came. */
  readonly requests: object[]
  /** What the model answered, its refusals included. */
  readonly script: Scripted[]
  answer(request: WireRequest): WireAnswer
}

/** Sets a world going: answers models and services, and writes down what an agent does in it. */
export function liveWorld(world: World, { decide, id = randomId }: LiveOptions = {}): LiveWorld {
  const deeds: Deeds = { decisions: [], calls: [] }
  const requests: object[] = []
  const script: Scripted[] = []
  const keys = new Map<string, number>()
  return { deeds, requests, script, answer }

  function answer(request: WireRequest): WireAnswer {
    const { pathname, searchParams } = new URL(request.url, 'http://world')
    const path = pathname.replace(/^\/[a-z]+/, '')
    const dialect = dialectOf(path)
    if (dialect !== undefined) return model(dialect, path, JSON.parse(request.body) as object)
    if (path.startsWith('/mcp')) return { ...answerMcp(request, world, note), delayMs: 0 }
    const asked: ApiRequest = {
      method: request.method,
      path: path.replace(/^\/api/, ''),
      query: Object.fromEntries(searchParams),
      body: request.body === '' ? {} : (JSON.parse(request.body) as ApiRequest['body']),
      headers: request.headers,
    }
    note(asked)
    const { status = 200, body, delayMs = 0 } = world.serve(asked)
    return json(status, body, delayMs)
  }

  function model(dialect: Dialect, path: string, sent: object): WireAnswer {
    const named = /\/models\/([^:]+)/.exec(path)?.[1]
    const body = named === undefined ? sent : { ...sent, model: named }
    requests.push(body)
    try {
      const asked = dialect.read(body)
      const decision = (decide ?? ((each: Asked) => world.decide(each)))(asked)
      deeds.decisions.push(decision)
      script.push(decision)
      const answered = dialect.write(decision, body, id)
      if (!('stream' in body) || body.stream !== true || dialect.stream === undefined) return json(200, answered, 0)
      return {
        status: 200,
        headers: { 'content-type': 'text/event-stream' },
        body: dialect.stream(answered),
        delayMs: 0,
      }
    } catch (error) {
      if (error instanceof Overloaded) {
        script.push({ overloaded: true })
        return json(429, { error: { code: 429, message: 'overloaded' } }, 0)
      }
      if (!(error instanceof BadRequest)) throw error
      return json(400, { error: { type: 'invalid_request_error', message: error.message } }, 0)
    }
  }

  function note({ method, path, query, body, headers }: ApiRequest): void {
    const key = headers['idempotency-key']
    if (key !== undefined && !keys.has(key)) keys.set(key, keys.size + 1)
    const number = key === undefined ? undefined : keys.get(key)
    const turn = deeds.decisions.length
    deeds.calls.push({ turn, method, path, query, body, ...(number !== undefined && { key: number }) })
  }
}

function dialectOf(path: string): Dialect | undefined {
  if (path.endsWith('/chat/completions')) return chat
  if (path.endsWith('/responses')) return responses
  if (path.endsWith('/messages')) return anthropic
  return path.includes(':generateContent') ? gemini : undefined
}

function json(status: number, body: unknown, delayMs: number): WireAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body), delayMs }
}

function randomId(prefix: string): string {
  return prefix + crypto.randomUUID().replaceAll('-', '').slice(0, 24)
}
