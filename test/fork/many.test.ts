import { expect, test } from 'vitest'
import { runInChild } from '../../fixtures/child/index.ts'
import type { Leftovers } from '../support/leftovers.ts'

test('a thousand forks in one process leave nothing behind', { tags: 'thorough' }, async () => {
  const left: Leftovers = await runInChild(new URL('./many.child.ts', import.meta.url), 1000)
  expect(left).toMatchObject({ resourcesMore: [], listenersMore: 0, patchesMore: 0, problems: [] })
  expect(left.heapRatio).toBeLessThan(1.1)
})
