import { tool } from '../../src/record/index.ts'

interface Ticket {
  readonly order: string
  readonly provider: string
}
interface Reply {
  readonly choices: readonly { readonly message: { readonly content: string } }[]
}

const lookupOrder = tool('lookup_order', (order: string) => Promise.resolve({ order, value: 25 }))

/** Asks a model, looks the order up, asks again. `REFUND_PROMPT` changes its system prompt, `REFUND_TWICE` makes it ask once more, `REFUND_AFTER` goes on after it returned. */
export async function refundAgent({
  order,
  provider,
}: Ticket): Promise<{ refunded: number; at: number; said: string }> {
  await ask(provider, [{ role: 'user', content: `Refund this order: ${order}` }])
  const { value } = await lookupOrder(order)
  const said = await ask(provider, [{ role: 'user', content: `${order} is worth ${value}. Refund?` }])
  if (process.env['REFUND_TWICE'] !== undefined)
    await ask(provider, [{ role: 'user', content: 'Anything else entirely?' }])
  if (process.env['REFUND_AFTER'] !== undefined) setTimeout(() => after(order), 5)
  return { refunded: value, at: Date.now(), said }
}

function after(order: string): void {
  const what = process.env['REFUND_AFTER']
  if (what === 'lookup_order') void lookupOrder(order)
  if (what === 'throw') throw new TypeError('too late')
  if (what === 'reject') void Promise.reject(new TypeError('too late'))
}

async function ask(provider: string, messages: readonly object[]): Promise<string> {
  const system = process.env['REFUND_PROMPT'] ?? 'Be fair.'
  const response = await fetch(`${provider}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'invented-1', messages: [{ role: 'system', content: system }, ...messages] }),
  })
  const { choices } = (await response.json()) as Reply
  return choices[0]?.message.content ?? ''
}
