import type { World } from '../../world/types.ts'

export const input = { id: 'P-900', from: 'A-1', to: 'Kari Moe', cents: 312_050, reference: 'Salary March' }

export function open(): World {
  return {
    decide: () => 'BOOK: a salary.',
    serve({ path }) {
      if (path.includes('/accounts/')) return { body: { etag: '"e-41"', balance: 88_000 } }
      if (path.includes('/statements/')) return { body: { lines: 41 } }
      if (path.endsWith('/payments')) return { body: { receipt: 'K-77' } }
      return { body: { ok: true } }
    },
  }
}
