import http from 'node:http'

/**
 * What is asked: a whole answer, a streamed one, one through the OpenAI SDK, a conversation that grows, or a whole answer
 * through `node:http` or `undici.request`.
 */
export type Form = 'json' | 'sse' | 'sdk' | 'conversation' | 'http' | 'undici'

const prompt =
  'You are a support agent of a shop. Answer kindly and shortly; never promise what the order system does not confirm. '

/** Asks `count` questions, one after the other, and counts the answers that are those to its questions. */
export async function ask(base: string, count: number, form: Form): Promise<number> {
  if (form === 'sdk') return askBySdk(base, count)
  if (form === 'http' || form === 'undici') return askBy(form === 'http' ? byHttp() : await byUndici(), base, count)
  const said: Message[] = []
  let right = 0
  for (let n = 0; n < count; n++) {
    said.push(question(n))
    const messages = form === 'conversation' ? [instructions, ...said] : [instructions, question(n)]
    const response = await fetch(`${base}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer of-a-bench' },
      body: JSON.stringify({ model: 'gpt-4o', temperature: 0, ...(form === 'sse' && { stream: true }), messages }),
    })
    // By what it says: some make up the rest of an answer anew.
    if (form === 'sse') {
      if ((await streamed(response)).includes(`"${n}: "`)) right++
      continue
    }
    const answer = (await response.json()) as Completion
    const { role, content } = answer.choices[0].message
    said.push({ role, content })
    if (content.startsWith(`Answer ${n}:`)) right++
  }
  return right
}

interface Message {
  readonly role: string
  readonly content: string
}

interface Completion {
  readonly choices: readonly [{ readonly message: Message }]
}

const instructions: Message = { role: 'system', content: prompt.repeat(9) }

function question(n: number): Message {
  return { role: 'user', content: `This is question ${n}: where is order ${4711 + n * 7}?` }
}

async function streamed({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body ?? []) text += decoder.decode(chunk as Uint8Array, { stream: true })
  return text
}

/** Sends one request and reads the whole answer. */
type Send = (url: string, headers: Readonly<Record<string, string>>, body: string) => Promise<string>

async function askBy(send: Send, base: string, count: number): Promise<number> {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer of-a-bench' }
  let right = 0
  for (let n = 0; n < count; n++) {
    const body = JSON.stringify({ model: 'gpt-4o', temperature: 0, messages: [instructions, question(n)] })
    const answer = JSON.parse(await send(`${base}/v1/chat/completions`, headers, body)) as Completion
    if (answer.choices[0].message.content.startsWith(`Answer ${n}:`)) right++
  }
  return right
}

/** As axios, got and the AWS SDK ask: what `node:http` has at that moment, and connections that stay open. */
function byHttp(): Send {
  const agent = new http.Agent({ keepAlive: true })
  return (url, headers, body) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const request = http.request(url, { method: 'POST', headers, agent }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve(text))
      response.on('error', reject)
    })
    request.on('error', reject)
    request.end(body)
    return promise
  }
}

async function byUndici(): Promise<Send> {
  const { request } = await import('undici')
  return async (url, headers, body) => (await request(url, { method: 'POST', headers, body })).body.text()
}

async function askBySdk(base: string, count: number): Promise<number> {
  const { OpenAI } = await import('openai')
  const client = new OpenAI({ apiKey: 'of-a-bench', baseURL: `${base}/v1`, maxRetries: 0 })
  let right = 0
  for (let n = 0; n < count; n++) {
    const { choices } = await client.chat.completions.create({
      model: 'gpt-4o',
      temperature: 0,
      messages: [instructions, question(n)] as { role: 'user'; content: string }[],
    })
    if (choices[0]?.message.content?.startsWith(`Answer ${n}:`)) right++
  }
  return right
}
