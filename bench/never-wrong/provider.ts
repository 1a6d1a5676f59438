import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Servers that answer every request there is with a new answer, in the form the path asks for. */
export interface Provider {
  readonly bases: { readonly first: string; readonly second: string; readonly unknown: string }
  /** Requests that came since the servers were told to answer none. */
  readonly live: () => number
  /** From here on a request is a live call in a replay: it is counted and refused. */
  refuse(): void
  close(): Promise<void>
}

/** Starts two of them, so that there are two hosts. */
export async function startProvider(): Promise<Provider> {
  let [answers, live, isOpen] = [0, 0, true]
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    let body = ''
    request.setEncoding('latin1')
    request.on('data', (piece: string) => (body += piece))
    request.on('end', () => {
      if (isOpen) reply(request.url ?? '', body.includes('"stream":true'), `answer-${answers++}`, response)
      else {
        live++
        response.writeHead(503).end('a live call in a replay')
      }
    })
  }
  const servers = [createServer(serve), createServer(serve)]
  const [first = '', second = ''] = await Promise.all(servers.map(listen))
  return {
    // Nobody listens on the port of the discard protocol.
    bases: { first, second, unknown: 'http://127.0.0.1:9' },
    live: () => live,
    refuse: () => void ([isOpen, live] = [false, 0]),
    async close() {
      for (const server of servers) server.closeAllConnections()
      await Promise.all(servers.map((server) => new Promise((done) => server.close(done))))
    },
  }
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function reply(url: string, isStream: boolean, answer: string, response: ServerResponse): void {
  if (isStream && url.startsWith('/v1/')) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const events = { '/v1/messages': anthropicEvents, '/v1/responses': responseEvents }[url] ?? chatEvents
    response.end(events(answer).join(''))
    return
  }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(bodyOf(url, answer)))
}

function bodyOf(url: string, answer: string): object {
  switch (url) {
    case '/v1/chat/completions': {
      const message = { role: 'assistant', content: answer }
      const choices = [{ index: 0, message, finish_reason: 'stop' }]
      return { id: `chatcmpl-${answer}`, object: 'chat.completion', created: 1, model: 'invented', choices, usage }
    }
    case '/v1/messages': {
      const content = [{ type: 'text', text: answer }]
      const usage = { input_tokens: 1, output_tokens: 1 }
      return {
        id: `msg_${answer}`,
        type: 'message',
        role: 'assistant',
        model: 'm',
        content,
        stop_reason: 'end_turn',
        usage,
      }
    }
    case '/v1/responses': {
      const content = [{ type: 'output_text', text: answer, annotations: [] }]
      const output = [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }]
      return { id: `resp_${answer}`, object: 'response', created_at: 1, status: 'completed', model: 'm', output, usage }
    }
    case '/v1/embeddings':
      // The name of the answer stands where the model's does: numbers would be the same for every text.
      return { object: 'list', model: answer, data: [{ object: 'embedding', index: 0, embedding: [0.1] }], usage }
    default:
      return { answer }
  }
}

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, input_tokens: 1, output_tokens: 1 }

function chatEvents(answer: string): string[] {
  const chunk = (delta: object, finish_reason: string | null): string =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  return [chunk({ role: 'assistant', content: answer }, null), chunk({}, 'stop'), 'data: [DONE]\n\n']
}

function responseEvents(answer: string): string[] {
  const response = bodyOf('/v1/responses', answer)
  const events = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: answer },
    { type: 'response.completed', response },
  ]
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
}

function anthropicEvents(answer: string): string[] {
  const message = {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  const events = [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: answer } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ]
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
}
