// Recorders of HTTP, as they are used: the agent asks no network, and its answer is the recorded one.
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { liveWorld } from '../world/live.ts'
import { type Outcome, outcomeOf } from '../world/run.ts'
import { startWorld, type WorldServer } from '../world/server.ts'
import type { Variant } from '../project.ts'
import { counted, freeze, load, sceneOf, variantsHere } from './trial.ts'

interface Recorder {
  open(mode: 'record' | 'replay', place: { dir: string; name: string }): Promise<{ close(): Promise<void> }>
}

const variants = variantsHere()

describe.each(['polly', 'nock'])('%s', (name) => {
  const endings = new Map<string, Outcome>()
  let server: WorldServer | undefined
  let recorder: Recorder

  beforeAll(async () => {
    recorder = (await import(/* @vite-ignore */ resolve(`bench/catch/columns/${name}.mjs`))) as Recorder
    server = await startWorld()
    process.env['GATEWAY'] = server.url
    for (const variant of variants.filter(({ edit }) => edit === undefined)) {
      server.enter(liveWorld(sceneOf(variant.agent).open(), { id: counted() }))
      endings.set(variant.agent, await session('record', variant))
    }
    await server[Symbol.asyncDispose]()
  }, 60_000)

  test.each(variants)('$id', async (variant) => {
    expect(await session('replay', variant)).toEqual(endings.get(variant.agent))
  })

  afterAll(() => server?.[Symbol.asyncDispose]())

  async function session(mode: 'record' | 'replay', variant: Variant): Promise<Outcome> {
    const recording = await recorder.open(mode, { dir: resolve('http', name), name: variant.agent })
    using _frozen = freeze()
    try {
      const agent = await load(variant)
      // The next session cannot begin before this one is closed, however long an SDK wants to try.
      const tooLong = sleep(3_000, { threw: 'tried for too long' })
      return await Promise.race([outcomeOf(agent, sceneOf(variant.agent).inputs[0]), tooLong])
    } finally {
      try {
        await recording.close()
      } finally {
        // What a variant did not wait for must not be asked of the next one's recording.
        await sleep(50)
      }
    }
  }
})
