import { describe, expect, test } from 'vitest'
import { blameFailedRun } from '../../src/blame/index.ts'
import { plant } from '../../src/validation/structural/families.ts'
import type { Noise } from '../../src/validation/structural/model.ts'
import { randomOf } from '../../src/validation/structural/random.ts'
import { structuralSource } from '../../src/validation/structural/source.ts'
import { truthOf } from '../../src/validation/structural/truth.ts'

const erring: Noise = { slip: 0.03, recurrence: 0, correction: 0, wording: 'varies' }

describe('an agent that errs so often that a long run hardly ever ends well', () => {
  test('is not called unrecoverable when a late step lost the run', async () => {
    const late = Array.from({ length: 200 }, (_, seed) => plant('F5.single', 200, erring, randomOf(seed)).model)
      .map((model) => ({ model, truth: truthOf(model) }))
      .filter(({ truth }) => truth.drop > 0.6)
    expect(late.length).toBeGreaterThan(10)
    const kinds = new Set<string>()
    for (const [seed, { model, truth }] of late.slice(0, 20).entries()) {
      // Drawn anew from its beginning it is lost nearly always, whatever the late step does.
      expect(truth.curve[0]).toBeLessThan(0.01)
      const { verdict } = await blameFailedRun(structuralSource(model, seed))
      kinds.add(verdict.kind)
    }
    expect([...kinds]).not.toContain('never')
  })

  test('is called unrecoverable when no step could have saved the run', async () => {
    const { model } = plant('F7.environment', 200, erring, randomOf(1))
    expect((await blameFailedRun(structuralSource(model, 1))).verdict).toMatchObject({
      kind: 'never',
      how: 'certified',
    })
  })
})
