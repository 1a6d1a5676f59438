import { expect, test } from 'vitest'
import { live, type PatchControl } from '../../src/cli/forking/patched.ts'
import { HarvestError } from '../../src/errors/index.ts'
import { askedNone } from '../../src/live/unreached.ts'
import type { JobOutcome } from '../../src/jobs/run.ts'

const end = (outcomeEqual: boolean) =>
  ({ report: { problems: [], comparison: { outcomeEqual } } }) as unknown as JobOutcome
const times = (survived: number, runs: number): readonly JobOutcome[] =>
  Array.from({ length: runs }, (_, n) => end(n < survived))
const unjudged = new HarvestError('HARVEST_NOT_RECORDED', { what: 'No recorded answer fits' })
const unchanged = { control: {} } as PatchControl

test('a change is said to survive where runs without it show that hardly any effect is left', () => {
  expect(live(times(40, 40), times(40, 40), unchanged)).toMatchObject({ survives: true })
  expect(live(times(20, 40), times(40, 40), unchanged)).toMatchObject({ survives: false })
})

test('of a change that no run asked for nothing is said, and of others in how many it was asked for', () => {
  const asking = (n: number): readonly JobOutcome[] =>
    times(40, 40).map((run, at) => ({ ...run, answeredFrom: at < n ? [3, 7] : [7] }) as never)
  const answer = (n: number) => live(asking(n), times(40, 40), unchanged, [3])
  expect(answer(0)).toMatchObject({
    survives: null,
    rate: { met: 0 },
    because: expect.stringContaining('No run with the change asked for what is changed.') as string,
  })
  expect(answer(5)).toMatchObject({
    survives: true,
    rate: { met: 5 },
    because: expect.stringContaining(' 5 of the first asked for what is changed.') as string,
  })
  expect(answer(40).because).not.toContain('asked for')
  // Another input is there in each run.
  expect(live(asking(0), times(40, 40), unchanged)).toMatchObject({ survives: true })
})

test('a run that asks no model any more is judged with the change, and not without', () => {
  const asked = (survived: number, runs: number): readonly JobOutcome[] =>
    times(survived, runs).map((run) => ({ ...run, unreached: { because: askedNone } }) as never)
  expect(live(asked(0, 20), times(20, 20), unchanged)).toMatchObject({ survives: false })
  expect(live(times(20, 20), asked(20, 20), unchanged)).toMatchObject({ survives: null, beside: { runs: 0 } })
})

test.for([
  [1, 1, 1],
  [2, 4, 4],
  [5, 10, 10],
  [10, 10, 10],
] as const)(
  '%i of %i live runs beside %i without the change leave open whether it survives',
  ([survived, runs, without]) => {
    const answer = live(times(survived, runs), times(without, runs), unchanged)
    expect(answer).toMatchObject({ survives: null, because: expect.stringMatching(/is not ruled out/) as string })
  },
)

test('runs that could not be judged may all be of the effect', () => {
  const lost = [...times(50, 50), ...Array.from({ length: 5 }, () => unjudged)]
  expect(live(lost, times(55, 55), unchanged)).toMatchObject({ survives: null })
  expect(live(times(55, 55), times(55, 55), unchanged)).toMatchObject({ survives: true })
})

test('beside no run without the change nothing is said of it', () => {
  expect(live(times(2, 2), [unjudged, unjudged], unchanged)).toMatchObject({
    survives: null,
    because: expect.stringMatching(/nothing can be compared\.\n\nNo recorded answer fits/) as string,
  })
})
