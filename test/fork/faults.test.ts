import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Provider, startProviderHere } from '../../fixtures/provider/index.ts'
import { forkTape, type ForkPlan } from '../../src/fork/index.ts'
import { openBudget } from '../../src/live/index.ts'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay } from '../../src/replay/index.ts'
import { type ExchangeEvent, readTape, type Step, stepsOf, type Tape } from '../../src/tape/index.ts'

let provider: Provider
let dir: string
beforeAll(async () => {
  provider = await startProviderHere()
  dir = mkdtempSync(join(tmpdir(), 'harvest-fork-faults-'))
  await installReplay()
})
afterAll(async () => {
  await provider.close()
  rmSync(dir, { recursive: true, force: true })
})

const clients = { openai: askOpenAI, anthropic: askAnthropic }

interface Asking {
  readonly base: string
  readonly stream: boolean
  readonly timeoutMs?: number
}

async function askOpenAI(input: unknown): Promise<unknown> {
  const { base, stream, timeoutMs } = input as Asking
  const client = new OpenAI({ apiKey: 'k', baseURL: `${base}/v1`, ...(timeoutMs ? { timeout: timeoutMs } : {}) })
  const asked = { model: 'gpt-x', messages: [{ role: 'user' as const, content: 'hi' }] }
  if (!stream) return (await client.chat.completions.create(asked)).choices[0]?.message.content
  let text = ''
  for await (const { choices } of await client.chat.completions.create({ ...asked, stream: true }))
    text += choices[0]?.delta.content ?? ''
  return text
}

async function askAnthropic(input: unknown): Promise<unknown> {
  const { base, stream, timeoutMs } = input as Asking
  const client = new Anthropic({ apiKey: 'k', baseURL: base, ...(timeoutMs ? { timeout: timeoutMs } : {}) })
  const asked = { model: 'claude-x', max_tokens: 50, messages: [{ role: 'user' as const, content: 'hi' }] }
  if (stream) return (await client.messages.stream(asked).finalMessage()).content
  return (await client.messages.create(asked)).content
}

async function recorded(agent: (input: unknown) => Promise<unknown>, input: Asking): Promise<Tape> {
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'asks', input }, () => agent(input)).catch(() => undefined)
  return readTape(recorder.lastTape ?? '')
}

const refusal =
  (status: number) =>
  (step: Step): Step => {
    const event = step as ExchangeEvent
    const { moment, end } = event.response!
    const body = '{"error":{"type":"overloaded_error","message":"later"}}'
    const headers = [
      ['content-type', 'application/json'],
      ['retry-after', '30'],
    ] as const
    return { ...event, response: { moment, status, headers, chunks: [[...moment, body]], ...(end ? { end } : {}) } }
  }

const reset = (step: Step): Step => {
  const { response, ...event } = step as ExchangeEvent
  const facts = { errno: -104, syscall: 'read' }
  return {
    ...event,
    error: { name: 'Error', message: 'read ECONNRESET', code: 'ECONNRESET', facts, moment: response!.moment },
  }
}

describe.each(['openai', 'anthropic'] as const)('%s', (name) => {
  const agent = clients[name]

  test.each([
    ['429', refusal(429)],
    ['500', refusal(500)],
    ['a reset', reset],
  ] as const)('retries after %s, gets the recorded answer and loses no time', async (_, rewrite) => {
    for (const stream of [false, true]) {
      const tape = await recorded(agent, { base: provider.base, stream })
      const plan: ForkPlan = { keep: 1, changes: [{ step: 1, rewrite }], tail: { from: 'tape' } }
      const fork = await forkTape(tape, agent, plan)
      expect(fork.problems.map(({ message }) => message)).toEqual([])
      expect(fork.comparison.outcomeEqual).toBe(true)
      const [refused, again] = stepsOf(fork.branch.tape)
      // Half a minute where the answer asks for it: on the virtual clock, or this test would run out of time.
      expect(again!.at - refused!.at).toBeGreaterThan(rewrite === reset ? 300 : 29_000)
      expect(stepsOf(fork.branch.tape)).toHaveLength(2)
      expect((await forkTape(tape, agent, plan)).branch.text).toBe(fork.branch.text)
    }
  })

  test('gives up when each answer is the changed one', async () => {
    const tape = await recorded(agent, { base: provider.base, stream: false })
    const fork = await forkTape(tape, agent, {
      keep: 1,
      changes: [{ step: 1, rewrite: refusal(500), always: true }],
      tail: { from: 'tape' },
    })
    expect(fork.problems).toEqual([])
    expect(fork.outcome).toMatchObject({ status: 'threw', error: { status: 500 } })
    expect(stepsOf(fork.branch.tape)).toHaveLength(3)
  })

  test('asks a live model in place of the recorded one, whole and streamed', async () => {
    for (const stream of [false, true]) {
      const tape = await recorded(agent, { base: provider.base, stream })
      const budget = openBudget({})
      const fork = await forkTape(tape, agent, { keep: 0, tail: { from: 'live', budget } })
      expect(fork.problems).toEqual([])
      expect(fork.outcome.status).toBe('returned')
      expect(fork.spent.modelCalls).toBe(1)
      expect(fork.spent.inputTokens).toBeGreaterThan(0)
      expect(budget.total.modelCalls).toBe(1)
      expect(fork.branch.ownEvents.filter(({ kind }) => kind === 'exchange')).toHaveLength(1)
    }
  })

  test('retries a live model that refuses at first', async () => {
    const tape = await recorded(agent, { base: `${provider.base}/~${name}${Date.now()}~`, stream: false })
    const token = `${name}live${Date.now()}`
    const input = { base: `${provider.base}/~${token}~500x1r0.01`, stream: false }
    const fork = await forkTape(tape, () => agent(input), { keep: 0, tail: { from: 'live', budget: openBudget({}) } })
    expect(fork.problems).toEqual([])
    expect(fork.outcome.status).toBe('returned')
    expect(fork.spent.modelCalls).toBe(2)
  })

  test('times out on a live model that takes too long, in real time', async () => {
    const tape = await recorded(agent, { base: provider.base, stream: false })
    const token = `${name}slow${Date.now()}`
    const input = { base: `${provider.base}/~${token}~lat5000`, stream: false, timeoutMs: 60 }
    const budget = openBudget({ calls: 1 })
    const fork = await forkTape(tape, () => agent(input), { keep: 0, tail: { from: 'live', budget } })
    expect(fork.outcome.status).toBe('threw')
    // The SDK would ask again, and nobody may pay for that.
    expect(fork.problems.map(({ code }) => code)).toEqual(['HARVEST_BUDGET_USED'])
    expect(fork.spent.modelCalls).toBe(1)
  })

  test('is given up when its signal says so, and pays for nothing more', async () => {
    const tape = await recorded(agent, { base: provider.base, stream: false })
    const input = { base: `${provider.base}/~${name}give${Date.now()}~lat5000`, stream: false }
    const fork = await forkTape(
      tape,
      () => agent(input),
      { keep: 0, tail: { from: 'live', budget: openBudget({}) } },
      { signal: AbortSignal.timeout(80) },
    )
    expect(fork.problems.map(({ code }) => code)).toEqual(['HARVEST_RUN_ABORTED'])
    const [asked] = stepsOf(fork.branch.tape)
    expect(asked).toMatchObject({ kind: 'exchange', aborted: expect.any(Array) as unknown })
  })
})
