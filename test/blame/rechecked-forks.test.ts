import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { parseExpectation } from '../../src/blame/expectation.ts'
import { runBlame, type RunBlameOptions } from '../../src/blame/run-blame.ts'
import { installReplay } from '../../src/replay/index.ts'
import type { Tape } from '../../src/tape/index.ts'
import { deskAgent, openRefunds, type Refunds, refunds } from './desk-agent.ts'

describe('forks of an earlier session', () => {
  let desk: Refunds
  let bad: Tape
  beforeAll(async () => {
    await installReplay()
    desk = await openRefunds()
    bad = await desk.record(refunds(2500))
  })
  afterAll(() => desk.close())

  /** What the code finds where no watch sees it. */
  let mode = 'a'
  type Answer = Awaited<ReturnType<typeof deskAgent>>
  const session = (work: (answer: Answer) => Answer, folder?: string, more: Partial<RunBlameOptions> = {}) => {
    const dir = folder ?? mkdtempSync(join(tmpdir(), 'harvest-rechecked-'))
    if (folder === undefined) onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
    let turn = 0
    const said = { setAside: 0, unchecked: 0, rechecked: 0 }
    const run = async () => {
      const asked = desk.desk.asked.length
      desk.desk.decide = (messages) => refunds(turn++ % 3 === 0 ? 2500 : 25)(messages)
      const blamed = await runBlame(bad, {
        agent: 'desk',
        load: async () => async (input: unknown) => work(await deskAgent(input)),
        judging: { by: 'expectations', ok: [parseExpectation('answer="I refunded 25 EUR."', '--ok')], bad: [] },
        timeoutMs: 10_000,
        limits: { forks: 60 },
        parallel: 1,
        cacheFile: join(dir, '.forks/blame.jsonl'),
        ran: { code: 'code' },
        surroundings: {
          reads: () => ({ salt: '', set: [], unset: [], values: '', files: {} }),
          changedSince: () => [],
        },
        onSetAside: (setAside, unchecked) => Object.assign(said, { setAside, unchecked }),
        onRecheck: (rechecked) => Object.assign(said, { rechecked }),
        ...more,
      })
      return { ...blamed, ...said, calls: desk.desk.asked.length - asked }
    }
    return { dir, run }
  }

  it('count without a call where the code still does what it did', async () => {
    mode = 'a'
    const first = session((answer) => answer)
    const { spent, verdict } = await first.run()
    console.log(JSON.stringify([spent, verdict]))
    const again = await session((answer) => answer, first.dir).run()
    console.log(JSON.stringify([again.spent, again.reused, again.verdict, again.setAside, again.unchecked, again.rechecked, again.calls]))
  })
  it('x', async () => {
    mode = 'a'
    const work = (answer: Answer) => (mode === 'b' ? { answer: 'I refunded 2500 EUR.' } : answer)
    const first = session(work)
    await first.run()
    mode = 'b'
    const again = await session(work, first.dir).run().catch((e) => e.message)
    console.log(again)
    const over = await session(work, first.dir, { isCrossVersion: true }).run()
    console.log(JSON.stringify([over.spent, over.reused, over.verdict, over.setAside, over.unchecked, over.rechecked, over.calls]))
  })
})
