import { AsyncLocalStorage } from 'node:async_hooks'
import crypto from 'node:crypto'
import { expect, it } from 'vitest'
import { forgetReadings, installProbe, probing, readings, type Variation } from '../../src/doctor/probe/index.ts'

const context = new AsyncLocalStorage<string>()

/** Two pieces of work on Node's own threads, the long one first; each notes its end and the context it ends in. */
async function work(): Promise<readonly string[]> {
  const ended: string[] = []
  const hash = (name: string, cost: number): Promise<void> =>
    context.run(name, async () => {
      await new Promise<void>((resolve) => {
        crypto.scrypt('invented', 'salt', 32, { N: cost }, () => {
          ended.push(`${name} in ${context.getStore()}`)
          resolve()
        })
      })
    })
  await Promise.all([hash('long', 2 ** 14), hash('short', 2)])
  return ended
}

async function under(mode: 'watch' | 'serve', variations: readonly Variation[] = []): Promise<readonly string[]> {
  let ended: readonly string[] = []
  await probing(mode, variations, async () => {
    ended = await work()
  })
  return ended
}

it('work on threads is handed over in the order it was started, each piece in its own context, and the other way round where that is asked for', async () => {
  installProbe()
  forgetReadings()
  const asStarted = ['long in long', 'short in short']
  expect(await under('watch')).toEqual(asStarted)
  expect(await under('serve')).toEqual(asStarted)
  const [reading] = readings().filter(({ kind }) => kind === 'order of completion')
  const [way] = reading?.ways ?? []
  if (reading === undefined || way === undefined) throw new TypeError('the probe heard nothing')
  expect(await under('serve', [{ key: reading.key, way }])).toEqual([...asStarted].reverse())
})
