import type OpenAI from 'openai'
import { tool } from '../../src/seam/index.ts'
import { chanceOf, type Incident, type Luck, recorded } from './incident.ts'

export type Sdk = typeof OpenAI

export interface Asked {
  readonly base: string
  readonly order: string
  /** Hour of the day, UTC, at which the planted code errs. */
  readonly hour: number
}

export interface Refunded {
  readonly refunded: number
  readonly said: string
}

const hourNow = (): number => Math.floor(Date.now() / 3_600_000) % 24

/**
 * An agent that refunds an order: ordinary code over the real SDK. What is planted in it or around it stands in the incident;
 * the luck of a run says what its model and its tools do this time.
 */
export function refundAgent(Sdk: Sdk, incident: Incident, luck: Luck) {
  const { plant } = incident
  const { lookup, cached, detour, pay } = toolsOf(incident, luck)
  return async ({ base, order, hour }: Asked): Promise<Refunded> => {
    const client = new Sdk({ apiKey: 'none', baseURL: base, maxRetries: 0, logLevel: 'off' })
    const isTold = plant.layer === 'timing' && plant.how === 'clock in prompt'
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'system', content: 'Refund what the order was.' },
      { role: 'user', content: isTold ? `Refund ${order}. It is ${hourNow()} o'clock.` : `Refund ${order}.` },
    ]
    let refunded = 0
    let seen = 0
    for (let turn = 0; turn < 8; turn++) {
      const answer = await ask(client, incident, luck, messages)
      messages.push(answer)
      if (answer.tool_calls === undefined || answer.tool_calls.length === 0)
        return { refunded, said: String(answer.content) }
      const results: OpenAI.ChatCompletionToolMessageParam[] = []
      await Promise.all(
        answer.tool_calls.map(async (call) => {
          if (call.type !== 'function') return
          const args = JSON.parse(call.function.arguments) as { readonly order: string; readonly amount?: number }
          const result = await run(call.function.name, args)
          if (typeof result['total'] === 'number') seen = result['total']
          results.push({ role: 'tool', tool_call_id: call.id, content: JSON.stringify(result) })
        }),
      )
      const place = new Map(answer.tool_calls.map(({ id }, at) => [id, at]))
      const isArrival = plant.layer === 'timing' && plant.how === 'order in prompt'
      const inPlace = results.toSorted((a, b) => (place.get(a.tool_call_id) ?? 0) - (place.get(b.tool_call_id) ?? 0))
      messages.push(...(isArrival ? results : inPlace))
    }
    throw new Error('the model went on asking')

    async function run(name: string, args: { readonly order: string; readonly amount?: number }) {
      if (name === 'lookup') return lookup({ order: args.order })
      if (name === 'cached') return cached({ order: args.order })
      if (name !== 'refund') return detour({ name })
      const amount = amountOf(args.amount ?? 0, seen, hour)
      const { paid } = await pay({ order: args.order, amount })
      refunded += paid
      return { paid }
    }
  }

  function amountOf(asked: number, seen: number, hour: number): number {
    switch (plant.layer) {
      case 'code':
        return { unit: asked * 100, rounding: Math.floor(asked / 2), limit: Math.min(asked, 1) }[plant.how]
      case 'data':
        return plant.how === 'through code' ? seen : asked
      case 'timing':
        if (plant.how === 'order in code') return seen
        return plant.how === 'clock in code' && hourNow() === hour ? 0 : asked
      case 'sampling':
        return asked
    }
  }
}

/** What is planted in a tool is there in the recorded run alone. */
function toolsOf({ id, plant, total }: Incident, luck: Luck) {
  const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
  const isOrder = plant.layer === 'timing' && plant.how.startsWith('order')
  const isRecorded = luck === recorded
  return {
    lookup: tool('lookup', async ({ order }: { readonly order: string }): Promise<Record<string, unknown>> => {
      // Usually it is slower than the cache, which is out of date.
      await wait(isOrder && !isRecorded ? 6 : 1)
      if (plant.layer === 'data' && isRecorded) {
        const wrong = { unit: total * 100, stale: total - 3, empty: 0 }[plant.fault]
        return { order, total: wrong }
      }
      return { order, total }
    }),
    cached: tool('cached', async ({ order }: { readonly order: string }): Promise<Record<string, unknown>> => {
      await wait(isOrder && isRecorded ? 6 : 1)
      return { order, total: total - 4 }
    }),
    detour: tool('detour', async ({ name }: { readonly name: string }): Promise<Record<string, unknown>> => {
      await wait(0)
      return { name, seen: Math.floor(chanceOf(id, luck, name) * 5) }
    }),
    pay: tool('refund', async ({ amount }: { readonly order: string; readonly amount: number }) => {
      await wait(0)
      return { paid: amount }
    }),
  }
}

async function ask(
  client: OpenAI,
  { isStreamed }: Incident,
  luck: Luck,
  messages: readonly OpenAI.ChatCompletionMessageParam[],
): Promise<OpenAI.ChatCompletionAssistantMessageParam> {
  const body = { model: 'gpt-4o-mini', messages: [...messages] }
  const options = { headers: { 'x-luck': luck } }
  if (!isStreamed) {
    const { choices } = await client.chat.completions.create(body, options)
    const message = choices[0]?.message
    if (message === undefined) throw new Error('no choice')
    return message.tool_calls === undefined
      ? { role: 'assistant', content: message.content }
      : { role: 'assistant', content: null, tool_calls: message.tool_calls }
  }
  let content = ''
  const calls: { id: string; name: string; args: string }[] = []
  const chunks = await client.chat.completions.create(
    { ...body, stream: true, stream_options: { include_usage: true } },
    options,
  )
  for await (const { choices } of chunks) {
    content += choices[0]?.delta.content ?? ''
    for (const { index, id, function: piece } of choices[0]?.delta.tool_calls ?? []) {
      const call = (calls[index] ??= { id: id ?? '', name: piece?.name ?? '', args: '' })
      call.args += piece?.arguments ?? ''
    }
  }
  if (calls.length === 0) return { role: 'assistant', content }
  return {
    role: 'assistant',
    content: null,
    tool_calls: calls.map(({ id, name, args }) => ({ id, type: 'function', function: { name, arguments: args } })),
  }
}
