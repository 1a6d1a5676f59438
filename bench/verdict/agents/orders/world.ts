import type { World } from '../../world/types.ts'

export const input = {
  customer: 'C-88',
  order: 'W-1004',
  text: 'Two of six bottles of Fleurie arrived broken. Can I have something off, too?',
  facts: ['buys since 2019', 'prefers English', 'is allergic to sulphites'],
}

export function open(): World {
  return {
    decide(_asked, index) {
      if (index === 0) {
        return [
          { name: 'replace_bottle', args: { bottle: 'Fleurie', count: 2 } },
          { name: 'give_discount', args: { percent: 20 } },
        ]
      }
      return 'Two new bottles are on their way, and 15 percent are off. Margaux, Cave du Nord'
    },
    serve({ path }) {
      if (path.includes('/orders/')) return { body: { id: 'W-1004', bottles: { Fleurie: 6 }, total: 118.8 } }
      if (path.includes('/customers/')) return { body: { id: 'C-88', name: 'Nora Lind', age: 41, country: 'NO' } }
      if (path.endsWith('/stock')) return { body: { Fleurie: 31 } }
      if (path.endsWith('/delays')) return { body: { Postnord: 2 } }
      return { body: { saved: true } }
    },
  }
}
