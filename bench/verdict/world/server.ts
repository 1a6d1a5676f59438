import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { anthropic } from '../../catch/world/dialects/anthropic.ts'
import { chat } from '../../catch/world/dialects/chat.ts'
import { gemini } from '../../catch/world/dialects/gemini.ts'
import { responses } from '../../catch/world/dialects/responses.ts'
import { BadRequest, type Dialect } from '../../catch/world/types.ts'
import { chatStream, geminiStream, responsesStream } from './streams.ts'
import type { Deed, Reply, Request, World } from './types.ts'

/** A loopback server that the world of the moment answers behind. */
export interface WorldServer extends AsyncDisposable {
  readonly port: number
  /** From now on this world answers, and what it is asked goes to this list. */
  enter(world: World, deeds: Deed[]): void
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The bodies of wrapped tools ask here; a replay does not run them, so that these requests are nobody's question. */
export const insideTools = 'inside-tools.example'

/** Opens the server on a free port of 127.0.0.1. */
export async function startServer(): Promise<WorldServer> {
  let current: { readonly world: World; readonly deeds: Deed[]; asked: number } | undefined
  const server = createServer({ keepAliveTimeout: 120_000 }, (incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    // A client that went away while it sent wants no answer.
    incoming.on('error', () => undefined)
    incoming.on('end', () => {
      const headers = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]))
      const { method = 'GET', url = '/' } = incoming
      const { pathname, searchParams } = new URL(url, 'http://world')
      const text = Buffer.concat(chunks).toString('utf8')
      const { host = '' } = headers
      const query = Object.fromEntries(searchParams)
      const { status, headers: sent, body } = answer({ method, host, path: pathname, query, headers, body: read(text) })
      outgoing.writeHead(status, { ...sent }).end(body)
    })
  })
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket, { url = '/' }) => {
    const { pathname: path, searchParams } = new URL(url, 'http://world')
    const query = Object.fromEntries(searchParams)
    const hear = (method: string, body: unknown): void =>
      void current?.deeds.push({ kind: 'service', method, host: 'sockets', path, query, headers: {}, body })
    hear('OPEN', socket.protocol)
    socket.on('message', (data: Buffer, isBinary) => {
      hear('SEND', isBinary ? data.toString('hex') : data.toString('utf8'))
      if (data.toString('utf8').includes('text')) socket.send('{"ok":true}')
    })
    socket.on('close', (code, reason) => hear('CLOSE', `${code} ${reason.toString('utf8')}`))
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return {
    port: (server.address() as AddressInfo).port,
    enter: (world, deeds) => void (current = { world, deeds, asked: 0 }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }

  function answer(request: Request): Answer {
    if (current === undefined) throw new RangeError('no world was entered')
    const { world, deeds } = current
    const dialect = dialectOf(request.path)
    if (dialect === undefined) {
      if (request.host !== insideTools) deeds.push({ kind: 'service', ...request })
      return json(world.serve?.(request) ?? { body: { ok: true } })
    }
    deeds.push({ kind: 'model', ...request })
    const named = /\/models\/([^:]+)/.exec(request.path)?.[1]
    const body = { ...(request.body as object), ...(named !== undefined && { model: named }) }
    try {
      const decision = world.decide(dialect.read(body), current.asked++)
      const whole = dialect.write(decision, body, randomId)
      const isStream = ('stream' in body && body.stream === true) || request.path.includes(':stream')
      return isStream ? events(streamOf(dialect)(whole)) : json({ body: whole })
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error
      return json({ status: 400, body: { error: { type: 'invalid_request_error', message: error.message } } })
    }
  }
}

function dialectOf(path: string): Dialect | undefined {
  if (path.endsWith('/chat/completions')) return chat
  if (path.endsWith('/responses')) return responses
  if (path.endsWith('/messages')) return anthropic
  return /:(generate|streamGenerate)Content/.test(path) ? gemini : undefined
}

function streamOf(dialect: Dialect): (whole: unknown) => string {
  if (dialect === chat) return chatStream
  if (dialect === responses) return responsesStream
  if (dialect === gemini) return geminiStream
  return dialect.stream!
}

function read(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    // Some services take other forms than JSON.
    return text
  }
}

function json({ status = 200, headers, body }: Reply): Answer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
}

function events(body: string): Answer {
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, body }
}

function randomId(prefix: string): string {
  return prefix + crypto.randomUUID().replaceAll('-', '').slice(0, 24)
}
