import { expect, test } from 'vitest'
import { live, type PatchControl } from '../../src/cli/forking/patched.ts'
import { HarvestError } from '../../src/errors/index.ts'
import type { JobOutcome } from '../../src/jobs/run.ts'

const ended = { report: { problems: [], comparison: { outcomeEqual: true } } } as unknown as JobOutcome
const unjudged = new HarvestError('HARVEST_NOT_RECORDED', { what: 'No recorded answer fits' })
const unchanged = { control: {} } as PatchControl

test('a change whose live runs end as before is said to survive beside runs without it, and beside none nothing is said', () => {
  expect(live([ended, ended], [ended, ended], unchanged)).toMatchObject({ survives: true })
  expect(live([ended, ended], [unjudged, unjudged], unchanged)).toMatchObject({
    survives: null,
    because: expect.stringMatching(/nothing can be compared\.\n\nNo recorded answer fits/) as string,
  })
})
