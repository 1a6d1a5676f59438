import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { beforeAll, describe, expect, test } from 'vitest'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay, type ReplayResult, replayTape, verdictOf } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { served } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const dir = temporaryFolder('own-error')
const base = served(createServer((asked, response) => void asked.resume().on('end', () => response.end('{"id":1}'))))
const child = join(dir, 'child.mjs')

beforeAll(async () => {
  writeFileSync(child, `process.stdin.on('data', () => console.log('{"done":true}'))`)
  await installReplay()
})

let count = 0
async function record(agent: () => Promise<unknown>): Promise<Tape> {
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'desk', id: `run-${++count}` }, agent)
  recorder.flush()
  return readTape(join(dir, `run-${count}.tape.jsonl`))
}

const ask = async (path: string, method = 'POST'): Promise<unknown> =>
  (await fetch(`${base()}/${path}`, { method })).json()

/** The first difference, with the codes of all. */
function told(run: ReplayResult): readonly [string, readonly string[]] {
  const { differences } = verdictOf(run)
  return [differences[0]?.message ?? '', differences.map(({ code }) => code)]
}

type Way = 'goes on' | 'throws'

/** Locks, refunds and releases again. */
const locking =
  (way: Way, isMade = true) =>
  async (): Promise<unknown> => {
    await ask('lock')
    try {
      await ask('order', 'GET')
      if (way === 'throws') throw new TypeError('no order')
      if (isMade) await ask('policy', 'GET')
      return isMade ? await ask('refund') : { id: 1 }
    } finally {
      await ask('release')
    }
  }

describe('an agent that throws where it returned, and does a step in finally', () => {
  test('is told by its own error, the line of it and what it left out', async () => {
    const tape = await record(locking('goes on'))
    const [message, codes] = told(await replayTape(tape, locking('throws')))
    expect(codes).toEqual(['HARVEST_OUTCOME_KIND', 'HARVEST_UNUSED'])
    expect(message.replace(/:\d+:\d+$/m, ':1:1').replaceAll(/127\.0\.0\.1:\d+/g, 'host')).toBe(
      `The agent threw TypeError: no order, but returned when recorded

  tape      run-${count}
  at        test/replay/own-error.test.ts:1:1
  recorded  returned
  now       threw TypeError: no order
  left out  step 3, GET host/policy, and 1 more

→ to see the recorded run: npx vitest-harvest show run-${count}
(HARVEST_OUTCOME_KIND)`,
    )
  })

  test('is told so as well where the step ends the input of a child', async () => {
    const agent = (way: Way) => async (): Promise<unknown> => {
      const started = spawn(process.execPath, [child], { stdio: ['pipe', 'pipe', 'inherit'] })
      const exit = once(started, 'exit')
      const lines = createInterface({ input: started.stdout })[Symbol.asyncIterator]()
      const say = async (id: number): Promise<unknown> => {
        started.stdin.write(`{"id":${id}}\n`)
        return lines.next()
      }
      try {
        await say(1)
        if (way === 'throws') throw new Error('no plan')
        return await say(2)
      } finally {
        started.stdin.end()
        await exit
      }
    }
    const tape = await record(agent('goes on'))
    expect((await replayTape(tape, agent('goes on'))).problems).toEqual([])
    const [message, codes] = told(await replayTape(tape, agent('throws')))
    expect(codes).toEqual(['HARVEST_OUTCOME_KIND', 'HARVEST_UNUSED'])
    expect(message).toMatch(
      /^The agent threw Error: no plan, but .*\n[^]*\bleft out +step 2, SEND on stdio:node child\.mjs\n/,
    )
  })

  test('that throws for what the replay refused is told by that', async () => {
    const tape = await record(locking('goes on'))
    const [message] = told(
      await replayTape(tape, async () => {
        await ask('lock')
        try {
          await ask('order', 'GET')
          await ask('another').catch(() => {
            throw new Error('no refund')
          })
        } finally {
          await ask('release')
        }
      }),
    )
    expect(message).toMatch(/^The agent (skipped|called) /)
    expect(message).toContain('/another')
  })
})

test('an agent that leaves out several steps and returns is told by the first of them, also if that only reads', async () => {
  const agent = (isWhole: boolean) => async (): Promise<unknown> => {
    await ask('lock')
    if (isWhole) await ask('policy', 'GET')
    if (isWhole) await ask('refund')
    return ask('order', 'GET')
  }
  const tape = await record(agent(true))
  expect((await replayTape(tape, agent(true))).problems).toEqual([])
  const [message, codes] = told(await replayTape(tape, agent(false)))
  expect(codes).toEqual(['HARVEST_ORDER'])
  expect(message).toMatch(/^The agent skipped step 2, GET /)
})
