import type { World } from '../../world/types.ts'

export const input = { topic: 'The closed bridge of Lund', words: 180, editor: 'saga' }

export function open(): World {
  const said = ['The bridge was opened in 1934 and closed in 2021.', 'NONE', 'Lund: the bridge stays closed']
  return { decide: (_asked, index) => said[index] ?? 'Nothing to add.' }
}
