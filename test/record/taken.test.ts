import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { HarvestError } from '../../src/errors/index.ts'
import { createRecorder } from '../../src/record/index.ts'

test.each([
  ['written as it goes', {}],
  ['held until it is over', { sample: 0, keep: { errors: true } }],
])('a run id used twice is named as the cause, not the disk: a run %s', async (_, options) => {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-taken-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const warnings: HarvestError[] = []
  const recorder = createRecorder({ dir, ...options, onWarning: (error) => warnings.push(error) })
  for (const error of [new Error('one'), new Error('two')])
    await expect(recorder.run({ agent: 'shop', id: 'ticket-7' }, () => Promise.reject(error))).rejects.toBe(error)
  await vi.waitFor(() => expect(warnings.map(({ code }) => code)).toEqual(['HARVEST_RECORDING_FAILED']), 30_000)
  expect(warnings[0]?.message).toContain('A tape with this id exists already')
  expect(warnings[0]?.facts.fix?.[0]).toMatch(/^give each run an id of its own/)
  expect(warnings[0]?.message).not.toContain('space')
})
