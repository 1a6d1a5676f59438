import { join } from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openLiveGrading } from '../../src/blame/live-grading.ts'
import { createOracle, type OracleFunction } from '../../src/blame/oracle.ts'
import { gradeAsk } from '../../src/blame/prove-judge.ts'
import { parseCase } from '../../src/cases/index.ts'
import { openBudget, runLive } from '../../src/live/index.ts'
import type { ReplayResult } from '../../src/match/types.ts'
import { installReplay } from '../../src/replay/index.ts'
import type { Tape } from '../../src/tape/index.ts'
import { deskAgent, openRefunds, refunds, type Refunds } from './desk-agent.ts'

describe('an oracle that asks a model, while another run is under way', () => {
  let world: Refunds
  let tape: Tape
  const kase = 'case: refund\nagent: desk\ntape: a.tape.jsonl\nexpect: pass\npins: {}\n'

  beforeAll(async () => {
    await installReplay()
    world = await openRefunds()
    tape = await world.record(refunds(25))
    world.desk.decide = (messages) =>
      JSON.stringify(messages[0]?.content).includes('Is it right?') ? 'yes' : refunds(25)(messages)
  })
  afterAll(() => world.close())

  const question = (value: unknown) => ({
    model: 'gpt-4o',
    messages: [{ role: 'user' as const, content: `Is it right? ${JSON.stringify(value)}` }],
  })
  const clients: readonly (readonly [client: string, judge: OracleFunction])[] = [
    [
      'the SDK of OpenAI',
      async ({ value }) => {
        const client = new OpenAI({ baseURL: `${world.desk.url}/v1`, apiKey: 'k', maxRetries: 0 })
        const { choices } = await client.chat.completions.create(question(value))
        return choices[0]?.message.content === 'yes'
      },
    ],
    [
      'a plain fetch on a connection of its own',
      async ({ value }) => {
        const response = await fetch(`${world.desk.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { connection: 'close' },
          body: JSON.stringify(question(value)),
        })
        return (await response.text()).includes('yes')
      },
    ],
  ]

  /** Does something while a live run of the agent has begun and not ended. */
  async function beside<T>(work: () => Promise<T>): Promise<{ readonly came: T; readonly run: ReplayResult }> {
    const began = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const agent = async (input: unknown) => {
      began.resolve()
      await goOn.promise
      return deskAgent(input)
    }
    const running = runLive(tape, agent, { signal: new AbortController().signal, budget: openBudget({}) })
    await began.promise
    try {
      return { came: await work(), run: await (goOn.resolve(), running) }
    } finally {
      goOn.resolve()
    }
  }

  async function ended(): Promise<ReplayResult> {
    return runLive(tape, deskAgent, { signal: new AbortController().signal, budget: openBudget({}) })
  }

  test.each(clients)('grades a run of rerun by %s, and the other run ends as if alone', async (_, judge) => {
    const grading = await openLiveGrading(
      {
        isGraded: true,
        ok: [],
        bad: [],
        oracle: { file: join(world.dir, 'oracle.ts'), export: 'judge', name: './oracle.ts#judge' },
        tools: 'tape',
      },
      { tape, importModule: async () => ({ judge }), budget: openBudget({}), prices: {} },
    )
    const one = await ended()
    const { came, run } = await beside(() => grading.grade(one))
    expect(came).toMatchObject({ grade: 'ok', used: { calls: 1, tokens: 120 } })
    expect({ problems: run.problems, outcome: run.outcome.status }).toEqual({ problems: [], outcome: 'returned' })
  })

  test.each(clients)('judges an ask of a proof by %s, and the other ask ends as if alone', async (_, judge) => {
    const oracle = createOracle({ by: 'function', name: 'judge', judge })
    const fork = { problems: [], outcome: { status: 'returned', value: { answer: 'I refunded 25 EUR.' } } } as never
    const { events } = await ended()
    const of = { tape, case: parseCase(kase, 'refund.case.yaml'), match: {}, keep: 0, events, oracle }
    const { came, run } = await beside(() => gradeAsk(fork, { events, problems: [] }, of))
    expect(came).toMatchObject({ grade: 'good' })
    expect({ problems: run.problems, outcome: run.outcome.status }).toEqual({ problems: [], outcome: 'returned' })
  })
})
