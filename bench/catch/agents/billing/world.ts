import { parsed, type Scene } from '../../world/types.ts'

interface Found {
  readonly disputed?: readonly { readonly amount: number }[]
}

/** The model adds up, asks for the rate unless the currency is EUR, credits, notifies. */
export const scene: Scene = {
  inputs: [
    { customer: 'C-7', asOf: '2026-03-01T00:30:00+02:00', currency: 'USD' },
    { customer: 'C-8', asOf: '2026-02-10T12:00:00+01:00', currency: 'EUR' },
    { customer: 'C-9', asOf: '2026-02-11T12:00:00+01:00', currency: 'GBP' },
  ],
  open() {
    const failed = new Set<string>()
    return {
      decide({ model, system, user, tools, results }) {
        const [, customer = '', month = '', currency = ''] =
          /customer (\S+) disputes in (\S+), in (\w+)/.exec(user.join('\n')) ??
          /(C-\d+)\D+(\d{4}-\d\d).*?\b([A-Z]{3})\b/s.exec(user.join('\n')) ??
          []
        const last = (name: string) => results.findLast((result) => result.name === name)
        const listed = last('list_invoices')
        const can = (name: string) => tools.includes(name)
        if (listed === undefined) {
          return can('list_invoices') ? [{ name: 'list_invoices', args: { customer, month } }] : 'I see no invoices.'
        }
        const { disputed } = parsed(listed.text) as Found
        if (disputed === undefined) return `I could not read the invoices of ${customer}.`
        const sum = disputed.reduce((total, { amount }) => total + amount, 0)
        const rate = last('exchange_rate')
        if (rate === undefined && currency !== 'EUR' && sum > 0 && can('exchange_rate')) {
          return [{ name: 'exchange_rate', args: { from: 'EUR', to: currency } }]
        }
        const factor = rate === undefined ? 1 : Number(parsed(rate.text)['rate'] ?? 1)
        const bonus = /generous/.test(system) ? 10 : 0
        const amount =
          Math.round((sum * factor + bonus) * (model === 'gpt-5' ? 100 : 1)) / (model === 'gpt-5' ? 100 : 1)
        const credit = last('issue_credit')
        if (credit === undefined && can('issue_credit') && sum > 0) {
          return [{ name: 'issue_credit', args: { customer, amount, currency } }]
        }
        const told = credit === undefined ? 'nothing to credit' : `credit: ${credit.text}`
        if (last('notify') === undefined && can('notify') && !/do not notify/i.test(system)) {
          return [{ name: 'notify', args: { customer, text: told } }]
        }
        return `Done for ${customer}: ${told}`
      },
      serve({ method, path, query, body }) {
        if (path === '/invoices') {
          const page = Number(query['page'])
          if (page === 2 && !failed.has('invoices')) {
            failed.add('invoices')
            return { status: 503, body: { error: 'busy' } }
          }
          const base = query['month'] === '2026-03' ? 100 : 40
          const amount = base + page * 10 + (query['customer'] === undefined ? 500 : 0)
          const items = [
            { id: `I-${page}1`, amount, disputed: page !== 2 },
            { id: `I-${page}2`, amount: amount + 1.5, disputed: page === 2 && query['customer'] === 'C-7' },
          ]
          return { body: { items, next: page < 3 ? page + 1 : null } }
        }
        if (path === '/rates') return { body: { from: query['from'], to: query['to'], rate: 1.25 } }
        if (path === '/credits' && method === 'POST') {
          // The credit is booked, and the answer lost: only the key of the second attempt tells that it is the same.
          if (!failed.has('credits')) {
            failed.add('credits')
            return { status: 504, body: { error: 'timeout' } }
          }
          return { body: { booked: body['amount'], currency: body['currency'] } }
        }
        return { body: { ok: true } }
      },
    }
  },
}
