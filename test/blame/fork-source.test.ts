import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { parseExpectation } from '../../src/blame/expectation.ts'
import { type ForkSourceOptions, forkSourceOf } from '../../src/blame/fork-source.ts'
import { blameFailedRun } from '../../src/blame/index.ts'
import { createOracle, isPassing } from '../../src/blame/oracle.ts'
import { openBudget } from '../../src/live/index.ts'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { startShopProvider } from '../../fixtures/refund/provider.ts'

type Agent = (input: unknown) => unknown

describe('forks of a run of the real SDK', () => {
  let provider: Awaited<ReturnType<typeof startShopProvider>>
  let dir = ''
  let agent: Agent
  let bad: Tape
  beforeAll(async () => {
    provider = await startShopProvider()
    vi.stubEnv('OPENAI_BASE_URL', provider.url)
    await installReplay()
    agent = (await import('../../fixtures/refund/refund-agent.ts')).refundAgent as Agent
    dir = mkdtempSync(join(tmpdir(), 'harvest-blame-'))
    bad = await record('Refund 25.00 EUR for order A-100.')
    expect(JSON.stringify(bad.close?.outcome)).toContain('I refunded 2500 EUR')
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    rmSync(dir, { recursive: true, force: true })
    await provider.close()
  })

  const thankful: Agent = (input) => agent({ text: `${(input as { text: string }).text} Thanks!` })

  async function record(text: string): Promise<Tape> {
    const recorder = createRecorder({ dir })
    await recorder.run({ agent: 'refund', input: { text } }, () => agent({ text }))
    return readTape(recorder.lastTape ?? '')
  }

  const oracle = (text: string) => createOracle({ by: 'expectations', ok: [parseExpectation(text, '--ok')], bad: [] })
  const sourceOf = (tape: Tape, more: Partial<ForkSourceOptions> = {}) =>
    forkSourceOf(tape, {
      load: async () => agent,
      oracle: oracle('refund(amount: 25)'),
      budget: openBudget({}),
      timeoutMs: 10_000,
      ...more,
    })
  const none = new AbortController().signal
  /** Replays before the first fork: the control, and the run that is graded. */
  const offline = 2

  test('an agent that draws a number of its own behind its last step may end well with every answer as recorded', async () => {
    const lucky: Agent = async (input) => ({ answer: await agent(input), isLucky: Math.random() < 0.5 })
    const recorder = createRecorder({ dir })
    const text = 'Refund 25.00 EUR for order A-100.'
    await recorder.run({ agent: 'refund', input: { text } }, () => lucky({ text }))
    const tape = readTape(recorder.lastTape ?? '')
    const source = await sourceOf(tape, { load: async () => lucky, oracle: oracle('isLucky=true') })
    expect(source.drawsLast).toBe(true)
    const keep = source.positions.length
    const draws = await Promise.all(Array.from({ length: 32 }, (_, seed) => source.draw({ keep, seed }, none)))
    expect(new Set(draws.map(({ grade }) => grade))).toEqual(new Set(['ok', 'bad']))
    expect(draws.every(({ modelCalls }) => modelCalls === 0)).toBe(true)
  })

  describe('a free run with every answer of the tape, and its own draws drawn anew', () => {
    const recordOf = async (drawing: Agent): Promise<Tape> => {
      const recorder = createRecorder({ dir })
      const input = { text: 'Refund 25.00 EUR for order A-100.' }
      await recorder.run({ agent: 'refund', input }, () => drawing(input))
      const tape = readTape(recorder.lastTape ?? '')
      return JSON.stringify(tape.close?.outcome).includes('"isLucky":true') ? recordOf(drawing) : tape
    }
    const codeAlone = async (drawing: Agent, ok: string, tape?: Tape) => {
      const source = await sourceOf(tape ?? (await recordOf(drawing)), {
        load: async () => drawing,
        oracle: oracle(ok),
      })
      const at = (position: number) =>
        Promise.all(Array.from({ length: 32 }, (_, seed) => source.drawAgain(position, `${seed}`)))
      return { source, at }
    }

    test('of a number drawn before its first question ends well too, and behind that question it does not', async () => {
      const { at } = await codeAlone(async (input) => {
        const isLucky = Math.random() < 0.5
        return { answer: await agent(input), isLucky }
      }, 'isLucky=true')
      expect(new Set(await at(0))).toEqual(new Set(['ok', 'bad']))
      expect(new Set(await at(1))).toEqual(new Set(['bad']))
    })

    test('of what the clock says below a millisecond ends well too', async () => {
      const { at } = await codeAlone(async (input) => {
        const isLucky = Math.floor(performance.now() * 1_000) % 2 === 1
        return { answer: await agent(input), isLucky }
      }, 'isLucky=true')
      expect(new Set(await at(0))).toEqual(new Set(['ok', 'bad']))
    })

    test('of an agent that draws nothing is the recorded run at each position', { tags: 'thorough' }, async () => {
      const { source, at } = await codeAlone(agent, 'refund(amount: 25)', bad)
      for (const position of source.positions.keys()) expect(new Set(await at(position))).toEqual(new Set(['bad']))
    })

    test('that is the recorded run, and has another grade, tells that the oracle disagrees with itself', async () => {
      let asked = 0
      const nth = createOracle({ by: 'function', name: 'nth', judge: () => ++asked % 3 === 0 })
      const again = async (more: Partial<ForkSourceOptions>) => {
        const source = await sourceOf(bad, { oracle: nth, ...more })
        for (let seed = 0; seed < 3; seed++) await source.drawAgain(0, `${seed}`)
      }
      await expect(again({})).rejects.toMatchObject({ code: 'HARVEST_ORACLE_FLAKY' })
      await expect(again({ isFlakyOracle: true })).resolves.toBeUndefined()
    })

    test('of a number that stands in its first question says nothing of that question, and is no doubt of a later one', async () => {
      const ticketed: Agent = (input) =>
        agent({ text: `${(input as { text: string }).text} Ticket ${Math.floor(Math.random() * 1e6)}.` })
      const { at } = await codeAlone(ticketed, 'refund(amount: 7)')
      expect(new Set(await at(0))).toEqual(new Set(['unknown']))
      expect(new Set(await at(1))).toEqual(new Set(['bad']))
    })
  })

  test('the recorded run is graded from its replay, and costs what its own tail asks', async () => {
    const source = await sourceOf(bad)
    expect(source.graded).toEqual({ grade: 'bad' })
    const calls = source.positions.map((_, keep) => source.expect({ keep, seed: 0 }).modelCalls)
    expect(calls).toEqual([3, 2, 2, 1, 1])
    const costs = source.positions.map((_, keep) => source.expect({ keep, seed: 0 }).costUsd ?? 0)
    expect(costs[0]).toBeGreaterThan(costs[1] ?? 0)
    expect(costs[1]).toBe(costs[2])
  })

  test('the decision that was wrong is blamed, its tools answered from the tape', async () => {
    const source = await sourceOf(bad)
    const { verdict } = await blameFailedRun(source, { limits: { forks: 200 } })
    expect(verdict).toMatchObject({ kind: 'confirmed', commitments: [{ position: 2, how: 'certified' }] })
    expect(source.positions[2]?.label).toContain('refund(amount: 2500')
  })

  test('a stream whose end nobody waited for is counted with what was heard of it', async () => {
    const last = await (await sourceOf(bad)).draw({ keep: 4, seed: 0 }, none)
    expect(last).toMatchObject({ grade: 'bad', modelCalls: 1, models: ['gpt-5'] })
    expect(last.tokens).toBeGreaterThan(100)
  })

  test('an agent that has no key throws before its first kept step: nobody can say, and it is not kept', async () => {
    let runs = 0
    const keyless: Agent = (input) => {
      if (runs++ < offline) return agent(input)
      throw new TypeError('no key')
    }
    const source = await sourceOf(bad, { load: async () => keyless })
    for (const keep of [0, 2]) {
      const { grade, because } = await source.draw({ keep, seed: 0 }, none)
      expect({ grade, because }).toEqual({
        grade: 'ungraded',
        because: 'The agent threw before it asked anything: TypeError: no key',
      })
      expect(isPassing(because)).toBe(true)
    }
  })

  test('an agent that answers without its model, which cannot be asked, is not bad for that', async () => {
    let runs = 0
    const answers: Agent = async (input) => {
      const isFork = runs++ >= offline
      if (isFork) provider.refuses = 401
      try {
        return await agent(input)
      } catch (error) {
        if (!isFork) throw error
        return { answer: 'Sorry.' }
      } finally {
        provider.refuses = undefined
      }
    }
    const source = await sourceOf(bad, { load: async () => answers, oracle: oracle('answer~25 EUR') })
    expect(await source.draw({ keep: 2, seed: 0 }, none)).toMatchObject({
      grade: 'ungraded',
      because: 'A model answered with status 401',
    })
  })

  test('an agent that asks something else first diverges from its tape: it did not throw before it asked', async () => {
    let runs = 0
    const other: Agent = (input) => agent(runs++ < offline ? input : 'Refund another order.')
    const source = await sourceOf(bad, { load: async () => other })
    const { grade, because } = await source.draw({ keep: 2, seed: 0 }, none)
    expect({ grade, because }).toEqual({
      grade: 'undefined',
      because: expect.stringContaining('HARVEST_FORK_PREFIX') as string,
    })
  })

  test('a donor answers what this tape cannot, so that runs come to their end', async () => {
    const reference = await record('Refund order A-100, please.')
    const source = await sourceOf(bad, { reference, oracle: oracle('answer~25 EUR') })
    const draws = await Promise.all([0, 1].map((seed) => source.draw({ keep: 2, seed }, none)))
    expect(draws).toMatchObject([{ grade: 'ok', modelCalls: 2 }, { grade: 'ok' }])
    const alone = await sourceOf(bad, { oracle: oracle('answer~25 EUR') })
    expect(await alone.draw({ keep: 2, seed: 0 }, none)).toMatchObject({
      grade: 'ungraded',
      because: expect.stringContaining('HARVEST_NOT_RECORDED') as string,
    })
  })

  test('code that asks its model something else has no forks', async () => {
    await expect(sourceOf(bad, { load: async () => thankful })).rejects.toMatchObject({ code: 'HARVEST_CONTROL' })
  })

  test('code that asks something else and was accepted has forks, that keep what it asks', async () => {
    const accepted = (run: { readonly drift: readonly { readonly key: string }[] }) =>
      new Map(run.drift.map(({ key }) => [key, 'all'] as const))
    const source = await sourceOf(bad, { load: async () => thankful, control: { accepted } })
    expect(source.control.differs).toMatchObject({ step: 1 })
    expect(await source.draw({ keep: 4, seed: 0 }, none)).toMatchObject({ grade: 'bad', modelCalls: 1 })
  })

  test('code that ends otherwise is graded by how it ends, and so are its forks', async () => {
    const polite: Agent = async (input) => ({ ...((await agent(input)) as object), closing: 'Kind regards' })
    const source = await sourceOf(bad, { load: async () => polite, oracle: oracle('closing~regards') })
    expect(source).toMatchObject({ graded: { grade: 'ok' }, recorded: 'ok', control: { differs: { step: 6 } } })
    expect(await source.draw({ keep: 5, seed: 0 }, none)).toMatchObject({ grade: 'ok', isInert: true })
  })

  test('code that asks another thing in every run has no forks', async () => {
    let runs = 0
    const restless: Agent = (input) => agent({ text: `${(input as { text: string }).text} ${runs++ || ''}`.trim() })
    await expect(sourceOf(bad, { load: async () => restless })).rejects.toMatchObject({
      code: 'HARVEST_BLAME_PREFLIGHT',
    })
  })
})
