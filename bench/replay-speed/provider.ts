// The provider all contestants are measured against: a loopback server in a process of its own.
import { createServer } from 'node:http'

const words = 'the order was placed on monday and the parcel left the warehouse two days later so it should arrive soon'

/** About 600 bytes, as a chat completion without tools has. */
function completion(n: number): string {
  return JSON.stringify({
    id: `chatcmpl-${n}`,
    object: 'chat.completion',
    created: 1_770_000_000 + n,
    model: 'gpt-4o-2024-08-06',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: `Answer ${n}: ${words}. ${words}.`, refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 350, completion_tokens: 44, total_tokens: 394 },
    system_fingerprint: 'fp_0123456789',
  })
}

/** Forty events, one to a chunk. */
function events(n: number): readonly string[] {
  const delta = (content: object, finish: string | null): string =>
    `data: ${JSON.stringify({
      id: `chatcmpl-${n}`,
      object: 'chat.completion.chunk',
      created: 1_770_000_000 + n,
      model: 'gpt-4o-2024-08-06',
      choices: [{ index: 0, delta: content, logprobs: null, finish_reason: finish }],
    })}\n\n`
  const list = `Answer ${n}: ${words}. ${words}`.split(' ')
  return [
    delta({ role: 'assistant', content: '' }, null),
    ...Array.from({ length: 37 }, (_, i) => delta({ content: `${list[i] ?? 'word'} ` }, null)),
    delta({}, 'stop'),
    'data: [DONE]\n\n',
  ]
}

let asked = 0
const server = createServer((request, response) => {
  // Whoever counts what was asked.
  if (request.method === 'GET') {
    response.end(String(asked))
    return
  }
  asked++
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString('utf8')
    // A conversation holds the questions before as well.
    const n = Number([...body.matchAll(/question (\d+)/g)].at(-1)?.[1] ?? 0)
    if (!body.includes('"stream":true')) {
      const text = completion(n)
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
      response.end(text)
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    const pieces = events(n)
    let next = 0
    const write = (): void => {
      const piece = pieces[next++]
      if (piece === undefined) response.end()
      else {
        response.write(piece)
        // Each event leaves by itself, as a model's do.
        setImmediate(write)
      }
    }
    write()
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port))
process.on('disconnect', () => process.exit())
