import type { World } from '../../world/types.ts'

export const input = { branch: 'release', since: '2025-01-01', team: 'billing' }

export function open(): World {
  const steps = ['find_stale', 'archive', 'publish', 'tell_everybody']
  return {
    decide(_asked, index) {
      const name = steps[index]
      return name === undefined ? 'All is clean.' : [{ name, args: {} }]
    },
  }
}
