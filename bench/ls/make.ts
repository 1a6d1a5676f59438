import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Closing,
  currentFlags,
  type ExchangeEvent,
  formatVersion,
  serializeTape,
  type TapeEvent,
  type TapeHeader,
} from '../../src/tape/index.ts'

/** What the filters of the benchmark look for; every tape is of one of each. */
export const agents = ['refund', 'search', 'triage', 'billing', 'onboarding', 'returns', 'escalation', 'summary']
export const models = ['invented-1', 'invented-1-mini', 'invented-2', 'other-large']
export const tools = ['lookup_order', 'refund', 'search', 'send_mail', 'charge_card', 'close_ticket']

/** Milliseconds between two runs. */
const pace = 6_000
const begin = Date.UTC(2026, 0, 1)

/** Writes `count` small tapes of 4 steps into a folder: real ones, with valid digests. Number n is the same every time. */
export function makeTapes(folder: string, count: number): void {
  mkdirSync(folder, { recursive: true })
  for (let n = 0; n < count; n++) writeFileSync(join(folder, `run-${`${n}`.padStart(6, '0')}.tape.jsonl`), tapeText(n))
}

/** Writes `count` cases and their tapes, all of which are whole. */
export function makeCases(folder: string, count: number): void {
  mkdirSync(folder, { recursive: true })
  for (let at = 0; at < count; at++) {
    // Behind the tapes of an inbox, and none of those that are truncated.
    const n = 500_000 + at * 2
    const id = `case-${`${at}`.padStart(6, '0')}`
    const tool = pick(tools, Math.floor(n / 3))
    writeFileSync(join(folder, `${id}.tape.jsonl`), tapeText(n))
    writeFileSync(
      join(folder, `${id}.case.yaml`),
      `case: ${id}\nagent: ${pick(agents, n)}\ntape: ${id}.tape.jsonl\nexpect: pass\ntitle: Looks the order up\nbaseline:\n  - ${tool}(order)\n  - audit(order)\n`,
    )
  }
}

function tapeText(n: number): string {
  const startedAt = new Date(begin + n * pace).toISOString()
  const header: TapeHeader = {
    harvest: formatVersion,
    id: `run-${`${n}`.padStart(6, '0')}`,
    agent: pick(agents, n),
    input: { ticket: n },
    startedAt,
    recorder: 'vitest-harvest/0.1.0',
    flags: currentFlags,
    pins: { node: '24.21.0', commit: (0x4f2a000 + Math.floor(n / 5_000)).toString(16) },
  }
  return serializeTape(header, eventsOf(n), n % 50 === 7 ? undefined : closeOf(n, startedAt))
}

function eventsOf(n: number): readonly TapeEvent[] {
  const model = pick(models, Math.floor(n / 8))
  const tool = pick(tools, Math.floor(n / 3))
  const order = `A-${n}`
  const call = { id: 'call_1', type: 'function', function: { name: tool, arguments: JSON.stringify({ order }) } }
  return [
    ask(1, model, `Order ${order} arrived broken.`, { role: 'assistant', content: null, tool_calls: [call] }, n),
    { kind: 'tool', n: 10, at: 40, name: tool, args: { order }, settled: [11, 55], result: { order, total: n % 500 } },
    { kind: 'tool', n: 12, at: 56, name: 'audit', args: { order }, settled: [13, 58], result: 'ok' },
    ask(20, model, `Order ${order} is worth ${n % 500}.`, { role: 'assistant', content: 'Done.' }, n),
  ]
}

function ask(at: number, model: string, text: string, message: object, n: number): ExchangeEvent {
  const messages = [
    { role: 'system', content: 'Look the order up first. Never refund more than its total.' },
    { role: 'user', content: text },
  ]
  const usage = { prompt_tokens: 400 + (n % 900), completion_tokens: 20 + (n % 77), total_tokens: 0 }
  return {
    kind: 'exchange',
    n: at,
    at,
    via: 'undici',
    method: 'POST',
    url: 'https://api.example/v1/chat/completions',
    request: { headers: [['content-type', 'application/json']], body: JSON.stringify({ model, messages }) },
    response: {
      moment: [at + 1, at + 20],
      status: 200,
      headers: [['content-type', 'application/json']],
      chunks: [[at + 2, at + 20, JSON.stringify({ model, choices: [{ index: 0, message }], usage })]],
      end: [at + 3, at + 20],
    },
  }
}

function closeOf(n: number, startedAt: string): Closing {
  const isIncident = n % 20 === 3
  const until = new Date(Date.parse(startedAt) + 30 * 86_400_000).toISOString()
  return {
    n: 90,
    at: 80 + (n % 4_000),
    outcome: isIncident
      ? { status: 'threw', error: { message: 'no such order' } }
      : { status: 'returned', value: { refunded: n % 500 } },
    kept: [{ because: isIncident ? 'error' : 'sample' }],
    retention: { class: isIncident ? 'incident' : 'clean', ...(isIncident ? {} : { until }) },
  }
}

function pick(words: readonly string[], n: number): string {
  return words[n % words.length] ?? ''
}
