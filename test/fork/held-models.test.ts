import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ForkResult, forkTape } from '../../src/fork/index.ts'
import { openBudget } from '../../src/live/index.ts'
import { createRecorder, tool } from '../../src/record/index.ts'
import { installReplay } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'

interface Message {
  readonly role: string
  readonly content: string
}

let url = ''
/** How often the model was asked. */
let asked = 0
const dir = mkdtempSync(join(tmpdir(), 'harvest-held-'))
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { messages } = JSON.parse(Buffer.concat(chunks).toString()) as { messages: readonly Message[] }
    const content = `${messages.length} messages, the last says ${messages.at(-1)?.content}; question ${++asked}`
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ model: 'gpt-4o', choices: [{ message: { role: 'assistant', content } }] }))
  })
})

/** What the shop says by now. */
let shop = { orders: 'A-100 is worth 25 EUR', customer: 'two refunds' }
const look = tool('look', async ({ what }: { what: keyof typeof shop }) => shop[what])

async function ask(...contents: readonly string[]): Promise<string> {
  const messages = contents.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content }))
  const body = JSON.stringify({ model: 'gpt-4o', messages })
  const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body })
  const { choices } = (await answer.json()) as { choices: readonly [{ message: Message }] }
  return choices[0].message.content
}

/** One question behind the other, the last at the turn of the first; what tools answered is in each. */
async function inTurn(): Promise<readonly string[]> {
  const first = await ask(await look({ what: 'orders' }))
  const customer = await look({ what: 'customer' })
  return [first, await ask('and now?', first, customer), await ask(customer)]
}

/** Two conversations at once: one of a message, one of so many. */
function atOnce(turns: number) {
  return async (): Promise<readonly string[]> => {
    const [orders, customer] = [await look({ what: 'orders' }), await look({ what: 'customer' })]
    const earlier = Array.from({ length: turns - 1 }, (_, at) => `turn ${at}`)
    return Promise.all([ask(orders), ask(...earlier, customer)])
  }
}

async function record(agent: () => Promise<unknown>): Promise<Tape> {
  shop = { orders: 'A-100 is worth 25 EUR', customer: 'two refunds' }
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'desk' }, agent)
  asked = 0
  // What the tools say by now has no word of what they said.
  shop = { orders: 'nothing found, try later', customer: '{"error":503}' }
  return readTape(recorder.lastTape ?? '')
}

function held(tape: Tape, agent: () => Promise<unknown>): Promise<ForkResult> {
  const tail = { from: 'live', tools: 'live', models: 'tape', budget: openBudget({}) } as const
  return forkTape(tape, agent, { keep: 0, tail })
}

function valueOf({ close }: Tape): unknown {
  return close?.outcome.status === 'returned' ? close.outcome.value : undefined
}

beforeAll(async () => {
  await installReplay()
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(dir, { recursive: true, force: true })
})

describe('a model that is held to its tape while tools run for real', () => {
  it('answers as it did at this place, whatever the tools make the agent ask', async () => {
    const tape = await record(inTurn)
    const result = await held(tape, inTurn)
    expect(result.problems).toEqual([])
    expect(result.outcome).toEqual({ status: 'returned', value: valueOf(tape) })
    expect(asked).toBe(0)
  })

  it('is known by its turn where two conversations are open at once', async () => {
    const tape = await record(atOnce(3))
    const result = await held(tape, atOnce(3))
    expect(result.problems).toEqual([])
    expect(result.outcome).toEqual({ status: 'returned', value: valueOf(tape) })
    expect(asked).toBe(0)
  })

  it('answers nothing where two open conversations are at the same turn', async () => {
    const tape = await record(atOnce(1))
    const result = await held(tape, atOnce(1))
    expect(result.problems.map(({ code }) => code)).toContain('HARVEST_NOT_RECORDED')
    expect(asked).toBe(0)
  })
})
