import { join } from 'node:path'
import { expect, test } from 'vitest'
import { forkTask } from '../../src/fork/fork-task.ts'
import type { ForkTaskAnswer, TailRequest } from '../../src/fork/index.ts'
import type { TaskContext } from '../../src/jobs/index.ts'
import { openBudget } from '../../src/live/index.ts'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay } from '../../src/replay/index.ts'
import { type Json, readTape } from '../../src/tape/index.ts'
import { deskAgent, openRefunds, refunds } from '../blame/desk-agent.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const agent = (input: unknown): Promise<unknown> =>
  deskAgent(input, 'gpt-4o', undefined, { authorization: 'Bearer sk-one' })

test('headers that were not compared are told of kept forks that asked a live model, and of no others', {
  tags: 'thorough',
}, async () => {
  await installReplay()
  await using desk = {
    ...(await openRefunds()),
    async [Symbol.asyncDispose]() {
      await this.close()
    },
  }
  desk.desk.decide = refunds(25)
  const recorder = createRecorder({ dir: desk.dir })
  const input = { url: desk.desk.url, text: 'Refund A-100.' }
  await recorder.run({ agent: 'desk', input }, () => agent(input))
  const tape = readTape(recorder.lastTape ?? '')
  const context = {
    tape,
    tapeFile: tape.source,
    load: async () => agent,
    replay: {},
    accepted: () => new Map(),
    isGreen: () => false,
    difference: () => undefined,
    timeoutMs: 10_000,
    parallel: 1,
    budget: openBudget({}, {}),
    surroundings: { reads: () => ({}), changedSince: () => [] },
    signal: new AbortController().signal,
    say: () => {},
  } as unknown as TaskContext
  const folder = join(temporaryFolder('uncompared'), 'forks')
  const twice = async (tail: TailRequest): Promise<ForkTaskAnswer> => {
    const request = { keep: 2, tail, seed: '1' }
    const asked = { isFresh: false, together: 1, forks: [{ request, keptAs: { folder, key: tail.from } }] }
    await forkTask(asked as unknown as Json, context)
    return (await forkTask(asked as unknown as Json, context)) as unknown as ForkTaskAnswer
  }
  const live = await twice({ from: 'live', tools: 'tape' })
  expect(live).toMatchObject({ reused: [0], notCompared: { unkept: ['authorization'] } })
  const offline = await twice({ from: 'tape' })
  expect(offline.reused).toEqual([0])
  expect(offline).not.toHaveProperty('notCompared')
})
