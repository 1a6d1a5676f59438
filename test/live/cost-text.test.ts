import { expect, it } from 'vitest'
import { costText } from '../../src/live/said-spent.ts'

it('a call that was paid for never costs $0.0000, however cheap its model is', () => {
  const costs = [undefined, 0, 0.0000421, 0.00001, 0.0000007, 0.0001, 0.00045, 1.25]
  expect(costs.map(costText)).toEqual([
    'cost unknown',
    '$0.0000',
    '$0.000042',
    '$0.000010',
    '$0.00000070',
    '$0.0001',
    '$0.0004',
    '$1.2500',
  ])
})
