import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRecorder, tools } from '../../src/record/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { type Decision, type Desk, openDesk } from '../cli/desk.ts'

const shop = tools({
  lookup_order: async ({ order_id }: { order_id: string }) => ({ order_id, total: 25 }),
  refund: async ({ order_id, amount }: { order_id: string; amount: number }) => ({ order_id, refunded: amount }),
})

interface Asked {
  readonly url: string
  readonly text: string
}

/** Asks its model in a loop and runs the tool it wants. */
export async function deskAgent(
  input: unknown,
  model = 'gpt-4o',
  amend = (args: object): object => args,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly answer: string }> {
  const { url, text } = input as Asked
  const messages: unknown[] = [{ role: 'user', content: text }]
  for (;;) {
    const body = JSON.stringify({ model, messages })
    const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
    if (!response.ok) throw new Error(`status ${response.status}`)
    const { choices } = (await response.json()) as { choices: { message: Message }[] }
    const message = choices[0]!.message
    messages.push(message)
    const [call] = message.tool_calls ?? []
    if (call === undefined) return { answer: message.content ?? '' }
    const run = shop[call.function.name as keyof typeof shop] as (args: unknown) => Promise<unknown>
    const result = await run(amend(JSON.parse(call.function.arguments) as object))
    messages.push({ role: 'tool', tool_call_id: call.id, content: JSON.stringify(result) })
  }
}

interface Message {
  readonly content: string | null
  readonly tool_calls?: {
    readonly id: string
    readonly function: { readonly name: string; readonly arguments: string }
  }[]
}

/** Looks the order up, refunds this amount, says so. */
export function refunds(amount: number): (messages: Parameters<Desk['decide']>[0]) => Decision {
  return (messages): Decision => {
    const done = messages.filter(({ role }) => role === 'tool').length
    if (done === 0) return { tool: 'lookup_order', args: { order_id: 'A-100' } }
    if (done === 1) return { tool: 'refund', args: { order_id: 'A-100', amount } }
    // What was refunded is what is said.
    const refunded = /"refunded\\*":(\d+)/.exec(JSON.stringify(messages.at(-1)))?.[1] ?? '?'
    return `I refunded ${refunded} EUR.`
  }
}

/** A desk, and a recorder of the agent that asks it. */
export async function openRefunds(): Promise<Refunds> {
  const desk = await openDesk(refunds(25))
  const dir = mkdtempSync(join(tmpdir(), 'harvest-blame-'))
  const recorder = createRecorder({ dir })
  return {
    desk,
    dir,
    async record(decide, text = 'Refund A-100.') {
      desk.decide = decide
      const input = { url: desk.url, text }
      await recorder.run({ agent: 'desk', input }, () => deskAgent(input))
      return readTape(recorder.lastTape ?? '')
    },
    async close() {
      rmSync(dir, { recursive: true, force: true })
      await desk.close()
    },
  }
}

export interface Refunds {
  readonly desk: Desk
  readonly dir: string
  record(decide: Desk['decide'], text?: string): Promise<Tape>
  close(): Promise<void>
}
