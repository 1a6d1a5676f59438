import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { incidentOf } from './incident.ts'
import { openScene, type Scene } from './measure.ts'

describe('failures planted in one layer, with a real SDK and tools that run', () => {
  let scene: Scene
  const folder = mkdtempSync(join(tmpdir(), 'harvest-isolate-'))
  beforeAll(async () => void (scene = await openScene(folder)))
  afterAll(async () => {
    await scene.close()
    rmSync(folder, { recursive: true, force: true })
  })

  // One by the code and one by the prompt, where there are both.
  it.each([
    ['code', 0],
    ['sampling', 4],
    ['data', 0],
    ['data', 2],
    ['timing', 1],
    ['timing', 14],
  ] as const)(
    '%s %i is named, within its budget, and its tape fails as recorded',
    { tags: 'thorough' },
    async (layer, number) => {
      const one = await scene.record(incidentOf(layer, number))
      expect(await one.replay()).toBe(true)
      const { verdict, spent } = await one.isolate({ costUsd: 0.1 })
      expect(verdict).toEqual({ kind: 'found', layers: [layer] })
      expect(spent.now.costUsd).toBeLessThanOrEqual(0.1)
    },
  )

  it('a budget that is too small ends it before it is passed, and names no other layer', async () => {
    const one = await scene.record(incidentOf('code', 1))
    const { verdict, spent } = await one.isolate({ costUsd: 0.005 })
    expect(verdict).toMatchObject({ kind: 'unresolved' })
    expect(spent.now.costUsd).toBeLessThanOrEqual(0.005)
  })
})
