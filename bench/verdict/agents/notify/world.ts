import type { World } from '../../world/types.ts'

export const input = { number: 'R-2026-41', total: 249.5, due: '2026-04-15' }

export function open(): World {
  return { decide: () => 'A friendly reminder: invoice R-2026-41 of 249.50 EUR is due on 15 April.' }
}
