import { join } from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { parseExpectation } from '../../src/blame/expectation.ts'
import { keptForks } from '../../src/blame/fork-cache.ts'
import { runBlame, type RunBlameOptions } from '../../src/blame/run-blame.ts'
import { requireNoKeptState, runAlone } from '../../src/fork/index.ts'
import { replayOnce } from '../../src/fork/kept-run.ts'
import { isolateRun } from '../../src/isolate/index.ts'
import { installReplay } from '../../src/replay/index.ts'
import type { Tape } from '../../src/tape/index.ts'
import { deskAgent, openRefunds, type Refunds, refunds } from './desk-agent.ts'

/** As a project's own class: nobody sees its field from outside. */
class Memory {
  #runs = 0
  another(): number {
    return ++this.#runs
  }
}

const shared = globalThis as { [key: PropertyKey]: unknown }
const builtIn = Array.prototype as unknown as { runs?: number }
let inClosure = 0
let recorded = 0

/** Counts a run where all runs of a process meet. */
const countedIn: Readonly<Record<string, () => number>> = {
  'globalThis.deskRuns': () => Number((shared['deskRuns'] = Number(shared['deskRuns'] ?? 0) + 1)),
  'globalThis.deskLog': () => ((shared['deskLog'] ??= { runs: [] }) as { runs: number[] }).runs.push(0),
  'globalThis[Symbol(desk.memory)]': () => ((shared[Symbol.for('desk.memory')] ??= new Memory()) as Memory).another(),
  'Array.prototype.runs': () => {
    const runs = (builtIn.runs ?? 0) + 1
    Object.defineProperty(builtIn, 'runs', { value: runs, configurable: true, enumerable: false })
    return runs
  },
  'process.env.DESK_RUNS': () => Number((process.env['DESK_RUNS'] = `${Number(process.env['DESK_RUNS'] ?? 0) + 1}`)),
}

function forgetAll(): void {
  for (const name of ['deskRuns', 'deskLog', 'deskAnswers', 'deskClient', Symbol.for('desk.memory')])
    delete shared[name]
  delete builtIn.runs
  delete process.env['DESK_RUNS']
  inClosure = 0
}

describe('an agent that keeps state between the runs of one process', () => {
  let desk: Refunds
  let bad: Tape
  beforeAll(async () => {
    await installReplay()
    desk = await openRefunds()
    bad = await desk.record(refunds(2500))
    recorded = desk.desk.asked.length
  })
  beforeEach(() => {
    forgetAll()
    desk.desk.decide = refunds(2500)
  })
  afterAll(async () => {
    forgetAll()
    await desk.close()
  })

  /** Refunds too much at first, and from its fourth run on what is right, whatever its models say. */
  const learning =
    (count: () => number) =>
    async (input: unknown): Promise<unknown> =>
      count() > 3 ? deskAgent(input).then(() => ({ answer: 'I refunded 25 EUR.' })) : deskAgent(input)
  const asking = (agent: (input: unknown) => Promise<unknown>): RunBlameOptions => ({
    agent: 'desk',
    load: async () => agent,
    judging: { by: 'expectations', ok: [parseExpectation('answer="I refunded 25 EUR."', '--ok')], bad: [] },
    timeoutMs: 10_000,
    limits: { forks: 60 },
  })

  describe.each(Object.keys(countedIn))('%s', (name) => {
    it.each([
      ['blame', runBlame],
      ['isolate', isolateRun],
    ])('is told by %s before anything is spent', async (_, ask) => {
      await expect(ask(bad, asking(learning(countedIn[name]!)))).rejects.toMatchObject({
        code: 'HARVEST_CONTROL',
        facts: { where: { 'kept in': name } },
      })
      expect(desk.desk.asked).toHaveLength(recorded)
    })
  })

  describe.each(['globalThis.deskRuns', 'process.env.DESK_RUNS'])('%s, on the list of what is let through', (name) => {
    const letThrough = { control: { replay: { allow: [`state ${name}`] } } }

    it('is no matter where it changes nothing that a run does', async () => {
      const counting = async (input: unknown): Promise<unknown> => {
        countedIn[name]!()
        return deskAgent(input)
      }
      const { verdict } = await runBlame(bad, { ...asking(counting), ...letThrough })
      expect(verdict).toMatchObject({ kind: 'never' })
    })

    it('is found all the same where the unchanged run does something else for it', async () => {
      await expect(runBlame(bad, { ...asking(learning(countedIn[name]!)), ...letThrough })).rejects.toMatchObject({
        code: 'HARVEST_CONTROL',
        facts: { detail: 'Replayed again, the unchanged run does something else.' },
      })
    })
  })

  it('says what lets it through, and another name does not', async () => {
    const other = { control: { replay: { allow: ['state globalThis.others'] } } }
    await expect(
      runBlame(bad, { ...asking(learning(countedIn['globalThis.deskRuns']!)), ...other }),
    ).rejects.toMatchObject({
      facts: {
        fix: expect.arrayContaining([expect.stringContaining("allow: ['state globalThis.deskRuns']")]) as string[],
      },
    })
  })

  it('is found by the unchanged run, replayed once more behind the forks, where nobody sees what is kept', async () => {
    await expect(runBlame(bad, asking(learning(() => ++inClosure)))).rejects.toMatchObject({
      code: 'HARVEST_CONTROL',
      facts: {
        where: { spent: expect.stringContaining(' forks, ') as string },
        detail: 'Replayed again, the unchanged run does something else.',
      },
    })
  })

  it('is found behind forks that alone leave something, and these forks count in no later session', async () => {
    const cacheFile = join(desk.dir, 'forks.jsonl')
    const remembers = async (input: unknown): Promise<unknown> => {
      const ended = await deskAgent(input)
      if (ended.answer.startsWith('Paid')) shared['deskAnswers'] = ended.answer
      return shared['deskAnswers'] === undefined ? ended : { answer: shared['deskAnswers'] }
    }
    const says = refunds(2500)
    desk.desk.decide = (messages) => {
      const decided = says(messages)
      return typeof decided === 'string' ? 'Paid.' : decided
    }
    for (let session = 0; session < 2; session++) {
      forgetAll()
      await expect(runBlame(bad, { ...asking(remembers), cacheFile })).rejects.toMatchObject({
        code: 'HARVEST_CONTROL',
        facts: { where: { 'kept in': 'globalThis.deskAnswers' } },
      })
    }
    expect(keptForks(cacheFile).filter(({ spec }) => spec.keep === 0 && spec.seed === 0)).toHaveLength(2)
  })

  it('is found where it alternates, as rows of a file do, though one more run finds it as the control did', async () => {
    const replaying = {
      load: async () => async (input: unknown) => (inClosure++ % 2 === 0 ? deskAgent(input) : { answer: 'Later.' }),
    }
    const control = runAlone(await replayOnce(bad, replaying))
    // The fork.
    inClosure++
    await expect(requireNoKeptState(bad, control, replaying)).rejects.toMatchObject({ code: 'HARVEST_CONTROL' })
  })

  it('is not a run alone that met its time limit', async () => {
    const replaying = {
      load: async () => async (input: unknown) => (inClosure++ === 2 ? { answer: 'Late.' } : deskAgent(input)),
    }
    const control = runAlone(await replayOnce(bad, replaying))
    await requireNoKeptState(bad, control, replaying)
    expect(inClosure).toBe(5)
  })

  it('is not what a client of a package is that all runs share', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'a')
    const sharing = async (input: unknown): Promise<unknown> => {
      const client = (shared['deskClient'] ??= new OpenAI()) as { asked?: number }
      client.asked = (client.asked ?? 0) + 1
      return deskAgent(input)
    }
    const { verdict } = await runBlame(bad, asking(sharing))
    expect(verdict).toMatchObject({ kind: 'never' })
    vi.unstubAllEnvs()
  })
})
