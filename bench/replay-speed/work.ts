/** What is asked: a whole answer, a streamed one, one through the OpenAI SDK, or a conversation that grows. */
export type Form = 'json' | 'sse' | 'sdk' | 'conversation'

const prompt =
  'You are a support agent of a shop. Answer kindly and shortly; never promise what the order system does not confirm. '

/** Asks `count` questions, one after the other, and counts the answers that are those to its questions. */
export async function ask(base: string, count: number, form: Form): Promise<number> {
  if (form === 'sdk') return askBySdk(base, count)
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
