import { beforeAll, expect, test } from 'vitest'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { isImporting } from '../../src/playback/importing.ts'
import { seamState } from '../../src/seam/source.ts'
import { Recording } from './tapes.ts'

beforeAll(() => installReplay())

test('an import under way is seen', async () => {
  expect(isImporting()).toBe(false)
  const importing = import('../../src/cli/parse.ts')
  await Promise.resolve()
  expect(isImporting()).toBe(true)
  await importing
  expect(isImporting()).toBe(false)
})

test('an answer that comes after the request of an imported module comes after it however long the import takes', async () => {
  const { setTimeout: realTimeout } = seamState().natives
  const { resolvingModules } = (globalThis as unknown as { __vitest_worker__: { resolvingModules: Set<string> } })
    .__vitest_worker__
  const ask = async (url: string): Promise<string> => (await fetch(`https://shop.test/${url}`)).text()
  const recording = new Recording()
  for (const name of ['a', 'b']) recording.exchange({ method: 'GET', url: `https://shop.test/${name}`, answer: name })
  recording.atOnce(2)
  const { outcome, comparison } = await replayTape(recording.tape(), async () => {
    // As Vitest does while it fetches a module from its main process, which takes ten times the patience of the gate.
    resolvingModules.add('slow')
    const slow = new Promise<void>((done) => realTimeout(done, 200)).then(() => resolvingModules.delete('slow'))
    return await Promise.all([ask('a'), slow.then(() => ask('b'))])
  })
  expect(outcome).toEqual({ status: 'returned', value: ['a', 'b'] })
  expect(comparison.relaxed).toBe(0)
})
