import type { World } from '../../world/types.ts'

export const input = {
  id: 'T-204',
  customer: 'C-7',
  text: 'The second parcel is missing too, and my lawyer will hear of it. I want 80 EUR back.',
  history: [
    { role: 'user', text: 'My parcel with order A-311 never arrived.' },
    { role: 'assistant', text: 'I am sorry. A new one was sent on 3 March and arrives within 5 days.' },
  ],
}

export function open(): World {
  return {
    decide(_asked, index) {
      if (index === 0) return [{ name: 'add_note', args: { text: 'Lawyer mentioned, wants 80 EUR.' } }]
      if (index === 1) return [{ name: 'escalate', args: { to: 'Priya Nair', urgent: true } }]
      return 'Priya Nair of our second line calls you today about the 80 EUR.'
    },
    serve: ({ path }) =>
      path.startsWith('/api/customers/') ? { body: { name: 'Ada Holm', plan: 'gold' } } : { body: { done: true } },
  }
}
