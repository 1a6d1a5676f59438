import { beforeAll, describe, expect, test } from 'vitest'
import OpenAI from 'openai'
import { installReplay, type ReplayResult, replayTape } from '../../src/replay/index.ts'
import type { ExchangeEvent, Tape } from '../../src/tape/index.ts'
import { chat, chatUrl, Recording } from './tapes.ts'

beforeAll(() => installReplay())

const customers = 'https://crm.test/customers'
const completion = JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'hello' } }] })

/** A model call that is answered after `ms`; a request for customers was made meanwhile. */
function recordedWith(ms: number, other = true): Tape {
  const recording = new Recording()
  recording.exchange({
    body: JSON.stringify({ messages: [{ role: 'user', content: 'hi' }], model: 'm' }),
    answer: completion,
  })
  if (other) {
    recording.exchange({ method: 'GET', url: customers, answer: '[]' })
    recording.atOnce(2)
  }
  const [call, rest] = recording.events as [ExchangeEvent, ExchangeEvent | undefined]
  const moved = ([n, at]: readonly [number, number]) => [n + 100, at + ms] as const
  const { response } = call
  const chunks = response!.chunks.map(([n, at, bytes]) => [...moved([n, at]), bytes] as const)
  const late = {
    ...call,
    response: { ...response!, moment: moved(response!.moment), chunks, end: moved(response!.end!) },
  }
  recording.events.splice(0, recording.events.length, late, ...(rest ? [rest] : []))
  const tape = recording.tape()
  return { ...tape, close: { ...tape.close!, n: 300, at: tape.close!.at + ms } }
}

const client = (timeout: number, maxRetries = 0) => new OpenAI({ apiKey: 'key', timeout, maxRetries })
const ask = async (timeout: number, maxRetries?: number) => {
  const messages = [{ role: 'user' as const, content: 'hi' }]
  return (await client(timeout, maxRetries).chat.completions.create({ messages, model: 'm' })).choices[0]?.message
    .content
}
const told = ({ problems }: ReplayResult): string | undefined =>
  problems[0]?.message.replace(/time-out\.test\.ts:\d+:\d+/, 'time-out.test.ts')

describe('a time-out of the client that did not fire when recorded', () => {
  test('is told with the request that the replay waited for, and before what came of it', async () => {
    const result = await replayTape(recordedWith(700), () => ask(600, 1))
    expect(result.problems.map(({ code }) => code)[0]).toBe('HARVEST_CLOCK')
    expect(told(result)).toMatchInlineSnapshot(`
      "The client's time-out of 600 ms fired; it did not when this run was recorded

        waiting for  step 2, GET crm.test/customers, which the agent has not asked
        gave up      step 1, POST api.openai.com/v1/chat/completions
        tape         refund
        at           test/replay/time-out.test.ts
        after        step 1, POST api.openai.com/v1/chat/completions

      A replay lets time pass while it waits for a recorded request, and that request was never made.
      → make the missing request again, or see why it is gone: npx vitest-harvest show refund
      → if the time-out was changed on purpose: record the run again and promote the new tape
      (HARVEST_CLOCK)"
    `)
    expect(result.problems[0]?.cause).toBeInstanceOf(OpenAI.APIConnectionError)
  })

  test('is told with the time the recorded answer took, where nothing is missing', async () => {
    const result = await replayTape(recordedWith(90_000, false), () => ask(60_000))
    expect(result.problems.map(({ code }) => code)).toEqual(['HARVEST_CLOCK'])
    expect(told(result)).toMatchInlineSnapshot(`
      "The client's time-out of 60 s fired; it did not when this run was recorded

        gave up  step 1, POST api.openai.com/v1/chat/completions
        tape     refund
        at       test/replay/time-out.test.ts
        after    step 1, POST api.openai.com/v1/chat/completions

      The recorded answer took 90 s.
      → if the time-out was changed on purpose: record the run again and promote the new tape
      (HARVEST_CLOCK)"
    `)
    expect(result.problems[0]?.cause).toBeInstanceOf(OpenAI.APIConnectionTimeoutError)
  })

  test('does not fire while an answer that comes before it lies ready', async () => {
    const result = await replayTape(recordedWith(700), () => ask(600_000))
    expect(result.outcome).toEqual({ status: 'returned', value: 'hello' })
    expect(result.problems.map(({ code }) => code)).toEqual(['HARVEST_UNUSED'])
  })

  test('is told of an agent that swallowed what came of it', async () => {
    const result = await replayTape(recordedWith(90_000, false), () => ask(60_000).catch(() => 'sorry'))
    expect(result.problems.map(({ code }) => code)).toEqual(['HARVEST_CLOCK'])
  })

  test('is no matter of a request that was given up when recorded as well', async () => {
    const tape = recordedWith(700, false)
    const [call] = tape.events as [ExchangeEvent]
    const { response: _, ...unanswered } = call
    const givenUp: Tape = { ...tape, events: [{ ...unanswered, aborted: [2, 61] }] }
    const result = await replayTape(givenUp, () => ask(9_000).catch((error: Error) => error.message))
    expect(result.problems).toEqual([])
    expect(result.outcome).toEqual({ status: 'returned', value: 'Request timed out.' })
  })
})

test('a far timer is reached quickly, also where an interval fires all the way', async () => {
  const tape = recordedWith(700, false)
  const result = await replayTape(tape, async () => {
    await fetch(chatUrl, { method: 'POST', body: chat('other') }).catch(() => undefined)
    let ticks = 0
    const timer = setInterval(() => ticks++, 20)
    await new Promise((done) => setTimeout(done, 9_000))
    clearInterval(timer)
    return ticks
  })
  expect(result.outcome).toEqual({ status: 'returned', value: 449 })
})
