import { currentFlags, encodeValue, type Json, serializeTape, type TapeEvent } from '../../src/tape/index.ts'

/** An agent of two tools, as a file of an inline project. */
export const refundAgent = `import { tool } from 'vitest-harvest/record'
import { amountOf } from './amount.ts'

const lookupOrder = tool('lookup_order', async (order: { order_id: string }) => ({ amount: 25 }))
const refund = tool('refund', async (order: { order_id: string; amount: number }) => 'ok')

export async function refundAgent({ order_id }: { order_id: string }) {
  const order = await lookupOrder({ order_id })
  await refund({ order_id, amount: amountOf(order) })
  return { refunded: order.amount }
}
`
export const amount = `export const amountOf = (order: { amount: number }) => order.amount\n`

export interface CallSketch {
  readonly name: string
  readonly args: Json
  readonly result: Json
}

const lookup: CallSketch = { name: 'lookup_order', args: { order_id: 'A-1' }, result: { amount: 25 } }
const refundCall: CallSketch = { name: 'refund', args: { order_id: 'A-1', amount: 25 }, result: 'ok' }
export const refundCalls: readonly CallSketch[] = [lookup, refundCall]

/** An exchange that answered `{"amount":25}` to `POST /orders`; nobody listens at that port. */
export const orderExchange: TapeEvent = {
  kind: 'exchange',
  n: 1,
  at: 0,
  via: 'undici',
  method: 'POST',
  url: 'http://127.0.0.1:45998/orders',
  request: { headers: [['content-type', 'application/json']], body: '{"order_id":"A-1"}' },
  response: {
    moment: [2, 10],
    status: 200,
    headers: [['content-type', 'application/json']],
    chunks: [[3, 11, '{"amount":25}']],
    end: [4, 11],
  },
}

export interface TapeSketch {
  /** Instead of calls. */
  readonly events?: readonly TapeEvent[]

  readonly agent?: string
  readonly input?: unknown
  readonly calls?: readonly CallSketch[]
  readonly returned?: unknown
  /** The agent threw this, or an error of this text, instead of returning. */
  readonly threw?: string | Error
  /** What the agent made of its input. */
  readonly left?: unknown
  /** Leave the last line out. */
  readonly isTruncated?: boolean
}

/** A tape of tool calls one after the other, each answered 10 ms after it was made. */
export function tapeText(id: string, sketch: TapeSketch = {}): string {
  const {
    agent = 'refund',
    input = { order_id: 'A-1' },
    calls = refundCalls,
    returned = { refunded: 25 },
    threw,
  } = sketch
  const called = calls.map(
    ({ name, args, result }, index): TapeEvent => ({
      kind: 'tool',
      n: index * 2 + 1,
      at: index * 10,
      name,
      args,
      settled: [index * 2 + 2, index * 10 + 10],
      result,
    }),
  )
  const header = {
    harvest: 1,
    id,
    agent,
    input: encodeValue(input),
    startedAt: '2026-01-02T03:04:05.000Z',
    recorder: 'vitest-harvest/0.1.0',
    flags: currentFlags,
    pins: { node: '24.21.0' },
  }
  const outcome =
    threw === undefined
      ? { status: 'returned' as const, value: encodeValue(returned) }
      : { status: 'threw' as const, error: encodeValue(typeof threw === 'string' ? new Error(threw) : threw) }
  const left = sketch.left === undefined ? {} : { input: { left: encodeValue(sketch.left) } }
  const end = { n: calls.length * 2 + 10, at: calls.length * 10 + 1, outcome, ...left }
  return serializeTape(header, sketch.events ?? called, sketch.isTruncated ? undefined : end)
}

/** A case and its tape, as files of an inline project; `more` is appended to the case. */
export function golden(id: string, more: string, sketch: TapeSketch = {}): Record<string, string> {
  const { agent = 'refund' } = sketch
  const head = `case: ${id}\nagent: ${agent}\ntape: ${id}.tape.jsonl\n`
  return {
    [`recordings/golden/${id}.case.yaml`]: `${head}${/^expect:/m.test(more) ? '' : 'expect: pass\n'}${more}`,
    [`recordings/golden/${id}.tape.jsonl`]: tapeText(id, sketch),
  }
}

/** The baseline the refund agent has. */
export const refundBaseline = `baseline:
  - lookup_order(order_id)
  - refund(amount, order_id)
`

/**
 * `vitest.config.ts`: `options` go into `harvest({ … })` after `agents`, `test` into `test: { … }`. A test by hand has more
 * than the five seconds it has by default, which a busy machine may need to start it; cases have a limit of their own.
 */
export const config = (options = '', test = '', agents = ''): string => `import { defineConfig } from 'vitest/config'
import { harvest } from 'vitest-harvest/plugin'
export default defineConfig({
  plugins: [harvest({ agents: { refund: './src/refund.ts#refundAgent', ${agents} }, ${options} })],
  test: { testTimeout: 600_000, ${test} },
})
`

/** The files every project with the refund agent has. */
export const refundSources = { 'src/refund.ts': refundAgent, 'src/amount.ts': amount }
