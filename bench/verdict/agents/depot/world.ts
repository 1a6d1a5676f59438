import type { World } from '../../world/types.ts'

export const input = { depot: 'north', below: 5 }

export function open(): World {
  return { decide: () => 'No model is asked here.' }
}
