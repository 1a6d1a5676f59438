import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { currentFlags, type Imported, type Json, serializeTape, type TapeEvent } from '../../src/tape/index.ts'
import { ask } from '../cli/in-process.ts'

/** A call of a tool that a model asks for. */
interface Asked {
  readonly id: string
  readonly name: string
  readonly args: Json
}

const system = { role: 'system', content: 'Look the order up first. Never refund more than its total.' }
const user = { role: 'user', content: 'Please refund my order A-100, it arrived broken.' }

/** The run that refunded 2,500 EUR for an order of 25: five questions to a model, five tools, two of them side by side. */
export function incidentEvents(): readonly TapeEvent[] {
  const messages: Json[] = [system, user]
  let [n, at] = [0, 0]
  const next = (ms: number): [number, number] => [++n, (at += ms)]
  const events: TapeEvent[] = []
  const model = (calls: readonly Asked[], tokens: number, said: string | null = null, more: object = {}): void => {
    const [asked, atMs] = next(1)
    const body = JSON.stringify({ model: 'gpt-5', messages })
    const toolCalls = calls.map(({ id, name, args }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    }))
    const message = { role: 'assistant', content: said, ...(calls.length > 0 && { tool_calls: toolCalls }) }
    const choice = { index: 0, message, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop', ...more }
    const answer = { model: 'gpt-5', choices: [choice], usage: { prompt_tokens: tokens, completion_tokens: 20 } }
    const head = next(8)
    const chunk = next(0)
    events.push({
      kind: 'exchange',
      n: asked,
      at: atMs,
      via: 'undici',
      method: 'POST',
      url: 'https://api.openai.com/v1/chat/completions',
      site: 'src/refund-agent.ts:48:26',
      request: { headers: [['content-type', 'application/json']], body },
      response: {
        moment: head,
        status: 200,
        headers: [['content-type', 'application/json']],
        chunks: [[...chunk, JSON.stringify(answer)]],
        end: next(0),
      },
    })
    messages.push(message as Json)
  }
  const tools = (calls: readonly (Asked & { readonly result: Json })[]): void => {
    const asked = calls.map(() => next(0))
    for (const [index, { name, args, result }] of calls.entries()) {
      const [issued = 0, atMs = 0] = asked[index] ?? []
      const settled = next(index === 0 ? 2 : 0)
      events.push({ kind: 'tool', n: issued, at: atMs, name, args, result, settled, site: 'src/refund-agent.ts:62:24' })
    }
    for (const { id, result } of calls)
      messages.push({ role: 'tool', tool_call_id: id, content: JSON.stringify(result) })
  }
  const order = { id: 'c1', name: 'lookup_order', args: { order_id: 'A-100' } }
  const policy = { id: 'c2', name: 'refund_policy', args: { country: 'DE' } }
  const history = { id: 'c3', name: 'customer_history', args: { customer: 'C-7' } }
  const refund = { id: 'c4', name: 'refund', args: { order_id: 'A-100', amount: 2500 } }
  const mail = { id: 'c5', name: 'send_mail', args: { to: 'C-7' } }
  model([order, policy], 149)
  tools([
    { ...order, result: { order_id: 'A-100', total: 25, currency: 'EUR' } },
    { ...policy, result: { country: 'DE', days: 30 } },
  ])
  model([history], 264)
  tools([{ ...history, result: { customer: 'C-7', refunds: 1, note: 'paid 2500 cents' } }])
  events.push({ kind: 'mark', n: next(0)[0], at, name: 'plan', data: { turn: 2, checked: ['order'] } })
  model([refund], 334, null, {
    logprobs: { content: [{ token: '2500', logprob: -0.1, top_logprobs: [{ token: '25', logprob: -2.3 }] }] },
  })
  events.push({ kind: 'draws', n: next(0)[0], at, draws: [['now', 'app', 1_794_000_000_000]] })
  tools([{ ...refund, result: { order_id: 'A-100', refunded: 2500 } }])
  events.push({ kind: 'mark', n: next(0)[0], at, name: 'plan', data: { turn: 3, checked: ['order', 'history'] } })
  model([mail], 400)
  tools([{ ...mail, result: { to: 'C-7', sent: true } }])
  model([], 450, 'I refunded 2500 EUR for order A-100.')
  return events
}

/** Writes a tape into a folder that is gone after the test. */
export function tapeFile(
  events: readonly TapeEvent[],
  { isTruncated = false, ...more }: { readonly isTruncated?: boolean; readonly imported?: Imported } = {},
): string {
  const folder = mkdtempSync(join(tmpdir(), 'harvest-debug-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const header = {
    harvest: 1,
    id: 'refund-100x',
    agent: 'refund',
    input: { text: user.content },
    startedAt: '2026-11-22T10:00:00.000Z',
    recorder: 'vitest-harvest/0.1.0',
    flags: currentFlags,
    pins: { node: '24.21.0' },
    ...more,
  }
  const last = Math.max(0, ...events.map(({ n }) => n))
  const value = { answer: 'I refunded 2500 EUR for order A-100.' }
  const close = { n: last + 50, at: 104, outcome: { status: 'returned' as const, value } }
  const file = join(folder, 'refund-100x.tape.jsonl')
  writeFileSync(file, serializeTape(header, events, isTruncated ? undefined : close))
  return file
}

/** What the debugger answers to commands, as text. */
export async function debug(file: string, commands: string, ...options: readonly string[]) {
  return ask('debug', file, '-x', commands, ...options)
}

/** What it answers as JSON, one value per command. */
export async function debugJson(file: string, commands: string): Promise<readonly never[]> {
  const { out } = await ask('debug', file, '--json', '-x', commands)
  return out.split('\n').map((line) => JSON.parse(line) as never)
}
