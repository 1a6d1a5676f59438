import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HarvestError } from '../../src/errors/index.ts'
import { ledgerAgent, type LedgerAnswer, type LedgerInput } from '../../src/validation/harness/agent.ts'
import { openStage, plantRun, type PlantedRun, type Stage } from '../../src/validation/harness/stage.ts'
import { rightTotal } from '../../src/validation/harness/world.ts'
import { type ValidateBlameOptions, validateBlame } from '../../src/vitest/index.ts'

let stage: Stage
let passing: PlantedRun
beforeAll(async () => {
  stage = await openStage()
  passing = await plantRun(stage, 'F7.passing_run', 1, 9)
})
afterAll(() => stage.close())

/** What a user hands over: an agent, a run of it that went well, and what "well" means. */
function own(more: Partial<ValidateBlameOptions> = {}): ValidateBlameOptions {
  const agent = ledgerAgent(stage.sdk, passing.world)
  return {
    agent: (input) => agent(input as LedgerInput),
    tape: passing.tape,
    oracle: ({ value }) => (value === undefined ? undefined : totalOf(value) === rightTotal(passing.world)),
    runs: 2,
    ...more,
  }
}

describe('validateBlame', () => {
  it('finds what it planted in the answers of tools that run for real', { tags: 'thorough' }, async () => {
    const before = stage.server.callsOf(passing.world)
    const report = await validateBlame(own({ tools: 'live', plant: ['value-transposed', 'value-empty-list'] }))
    expect(report).toMatchObject({ right: 2, wrong: 0, abstained: 0 })
    expect(report.runs.map(({ fault, named }) => [fault.step, named])).toEqual(
      report.runs.map(({ fault }) => [fault.step, [fault.step]]),
    )
    // The planted runs and their forks asked the model, as often as the report says.
    expect(stage.server.callsOf(passing.world) - before).toBe(report.modelCalls)
    expect(report.modelCalls).toBeGreaterThan(10)
  })

  it('with tools from the tape it plants in what the model decides, and a run that broke off goes on', async () => {
    const report = await validateBlame(own({ plant: ['dropped_message'] }))
    expect(report).toMatchObject({ right: 2, wrong: 0 })
    const asked = report.runs.map(({ fault }) => passing.source.positions[fault.step - 1]?.isExogenous)
    expect(asked).toEqual([false, false])
  })

  it('an agent that blame says wrong things of is an error with the table, or a report for a test that looks itself', {
    tags: 'thorough',
  }, async () => {
    // Once it has been wrong it stays so, in every run after: no step of its runs can be what did it.
    const inner = ledgerAgent(stage.sdk, passing.world)
    let isSpoiled = false
    const agent = async (input: unknown): Promise<LedgerAnswer> => {
      const answer = await inner(input as LedgerInput)
      isSpoiled ||= answer.total !== rightTotal(passing.world)
      return isSpoiled ? { total: 0 } : answer
    }
    const options = own({ agent, runs: 1, tools: 'live', plant: ['value-empty-list'] })
    expect(await validateBlame({ ...options, problems: 'collect' })).toMatchObject({ right: 0, wrong: 1 })
    isSpoiled = false
    const error: unknown = await validateBlame(options).catch((thrown: unknown) => thrown)
    expect(HarvestError.is(error, 'HARVEST_VALIDATE_OWN_AGENT') && error.facts).toMatchObject({
      where: { right: '0 of 1 failed runs, at least 80 % expected', wrong: '1' },
      detail: expect.stringMatching(/^wrong +step \d+, .*a list is empty/),
    })
  })

  it('a run that no fault can harm is refused: nothing could be scored', async () => {
    const oracle: ValidateBlameOptions['oracle'] = () => true
    const error: unknown = await validateBlame(own({ oracle, runs: 1 })).catch((thrown: unknown) => thrown)
    expect(HarvestError.is(error) && error.message).toMatchInlineSnapshot(`
      "No injected fault makes this run fail

        tape      F7.passing_run-1
        faults    tracefork, values
        tools     tape
        harmless  4
        unjudged  0

      Blame is only scored on failed runs.
      → plant other faults: plant: ['http', 'values', 'tracefork']
      → if running the tools is safe, inject faults into them as well: tools: 'live'
      (HARVEST_VALIDATE_PLANT)"
    `)
  })

  it('faults are not planted in a run that failed by itself', async () => {
    const failed = await plantRun(stage, 'F0.corrupted_tool_output', 1, 9)
    const agent = ledgerAgent(stage.sdk, failed.world)
    const options = own({ tape: failed.tape, agent: (input) => agent(input as LedgerInput) })
    await expect(
      validateBlame({ ...options, oracle: ({ value }) => totalOf(value) === rightTotal(failed.world) }),
    ).rejects.toMatchObject({
      code: 'HARVEST_VALIDATE_PASSING',
    })
  })
})

function totalOf(value: unknown): number {
  return (value as LedgerAnswer).total
}
