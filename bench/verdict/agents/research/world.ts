import type { World } from '../../world/types.ts'

export const input = {
  text: 'Can the tenant leave in May 2026, and what would it cost?',
  matter: 'M-2291',
  earlier: 'resp_earlier_17',
}

export function open(): World {
  return {
    decide(_asked, index) {
      if (index === 0) return [{ name: 'search_clauses', args: { text: 'notice period' } }]
      if (index === 1) return [{ name: 'search_clauses', args: { text: 'limit of liability' } }]
      return 'Yes: §4 asks for 30 days in writing. §9 limits the liability to 50 000 EUR.'
    },
  }
}
