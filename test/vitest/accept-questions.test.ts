import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { AcceptedChange } from '../../src/cases/index.ts'
import { unprovenError } from '../../src/replay/changed-questions.ts'
import { acceptancesFor } from '../../src/vitest/accept-questions.ts'
import type { HarvestProvided } from '../../src/vitest/channel.ts'

const now = Date.parse('2026-03-20T00:00:00.000Z')
const change: AcceptedChange = {
  key: 'AAAAAAAAAAAAAAAA',
  what: 'instructions',
  was: 'sha256-a',
  now: 'sha256-b',
  words: '[-100-] {+120+}',
}

test('an acceptance that does not count any more says so in the error, with its day and its limit', () => {
  const acceptedFile = join(import.meta.dirname, 'no-such-file.yaml')
  const settings = { acceptedMaxDays: 30 } as HarvestProvided['settings']
  const old = { ...change, at: '2026-02-01T00:00:00.000Z', by: 'Ada Lovelace' }
  const { expired } = acceptancesFor({ id: 'refund', accepted: [old] }, { acceptedFile, settings }, now)
  const question = { ...change, class: 'instructions', part: 'system prompt', steps: [1] } as const
  const told = unprovenError([question], { tape: 't1', expired }).message
  expect(told).toMatch(/accepted +2026-02-01T00:00:00.000Z by Ada Lovelace: counts for 30 days from then/)
  const accepted = [{ ...old, at: '2026-03-01T00:00:00.000Z' }]
  const young = acceptancesFor({ id: 'refund', accepted }, { acceptedFile, settings }, now)
  expect(young.expired.size).toBe(0)
})

function isCounted(at: string | undefined, acceptedMaxDays?: number): boolean {
  const acceptedFile = join(import.meta.dirname, 'no-such-file.yaml')
  const settings = { ...(acceptedMaxDays !== undefined && { acceptedMaxDays }) } as HarvestProvided['settings']
  const entry = { ...change, ...(at !== undefined && { at }) }
  return acceptancesFor({ id: 'refund', accepted: [entry] }, { acceptedFile, settings }, now).green.has(change.key)
}

test('an acceptance counts as many days as the config names, and none of a day to come', () => {
  expect(isCounted('2026-03-01T00:00:00.000Z', 30)).toBe(true)
  expect(isCounted('2026-02-01T00:00:00.000Z', 30)).toBe(false)
  // Of a clock that is ahead; of a day to come it would never be too old.
  expect(isCounted('2026-03-20T12:00:00.000Z', 30)).toBe(true)
  expect(isCounted('2099-01-01T00:00:00.000Z', 30)).toBe(false)
  expect(isCounted('soon', 30)).toBe(false)
  expect(isCounted(undefined, 30)).toBe(false)
  expect([isCounted(undefined), isCounted('2099-01-01T00:00:00.000Z')]).toEqual([true, true])
})
