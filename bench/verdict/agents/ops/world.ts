import type { World } from '../../world/types.ts'

export const input = {
  service: 'checkout',
  text: 'errors above 5 % since 02:10',
  runbook: '1. Look at the metrics. 2. If a deploy was made within 60 minutes, roll it back. 3. Otherwise call Aino.',
}

export function open(): World {
  return {
    decide(_asked, index) {
      if (index === 0) {
        return [
          { name: 'get_metrics', args: { minutes: 30 } },
          { name: 'list_deploys', args: {} },
        ]
      }
      if (index === 1) return [{ name: 'rollback', args: { version: 'v41' } }]
      return 'checkout is back on v41; errors are falling.'
    },
  }
}
