// For files that share a worker and record or replay: both patch the process for good. Here that is done before each file,
// so that every file finds the same process whichever ran before, and one that leaves it changed is red itself.
import { afterAll, vi } from 'vitest'
import { installReplay } from '../../src/replay/index.ts'

await installReplay()
const found = state()

// Hooks that are registered first run last: those of the file have put back by then what it changed.
afterAll(() => {
  const left = state()
  const changed = [...found].filter(([name, value]) => !Object.is(left.get(name), value)).map(([name]) => name)
  const added = Object.keys(process.env).filter((name) => !found.has(`process.env.${name}`))
  const names = [...changed, ...added.map((name) => `process.env.${name}`)]
  if (names.length > 0) throw new Error(`this file left the process changed: ${names.join(', ')}`)
})

function state(): ReadonlyMap<string, unknown> {
  const globals = Object.entries(Object.getOwnPropertyDescriptors(globalThis))
  return new Map<string, unknown>([
    ...Object.entries(process.env).map(([name, value]) => [`process.env.${name}`, value] as const),
    ...globals
      .filter(([name]) => !name.startsWith('__'))
      .map(([name, { value, get }]) => [name, (value as unknown) ?? get] as const),
    ['process.cwd()', process.cwd()],
    ['fake timers', vi.isFakeTimers()],
  ])
}
