import { TestRunner } from 'vitest'

/**
 * Takes from Vitest what it keeps of every `describe` for as long as its worker lives: the fixtures its tests may use.
 * A case has none. At the end of a file Vitest makes an object for each, so that ten thousand cases in one worker would
 * make fifty million of them, and run out of memory.
 *
 * Call it while the `describe` of the case is being collected. Nothing of this is public: where it is not found nothing is
 * taken, and a large golden set takes longer. Vitest 4.1 to 5.1; to be removed when `TestFixtures` forgets by itself.
 *
 * @returns whether it was found
 */
export function forgetFixtures(): boolean {
  const { test } = TestRunner.getCurrentSuite()
  const key = Object.getOwnPropertySymbols(test).find(({ description }) => description === 'kChainableContext')
  const context: unknown = key === undefined ? undefined : Reflect.get(test, key)
  const getFixtures = fieldOf(context, 'getFixtures')
  const fixtures: unknown = typeof getFixtures === 'function' ? getFixtures.call(context) : undefined
  const all = fieldOf(fieldOf(fixtures, 'constructor'), '_definitions')
  if (!Array.isArray(all) || all.at(-1) !== fixtures) return false
  all.pop()
  return true
}

/** The case file whose module is still there: that of the case opened last. */
let opened: string | undefined

/**
 * Takes the module of the case before this one out of the worker: `vi.resetModules()` goes through all there are, for every
 * case. Not public either, and harmless where it is not found.
 *
 * @param file - absolute path of the case that is being opened
 */
export function forgetCaseBefore(file: string): void {
  const before = opened
  opened = file
  if (before === undefined || before === file) return
  const modules = fieldOf(fieldOf(globalThis, '__vitest_worker__'), 'evaluatedModules')
  const byFile = fieldOf(modules, 'fileToModulesMap')
  const byId = fieldOf(modules, 'idToModuleMap')
  const byUrl = fieldOf(modules, 'urlToIdModuleMap')
  if (!(byFile instanceof Map && byId instanceof Map && byUrl instanceof Map)) return
  const nodes: unknown = byFile.get(before)
  byFile.delete(before)
  for (const node of nodes instanceof Set ? nodes : []) {
    byId.delete(fieldOf(node, 'id'))
    byUrl.delete(fieldOf(node, 'url'))
  }
}

function fieldOf(value: unknown, name: string): unknown {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
    ? Reflect.get(value, name)
    : undefined
}
