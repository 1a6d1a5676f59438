import { describe, expect, it } from 'vitest'
import { competingCases, scoreCompeting } from '../../src/validation/grid/competing.ts'

describe('the eleven cases of competing causes', () => {
  it.each(['deterministic', 'noisy'] as const)('are all read right, with a %s tail', async (tail) => {
    const results = await scoreCompeting(tail)
    expect(results).toHaveLength(11)
    expect(results.filter(({ isRight }) => !isRight)).toEqual([])
  })

  it('are those with each role of each scenario once', () => {
    expect(new Set(competingCases.map(({ name }) => name)).size).toBe(11)
    expect(competingCases.filter(({ necessary }) => necessary)).toHaveLength(6)
  })
})
