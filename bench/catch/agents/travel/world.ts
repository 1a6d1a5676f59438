import { parsed, type Scene } from '../../world/types.ts'

interface Offers {
  readonly offers?: readonly { readonly id: string; readonly price: number }[]
}

/** The model searches both at once and plans the cheapest of each; a person approves at the third look. */
export const scene: Scene = {
  inputs: [
    { traveller: 'ada', from: 'BER', to: 'LIS', depart: '2026-05-02', nights: 3 },
    { traveller: 'bo', from: 'HAM', to: 'OSL', depart: '2026-06-11', nights: 1 },
    { traveller: 'nobody', from: 'MUC', to: 'ROM', depart: '2026-07-01', nights: 2 },
  ],
  open() {
    const looks = new Map<string, number>()
    return {
      decide({ model, system, user, tools, results }) {
        const text = user.join('\n')
        const [from = '', to = ''] = text.match(/\b[A-Z]{3}\b/g) ?? []
        const date = /\d{4}-\d\d-\d\d/.exec(text)?.[0] ?? ''
        const nights = Number(/(\d+) nights/.exec(text)?.[1] ?? 1)
        const both = [
          { name: 'search_flights', args: { from, to, date } },
          { name: 'search_hotels', args: { city: to, checkin: date, nights } },
        ].filter(({ name }) => tools.includes(name) && !results.some((result) => result.name === name))
        if (both.length > 0) return both
        const best = (name: string) => {
          const heard = results.find((result) => result.name === name)
          const { offers = [] } = parsed(heard?.text ?? '{}') as Offers
          const byPrice = offers.toSorted((a, b) => a.price - b.price)
          return model === 'gpt-5' && !/comfort/i.test(system) ? byPrice[0] : byPrice.at(-1)
        }
        const [flight, hotel] = [best('search_flights'), best('search_hotels')]
        if (flight === undefined || hotel === undefined) return 'I found no flight with a room.'
        return `PLAN flight=${flight.id} hotel=${hotel.id} total=${flight.price + hotel.price * nights}`
      },
      serve({ path, query, body }) {
        const offers = (prefix: string, base: number) => ({
          body: { offers: [2, 0, 1].map((n) => ({ id: `${prefix}${n}`, price: base + n * 15 })) },
        })
        if (path === '/flights') return { ...offers(`${query['to']}-${query['date']}-F`, 120), delayMs: 10 }
        if (path === '/hotels') return offers(`${query['city']}-H`, 80)
        if (path === '/holds') return { body: { hold_id: `hold-${String(body['flight'])}`, until: body['until'] } }
        const id = /^\/approvals\/(.+)/.exec(path)?.[1]
        if (id !== undefined) {
          const look = (looks.get(id) ?? 0) + 1
          looks.set(id, look)
          const isRejected = id.includes('ROM')
          return { body: { status: look < 3 ? 'pending' : isRejected ? 'rejected' : 'approved' } }
        }
        return { body: { ok: 'yes' } }
      },
    }
  },
}
