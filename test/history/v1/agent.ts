/*
 * The agent that the tapes of this folder were recorded with. Frozen: whoever changes it no longer shows that old tapes
 * replay. It uses nothing but Node and the names that `vitest-harvest/record` promises, and does one thing of every kind
 * that a tape of format 1 holds.
 */
import { spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import { createInterface } from 'node:readline'
import { mark, message, retriever, tools, value } from '../../../src/record/index.ts'

export interface Input {
  readonly base: string
  readonly order: string
  /** Ends with an error instead of an answer. */
  readonly fails?: boolean
}

const shop = tools({
  lookup_order: async ({ order }: { order: string }) => ({ order, total: 25, at: new Date(0), none: undefined }),
  policy: async ({ country }: { country: string }) => ({ country, days: 30n }),
  refund: async ({ order, amount }: { order: string; amount: number }) => {
    if (amount > 25) throw new RangeError(`${amount} is more than order ${order}`)
    return { refunded: amount }
  },
})
const passages = retriever('passages', async (query: string) => [{ text: `about ${query}`, score: 0.5 }])

export async function agent({ base, order, fails = false }: Input): Promise<unknown> {
  const startedAt = Date.now()
  const [found, policy, texts] = await Promise.all([
    shop.lookup_order({ order }),
    shop.policy({ country: 'DE' }),
    passages(order),
  ])
  mark('looked up', { order })
  message('planner', 'worker', { refund: order })
  const reading = await ask(base, `What of ${order}, which reads ${JSON.stringify({ ...policy, days: 30 })}?`)
  const other = await fastest(base, order)
  const plain = await overHttp(`${base}/rates?id=${randomUUID()}`)
  const listed = await overStdio({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  const drawn = { random: Math.random(), bytes: randomBytes(4).toString('hex'), took: Date.now() - startedAt >= 0 }
  if (fails) await shop.refund({ order, amount: 2500 })
  const paid = await shop.refund({ order, amount: 25 })
  return { found, texts, flag: value('flag', () => true), reading, other, plain, listed, drawn, paid }
}

/** A question to a model, its answer streamed. */
async function ask(base: string, content: string): Promise<string> {
  const response = await fetch(`${base}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer sk-proj-4fGh8sKq2LmN7pRt9vWx1yZa3bCd5eFg' },
    body: JSON.stringify({
      model: 'gpt-x',
      stream: true,
      messages: [
        { role: 'system', content: 'Answer in one line.' },
        { role: 'user', content: `${content} Write to jane.doe@example.com.` },
      ],
    }),
  })
  const data = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'))
  return data.map((line) => JSON.parse(line.slice(6)).choices[0]?.delta.content ?? '').join('')
}

/** Two requests at once and a timer: which one is first is a matter of the recorded order. */
async function fastest(base: string, order: string): Promise<unknown> {
  const one = (name: string) => fetch(`${base}/${name}?order=${order}`).then(async (answer) => [name, await answer.json()])
  const late = new Promise((resolve) => setTimeout(resolve, 400, 'late'))
  const both = [one('slow'), one('quick')]
  const first = await Promise.race([...both, late])
  return { first, both: await Promise.all(both) }
}

function overHttp(url: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    http
      .get(url, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part) => (text += part))
        response.on('end', () => resolve([response.statusCode, response.headers['x-request-id'], text]))
      })
      .on('error', reject)
  })
}

/** One line to a child process, and one line back. */
async function overStdio(line: object): Promise<unknown> {
  const child = spawn('node', ['test/history/v1/server.mjs'], { stdio: ['pipe', 'pipe', 'inherit'] })
  await once(child, 'spawn')
  child.stdin.write(`${JSON.stringify(line)}\n`)
  for await (const answer of createInterface(child.stdout)) {
    const said = JSON.parse(answer)
    if (!('result' in said)) continue
    child.stdin.end()
    return said
  }
  throw new Error('the server said nothing')
}
