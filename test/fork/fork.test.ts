import { afterAll, beforeAll, expect, test } from 'vitest'
import { forkTape } from '../../src/fork/index.ts'
import { openBudget } from '../../src/live/index.ts'
import { installReplay } from '../../src/replay/index.ts'
import { stepsOf } from '../../src/tape/index.ts'
import { agent, openWorld, type World } from './world.ts'

let world: World
beforeAll(async () => {
  await installReplay()
  world = await openWorld()
})
afterAll(() => world.close())

test('a fork with nothing changed and the tape behind it is its parent, wherever it is cut', async () => {
  const tape = await world.record(agent, { base: world.base, topic: 'a', turns: 3, width: 3, draws: true, pauseMs: 2 })
  const before = world.calls()
  for (let keep = 0; keep <= stepsOf(tape).length; keep++) {
    const fork = await forkTape(tape, agent, { keep, tail: { from: 'tape' } })
    expect(fork.problems.map(({ message }) => message)).toEqual([])
    expect(fork.branch.ownEvents, `${keep}`).toEqual([])
    expect(fork.branch.tape.events).toEqual(tape.events)
    expect(fork.branch.tape.close?.outcome).toEqual(tape.close?.outcome)
    expect(fork.prefix).toEqual({ steps: keep, isExact: true })
    expect(fork.isInert).toBe(true)
  }
  expect(world.calls()).toBe(before)
})

test('behind a changed answer, the run is another one, the same each time', async () => {
  // The model decides by chance, which one run in forty left without any tool call.
  const script = { base: world.base, topic: 'b', turns: 3, width: 3, draws: true, pauseMs: 2, first: 'look_up' }
  const tape = await world.record(agent, script)
  const steps = stepsOf(tape)
  const last = steps.findLastIndex(({ kind }) => kind === 'tool') + 1
  const plan = {
    keep: last,
    changes: [{ step: last, path: 'result.found', value: 99 }],
    tail: { from: 'script', answer: () => ({ body: { choices: [{ message: { content: '{"calls":[]}' } }] } }) },
  } as const
  const [first, second] = [await forkTape(tape, agent, plan), await forkTape(tape, agent, plan)]
  expect(first.problems).toEqual([])
  expect(JSON.stringify(first.outcome)).toContain('99')
  expect(second.branch.text).toBe(first.branch.text)
  expect(second.fingerprint).toBe(first.fingerprint)
  const other = await forkTape(tape, agent, { ...plan, seed: 'b' })
  expect(other.branch.text).not.toBe(first.branch.text)
})

test('a live tail asks the model for real and the tools from the tape', async () => {
  const tape = await world.record(agent, { base: world.base, topic: 'c', turns: 3, width: 3, draws: false, pauseMs: 2 })
  const before = world.calls()
  for (const keep of [0, 1, 3, stepsOf(tape).length]) {
    const fork = await forkTape(tape, agent, { keep, tail: { from: 'live', budget: openBudget({}) } })
    expect(fork.problems.map(({ message }) => message)).toEqual([])
    expect(fork.prefix.isExact).toBe(true)
    expect(fork.comparison.outcomeEqual).toBe(true)
    expect(fork.spent.modelCalls).toBe(
      stepsOf(tape)
        .slice(keep)
        .filter((step) => step.kind === 'exchange' && step.method === 'POST').length,
    )
  }
  expect(world.calls() - before).toBeGreaterThan(2)
})

test('a live tail does not go on with a conversation that the provider keeps: the tape answers for it', async () => {
  const assistant = async (input: unknown): Promise<unknown> => {
    const url = `${(input as { base: string }).base}/v1/threads/t/runs`
    const response = await fetch(url, { method: 'POST', body: JSON.stringify({ assistant_id: 'a' }) })
    return response.text()
  }
  const tape = await world.record(assistant, {
    base: world.base,
    topic: 'd',
    turns: 1,
    width: 1,
    draws: false,
    pauseMs: 0,
  })
  const before = world.calls()
  const fork = await forkTape(tape, assistant, { keep: 0, tail: { from: 'live', budget: openBudget({}) } })
  expect(fork.problems.map(({ message }) => message)).toEqual([])
  expect(fork.comparison.outcomeEqual).toBe(true)
  expect(world.calls()).toBe(before)
})
