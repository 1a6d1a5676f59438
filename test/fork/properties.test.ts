import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ForkAnswer, type ForkChange, type ForkPlan, forkTape } from '../../src/fork/index.ts'
import { installReplay } from '../../src/replay/index.ts'
import { type Step, stepsOf, type Tape } from '../../src/tape/index.ts'
import { agent, openWorld, type Script, type World } from './world.ts'

let world: World
beforeAll(async () => {
  await installReplay()
  world = await openWorld()
})
afterAll(() => world.close())

const scripts: fc.Arbitrary<Omit<Script, 'base'>> = fc.record({
  topic: fc.string({ minLength: 1, maxLength: 8 }),
  turns: fc.integer({ min: 1, max: 3 }),
  width: fc.integer({ min: 1, max: 4 }),
  draws: fc.boolean(),
  pauseMs: fc.integer({ min: 0, max: 2 }),
})
/** Where to cut a tape, as a part of its steps. */
const cuts = fc.double({ min: 0, max: 1, noNaN: true })

function record(script: Omit<Script, 'base'>): Promise<Tape> {
  return world.record(agent, { ...script, base: world.base })
}

/** Ends the conversation, whoever asks; tools and services say what nobody recorded. */
function answer(asked: Step, n: number): ForkAnswer {
  if (asked.kind !== 'exchange') return { result: { key: 'made up', found: n } }
  return asked.method === 'POST'
    ? { body: { choices: [{ message: { content: '{"calls":[]}' } }] } }
    : { body: { service: `made up ${n}` } }
}

function changeOf(step: Step, number: number): ForkChange {
  if (step.kind !== 'exchange') return { step: number, path: 'result.found', value: 77 }
  return step.method === 'POST'
    ? { step: number, decide: { say: '{"calls":[{"name":"service","key":"other"}]}' } }
    : { step: number, path: 'body.service', value: 'changed' }
}

test('for every agent and every cut, a fork with nothing changed is its parent', async () => {
  await fc.assert(
    fc.asyncProperty(scripts, fc.array(cuts, { minLength: 1, maxLength: 3 }), async (script, all) => {
      const tape = await record(script)
      for (const cut of all) {
        const keep = Math.round(cut * stepsOf(tape).length)
        const fork = await forkTape(tape, agent, { keep, tail: { from: 'tape' } })
        expect(fork.problems.map(({ message }) => message)).toEqual([])
        expect(JSON.stringify(fork.branch.tape.events)).toBe(JSON.stringify(tape.events))
        expect(fork.branch.tape.close).toEqual({ ...tape.close, events: 0 })
        expect(fork.isInert).toBe(true)
      }
    }),
    { numRuns: 12 },
  )
})

test('for every agent, cut and change, the run up to the cut is the recorded one, and the same fork is the same run', async () => {
  await fc.assert(
    fc.asyncProperty(scripts, cuts, async (script, cut) => {
      const tape = await record(script)
      const steps = stepsOf(tape)
      const keep = Math.max(1, Math.round(cut * steps.length))
      const changed = steps[keep - 1]!
      const plan: ForkPlan = { keep, changes: [changeOf(changed, keep)], tail: { from: 'script', answer } }
      const fork = await forkTape(tape, agent, plan)
      expect(fork.problems.map(({ message }) => message)).toEqual([])
      expect(fork.prefix).toEqual({ steps: keep, isExact: true })
      const before = (all: Tape): readonly unknown[] =>
        stepsOf(all)
          .slice(0, keep - 1)
          .map(asked)
      expect(before(fork.branch.tape)).toEqual(before(tape))
      // What was over when the changed step began is shared, line for line.
      const over = tape.events.filter((event) => endN(event) < changed.n && event.kind !== 'draws')
      expect(fork.branch.tape.events).toEqual(expect.arrayContaining(over))
      expect((await forkTape(tape, agent, plan)).branch.text).toBe(fork.branch.text)
    }),
    { numRuns: 12 },
  )
})

test('for every set of forks, each comes to the same at once with the others as alone', async () => {
  await fc.assert(
    fc.asyncProperty(
      scripts,
      fc.array(fc.tuple(cuts, fc.string({ maxLength: 3 })), { minLength: 2, maxLength: 5 }),
      async (script, all) => {
        const tape = await record(script)
        const steps = stepsOf(tape)
        const plans = all.map(([cut, seed]): ForkPlan => {
          const keep = Math.max(1, Math.round(cut * steps.length))
          return { keep, seed, changes: [changeOf(steps[keep - 1]!, keep)], tail: { from: 'script', answer } }
        })
        const alone: string[] = []
        for (const plan of plans) alone.push((await forkTape(tape, agent, plan)).branch.text)
        const together = await Promise.all(plans.map((plan) => forkTape(tape, agent, plan)))
        expect(together.map(({ branch }) => branch.text)).toEqual(alone)
      },
    ),
    { numRuns: 8 },
  )
})

function asked(step: Step): unknown {
  return step.kind === 'exchange' ? [step.method, step.url, step.request.body] : [step.name, step.args]
}

function endN(event: Tape['events'][number]): number {
  if (event.kind === 'exchange') return event.response?.end?.[0] ?? Number.POSITIVE_INFINITY
  return event.kind === 'tool' ? (event.settled?.[0] ?? Number.POSITIVE_INFINITY) : event.n
}
