import { describe, expect, it } from 'vitest'
import { fileURLToPath } from 'node:url'
import { forgetCaseBefore, forgetFixtures } from '../../src/vitest/forget-case.ts'

describe('what Vitest keeps of a describe', () => {
  const taken = [forgetFixtures(), forgetFixtures()]

  it('is found by this version of Vitest, and taken once', () => {
    expect(taken).toEqual([true, false])
  })
})

interface Worker {
  readonly evaluatedModules: { readonly idToModuleMap: ReadonlyMap<string, unknown> }
}

it('the module of a case is gone when the next case is opened, and no other', async () => {
  const load = () => Promise.all([import('../../src/vitest/line-map.ts'), import('../../src/vitest/neutral-lines.ts')])
  const [before, kept] = await load()
  const { evaluatedModules: evaluated } = Reflect.get(globalThis, '__vitest_worker__') as Worker
  const file = fileURLToPath(new URL('../../src/vitest/line-map.ts', import.meta.url))
  forgetCaseBefore(file)
  forgetCaseBefore(file)
  expect((await load())[0]).toBe(before)
  forgetCaseBefore('/recordings/golden/next.case.yaml')
  const [again, other] = await load()
  expect([again === before, other === kept]).toEqual([false, true])
  forgetCaseBefore(file)
  forgetCaseBefore('/recordings/golden/last.case.yaml')
  expect([...evaluated.idToModuleMap.keys()].filter((id) => id === file)).toEqual([])
})
