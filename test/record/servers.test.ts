import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { serve } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import PQueue from 'p-queue'
import PgBoss from 'pg-boss'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Provider, startProvider } from '../../fixtures/provider/index.ts'
import { blocksOf } from '../../scripts/walkthrough.ts'
import { createRecorder, tool } from '../../src/record/index.ts'
import { type CallEvent, decodeValue, type ExchangeEvent, readTape, requestBytes } from '../../src/tape/index.ts'

// Each line of docs/production.md that records a server or a worker runs here, 50 requests at once.
const page = readFileSync('docs/production.md', 'utf8')
const own = readFileSync(import.meta.filename, 'utf8')
const together = 50

interface Ticket {
  readonly text: string
}

let provider: Provider
beforeAll(async () => {
  provider = await startProvider()
})
afterAll(() => provider.close())

const lookup = tool('lookup_order', async ({ text }: Ticket) => ({ order: text, total: 25 }))

async function ask(text: string): Promise<string> {
  const messages = [{ role: 'user', content: `Where is my order? [tag:${text}]` }]
  const response = await fetch(`${provider.base}/~${text}~rlat20/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o', messages }),
  })
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] }
  return choices[0]?.message.content ?? ''
}

/** Asks the model, looks an order up, asks again. */
async function refundAgent(ticket: Ticket): Promise<{ readonly answer: string }> {
  await ask(ticket.text)
  await lookup(ticket)
  return { answer: await ask(ticket.text) }
}

/** The same, telling what it does while it does it. */
function refundStream(ticket: Ticket): Response {
  const steps = [() => ask(ticket.text), () => lookup(ticket), () => ask(ticket.text)]
  return new Response(
    new ReadableStream<Uint8Array>({
      async pull(controller) {
        const step = steps.shift()
        if (step === undefined) return controller.close()
        controller.enqueue(new TextEncoder().encode(`${JSON.stringify(await step())}\n`))
      },
    }),
  )
}

function recording() {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-servers-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const recorder = createRecorder({ dir })
  const refund = (ticket: Ticket) => recorder.run({ agent: 'refund', input: ticket }, () => refundAgent(ticket))
  const stream = (ticket: Ticket) => recorder.run({ agent: 'refund', input: ticket }, () => refundStream(ticket))
  return { dir, recorder, refund, stream }
}

const tickets: readonly Ticket[] = Array.from({ length: together }, (_, i) => ({ text: `ticket-${i}` }))

/** Every ticket has a tape of its own, whole, with its own input, calls and answer, and nobody else's. */
function expectNoMixing(dir: string): void {
  const tapes = readdirSync(dir).map((name) => readTape(join(dir, name)))
  const inputs = tapes.map(({ header }) => decodeValue(header.input ?? null) as Ticket)
  expect(inputs.map(({ text }) => text).toSorted()).toEqual(tickets.map(({ text }) => text).toSorted())
  for (const [i, { close, events }] of tapes.entries()) {
    const { text } = inputs[i]!
    expect(close).toMatchObject({ outcome: { status: 'returned' } })
    expect([close?.incomplete, close?.unrecorded]).toEqual([undefined, undefined])
    const exchanges = events.filter((event): event is ExchangeEvent => event.kind === 'exchange')
    const bodies = exchanges.map((event) => requestBytes(event).toString())
    expect(bodies.map((body) => /\[tag:(.*?)\]/.exec(body)?.[1])).toEqual([text, text])
    expect(exchanges.map(({ response }) => response?.end !== undefined)).toEqual([true, true])
    const calls = events.filter((event): event is CallEvent => event.kind === 'tool')
    expect(calls.map(({ args, result }) => [decodeValue(args), decodeValue(result ?? null)])).toEqual([
      [{ text }, { order: text, total: 25 }],
    ])
  }
}

/** Posts every ticket at once; each answer must be the one to its ticket. */
async function post(url: string): Promise<void> {
  const answers = await Promise.all(
    tickets.map(async (ticket) => {
      const body = JSON.stringify(ticket)
      const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      return response.text()
    }),
  )
  for (const [i, answer] of answers.entries()) expect(answer).toContain(`[tag:${tickets[i]!.text}]`)
}

const addressOf = (server: { address(): AddressInfo | string | null }): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}`

async function listening(server: Server): Promise<string> {
  if (!server.listening) await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return addressOf(server)
}

describe(`${together} requests at once are ${together} whole tapes, each its own`, () => {
  test('a handler of the Fetch API', async () => {
    const { dir, refund } = recording()
    const POST = async (request: Request) => Response.json(await refund((await request.json()) as Ticket))
    const server = serve({ fetch: POST, port: 0, hostname: '127.0.0.1' }) as Server
    await new Promise((ready) => server.once('listening', ready))
    await post(await listening(server))
    expectNoMixing(dir)
  })

  test('a handler of the Fetch API whose answer streams', async () => {
    const { dir, stream } = recording()
    const POST = async (request: Request) => stream((await request.json()) as Ticket)
    const server = serve({ fetch: POST, port: 0, hostname: '127.0.0.1' }) as Server
    await new Promise((ready) => server.once('listening', ready))
    await post(await listening(server))
    expectNoMixing(dir)
  })

  test('Express', async () => {
    const { dir, refund } = recording()
    const app = express().use(express.json())
    app.post('/refund', async (request, response) => void response.json(await refund(request.body)))
    await post(`${await listening(createServer(app))}/refund`)
    expectNoMixing(dir)
  })

  test('Fastify', async () => {
    const { dir, refund } = recording()
    const app = fastify()
    app.post('/refund', (request) => refund(request.body as Ticket))
    onTestFinished(() => app.close())
    await post(`${await app.listen({ port: 0, host: '127.0.0.1' })}/refund`)
    expectNoMixing(dir)
  })

  test('Hono', async () => {
    const { dir, refund, stream } = recording()
    const app = new Hono()
    app.post('/refund', async (c) => c.json(await refund(await c.req.json())))
    app.post('/stream', async (c) => stream(await c.req.json()))
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server
    await new Promise((ready) => server.once('listening', ready))
    const base = await listening(server)
    await post(`${base}/refund`)
    expectNoMixing(dir)
    for (const name of readdirSync(dir)) rmSync(join(dir, name))
    await post(`${base}/stream`)
    expectNoMixing(dir)
  })

  test('a queue in the process, four at a time', async () => {
    const { dir, refund } = recording()
    const queue = new PQueue({ concurrency: 4 })
    const answers = await Promise.all(tickets.map((ticket) => queue.add(() => refund(ticket))))
    expect(answers.every((answer, i) => answer?.answer.includes(`[tag:${tickets[i]!.text}]`))).toBe(true)
    expectNoMixing(dir)
  })

  test('a queue in Postgres', { tags: 'thorough' }, async () => {
    const { dir, refund, recorder } = recording()
    const postgres = new PGlite()
    onTestFinished(() => postgres.close())
    const boss = new PgBoss({ db: clientOf(postgres), supervise: false, schedule: false })
    const failed: Error[] = []
    boss.on('error', (error) => failed.push(error))
    await boss.start()
    await boss.createQueue('refund')
    for (const ticket of tickets) await boss.send('refund', ticket)
    await boss.work<Ticket>('refund', { batchSize: 50 }, (jobs) => Promise.all(jobs.map((job) => refund(job.data))))
    await expect.poll(() => recorder.stats.kept + failed.length, { timeout: 30_000 }).toBe(together)
    await boss.stop({ graceful: false, wait: false })
    expectNoMixing(dir)
  })
})

test('every line of the page that records a server or a queue is one this file runs', () => {
  const lines = blocksOf(page)
    .filter(({ language }) => language === 'ts')
    .flatMap(({ text }) => text.split('\n'))
    .map((line) => line.trim().replace(/^export /, ''))
    .filter((line) => /\b(?:refund|stream)\(\(?(?:await|request|ticket|job)\b/.test(line))
  expect(lines.length).toBeGreaterThan(6)
  expect(lines.filter((line) => !own.includes(line))).toEqual([])
})

/** What pg-boss asks of a client: one statement with values, or several without. */
function clientOf(postgres: PGlite): PgBoss.Db {
  return {
    async executeSql(text, values) {
      if (values?.length) return postgres.query(text, values)
      return (await postgres.exec(text)).at(-1) ?? { rows: [] }
    },
  }
}
