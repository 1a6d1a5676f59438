import type { World } from '../../world/types.ts'

export const input = {
  number: 'H-5512',
  report: 'A pipe burst on 2 February and ruined the floor. The landlord was told the same day.',
  amount: 3_120,
  policy: 'Household policy of Jonas Weber. Floors are covered up to 5000 EUR. Own share: 150 EUR.',
}

export function open(): World {
  return {
    decide: (_asked, index) =>
      index === 0
        ? [{ name: 'decide', args: { verdict: 'pay', amount: 2_970, reason: 'Water damage, less the own share.' } }]
        : 'PAY 2500: water damage; the rest is for a person to decide.',
  }
}
