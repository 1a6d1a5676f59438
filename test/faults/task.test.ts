import { resolve } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chaosTask, type ChaosTaskOptions } from '../../src/faults/chaos-task.ts'
import type { ChaosReport, Fault } from '../../src/faults/index.ts'
import { openBudget } from '../../src/live/index.ts'
import { type TaskContext } from '../../src/jobs/index.ts'
import { tool } from '../../src/record/index.ts'
import type { Json, Tape } from '../../src/tape/index.ts'
import { tapeOf, toolCall } from './tapes.ts'

const pay = tool('pay', async (_order: { amount: number }) => 'paid')
const thank = tool('thank', async (_order: object) => 'sent')
const tape = tapeOf([toolCall(1, 'pay', { amount: 5 }, 'paid'), toolCall(10, 'thank', {}, 'sent')], 'done')

async function agent(): Promise<string> {
  await pay({ amount: 5 })
  try {
    await thank({})
  } catch {
    // Pays again, because the thanks failed.
    await pay({ amount: 5 })
  }
  return 'done'
}

const told: Json[] = []

/** Does the task as the process of the agents would. */
async function task(options: ChaosTaskOptions, exports: object = {}, usual = agent): Promise<ChaosReport> {
  const loaded: (string | undefined)[] = []
  const context: TaskContext = {
    tape,
    tapeFile: 'run.tape.jsonl',
    load(name) {
      loaded.push(name)
      return Promise.resolve(name === 'next' ? () => Promise.reject(new RangeError('a regression')) : usual)
    },
    importModule: (file) => Promise.resolve({ ...exports, file }),
    replay: {},
    accepted: () => new Map(),
    isGreen: () => false,
    difference: () => undefined,
    timeoutMs: 5_000,
    parallel: 1,
    budget: openBudget({}),
    limits: {},
    prices: {},
    signal: new AbortController().signal,
    surroundings: { reads: () => ({ salt: '', set: [], unset: [], values: '', files: {} }), changedSince: () => [] },
    saySpent: () => undefined,
    say: (progress) => told.push(progress),
  }
  const report = (await chaosTask(options as unknown as Json, context)) as unknown as ChaosReport
  // Every run has an agent of its own, the last two replays without faults too; those that are named are looked for before.
  expect(loaded).toHaveLength(report.runs + 2 + (options.variants ?? []).length)
  return report
}

const failed: Fault = { step: 2, kind: 'tool-error', args: {} }

describe('the task chaos', () => {
  it('answers with the report, and says on the way how far it is', async () => {
    const report = await task({ faults: ['tools'], seed: 1, fail: ['trace'] })
    expect(report).toMatchObject({ survived: false, failure: { class: 'trace', isMinimal: true } })
    // Behind the search it is run again, five times with the fault and five times without it.
    expect(told.at(-1)).toMatchObject({ runs: report.runs - 10, failing: 1, known: { failure: report.failure } })
    // Data, to be written to a file.
    expect(JSON.parse(JSON.stringify(report))).toEqual(report)
  })

  it('calls no agent weak for what its earlier runs left behind', async () => {
    const shared = globalThis as { paidFor?: number }
    const tiring = async (): Promise<string> => {
      shared.paidFor = (shared.paidFor ?? 0) + 1
      return shared.paidFor > 4 ? 'enough' : agent()
    }
    const asked = task({ faults: ['tools'], seed: 1, fail: ['outcome'] }, {}, tiring)
    await expect(asked).rejects.toMatchObject({
      code: 'HARVEST_CONTROL',
      facts: { where: { 'kept in': 'globalThis.paidFor' } },
    })
    delete shared.paidFor
  })

  it('draws with an arbitrary of the project, or with a function of the tape that makes one', async () => {
    const arbitrary = { file: resolve('faults.ts'), export: 'mine' }
    for (const mine of [
      fc.constant([failed]),
      (given: Tape) => fc.constant([{ ...failed, step: given.events.length }]),
    ])
      expect((await task({ faults: [], arbitrary }, { mine })).failure?.schedule).toEqual([failed])
    await expect(task({ faults: [], arbitrary }, { mine: 1 })).rejects.toMatchObject({
      code: 'HARVEST_CHAOS_ARBITRARY',
      facts: { where: { file: 'faults.ts', export: 'mine', known: 'file, mine' } },
    })
  })

  it('runs other agents of the config', async () => {
    const { failure } = await task({ faults: ['regression'], variants: ['next'] })
    expect(failure).toMatchObject({ class: 'crash', said: expect.stringContaining('a regression') as string })
  })

  it('shrinks the schedule of an incident', async () => {
    const incident: Fault[] = [
      { step: 1, kind: 'tool-slow', args: { ms: 900 } },
      { step: 2, kind: 'tool-slow', args: { ms: 900 } },
      failed,
    ]
    const { failure } = await task({ faults: ['tools'], examples: [incident], runs: 1 })
    expect(failure).toMatchObject({ drawn: 3, isMinimal: true, schedule: [failed] })
  })

  it('takes a schedule that cannot happen to the run for a mistake', async () => {
    const elsewhere = { ...failed, step: 7 }
    await expect(task({ faults: ['tools'], examples: [[elsewhere]] })).rejects.toMatchObject({
      code: 'HARVEST_FAULT_STEP',
    })
  })
})
