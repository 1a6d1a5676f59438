import { expect, test } from 'vitest'
import { type WhatIfRow, rowLines } from '../../src/cli/debug/forks.ts'

const spent = { calls: 0, modelCalls: 0, inputTokens: 0, outputTokens: 0 }
const sum = {
  forks: 8,
  judged: 8,
  asRecorded: 5,
  interval: { low: 0.31, high: 0.86 },
  grades: { ok: 3, bad: 5 },
  spent,
}
const beside = { forks: 8, judged: 8, asRecorded: 2, spent, chance: 0.31 }
const row = { change: 'a', sum, beside, branches: [] } as unknown as WhatIfRow

test('each rate of runs that asked a model has its interval beside it, the unchanged runs too', () => {
  // Cells fold, so that a bound may stand on the next line.
  const text = rowLines([row], true).join(' ')
  for (const bound of ['3 of 8 (95 %: 13.7 %', '69.4 %)', '31.0 %', '86.0 %', '2 of 8 (95 %: 7.1 %', '59.1 %), chance'])
    expect(text).toContain(bound)
})

test('a run that asks no model ends the same each time: its rate has none', () => {
  const [, line = ''] = rowLines([{ ...row, beside: undefined }], false)
  expect(line.split(/ {2,}/).slice(0, 2)).toEqual(['a', '3 of 8'])
})
