import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { asField, asPair, asText, type Planted } from '../../privacy/planted.ts'
import { batches } from './agent.ts'

/** A server that answers with planted secrets: `/json/3` holds the fourth batch of them. */
export async function startPlantedServer(): Promise<{ readonly base: string; close(): void }> {
  const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    request.resume().on('end', () => {
      const [, how = '', at = ''] = (request.url ?? '').split('/')
      void answer(how, batches[Number(at)] ?? [], response)
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function answer(how: string, batch: readonly Planted[], response: ServerResponse): Promise<void> {
  const json = JSON.stringify({ items: batch.map((one) => ({ text: asText(one), ...asField(one) })) })
  switch (how) {
    case 'json':
      return void response.setHeader('content-type', 'application/json').end(json)
    case 'pieces':
      return inPieces(response, json.match(/[\s\S]{1,40}/g) ?? [])
    case 'events':
      return inPieces(response.setHeader('content-type', 'text/event-stream'), events(batch))
    case 'gzip':
      return void response.setHeader('content-encoding', 'gzip').end(gzipSync(json))
    case 'br':
      return void response.setHeader('content-encoding', 'br').end(brotliCompressSync(json))
    case 'v1': {
      const message = { role: 'assistant', content: batches[0]!.map(asText).join(' '), refusal: null }
      const choices = [{ index: 0, finish_reason: 'stop', message }]
      const usage = { prompt_tokens: 10, completion_tokens: 5 }
      const answered = { id: 'c', object: 'chat.completion', model: 'gpt-4.1', choices, usage }
      return void response.setHeader('content-type', 'application/json').end(JSON.stringify(answered))
    }
    case 'headers':
      return headers(batch, response)
    default:
      return void response.setHeader('content-type', 'application/json').end('{"ok":true}')
  }
}

async function inPieces(response: ServerResponse, pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) {
    response.write(piece)
    await new Promise((next) => setImmediate(next))
  }
  response.end()
}

/** As a provider streams them: a few letters of each secret in each event. */
function events(batch: readonly Planted[]): readonly string[] {
  return batch.map((one, index) =>
    (asText(one).match(/[\s\S]{1,9}/g) ?? [])
      .map((content) => `data: ${JSON.stringify({ choices: [{ index, delta: { content } }] })}\n\n`)
      .join(''),
  )
}

function headers(batch: readonly Planted[], response: ServerResponse): void {
  const lines = batch.map(({ value }) => value.replaceAll('\n', ' '))
  response.setHeader(
    'set-cookie',
    lines.map((line) => `sid=${encodeURIComponent(line)}; Path=/`),
  )
  response.setHeader('x-note', lines)
  response.setHeader(
    'www-authenticate',
    lines.map((line, at) => (batch[at]!.name === undefined ? line : 'Basic')),
  )
  response.setHeader(
    'link',
    batch.map((one) => `<https://shop.example/?${new URLSearchParams([asPair(one)]).toString()}>`),
  )
  response.setHeader(
    'location',
    `https://shop.example/?${new URLSearchParams(batch.map((one) => asPair(one))).toString()}`,
  )
  response.statusMessage = lines.find((_, at) => batch[at]!.name === undefined) ?? 'Found'
  response.statusCode = 302
  response.end()
}
