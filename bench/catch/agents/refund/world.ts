import { parsed, type Scene } from '../../world/types.ts'

/**
 * The model reads order and amount in the ticket, asks for both facts at once, and tries the amount asked for. Refused,
 * it takes the order's total. Without a policy it declines; a smaller model takes the whole total at once.
 */
export const scene: Scene = {
  inputs: [
    { id: 'T-17', text: 'Please refund 80.00 EUR for my order A-100, it arrived broken.', email: 'ada@example.com' },
    { id: 'T-18', text: 'I want 12.40 EUR back for order B-200.', email: 'bo@example.com' },
    { id: 'T-19', text: 'Refund order A-100 please.', email: 'cy@example.com' },
  ],
  open: () => ({
    decide({ model, system, user, tools, results }) {
      const text = user.join('\n')
      const orderId = /\b[A-Z]-\d{3}\b/.exec(text)?.[0] ?? 'unknown'
      const heard = (name: string) => results.filter((result) => result.name === name).map(({ text }) => parsed(text))
      const order = heard('lookup_order').at(-1)
      const policy = heard('refund_policy').at(-1)
      if (order === undefined) {
        const both = [
          { name: 'lookup_order', args: { order_id: orderId } },
          { name: 'refund_policy', args: { country: 'DE' } },
        ].filter(({ name }) => tools.includes(name))
        return both.length > 0 && results.length < 4 ? both : 'I cannot look your order up.'
      }
      if (policy?.['days'] === undefined) return 'I cannot refund this without the policy.'
      const total = Number(order['total'])
      const asked = Number(/(\d+\.\d\d) EUR/.exec(text)?.[1] ?? total)
      const tries = heard('refund')
      const done = tries.find(({ refunded }) => refunded !== undefined)
      if (done !== undefined)
        return `I refunded ${String(done['refunded'])} ${String(done['currency'])} for ${orderId}.`
      if (!tools.includes('refund') || tries.length > 3) return 'A colleague will refund this.'
      const isCareful = model === 'gpt-5' && !/generous/i.test(system)
      const amount = tries.length > 0 || !isCareful ? total : asked
      return [{ name: 'refund', args: { order_id: orderId, amount } }]
    },
    serve({ path, body }) {
      const orderId = /^\/orders\/(.+)/.exec(path)?.[1]
      if (orderId !== undefined) {
        const total = orderId === 'A-100' ? 64.5 : 30
        return { body: { order_id: orderId, total, currency: 'EUR', country: 'DE' }, delayMs: 8 }
      }
      if (path.startsWith('/policies/')) return { body: { country: path.slice(10), days: 30 } }
      if (path === '/refunds') {
        return { body: { order_id: body['order_id'], refunded: body['amount'], currency: body['currency'] } }
      }
      return { body: { ok: true } }
    },
  }),
}
