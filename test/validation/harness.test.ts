import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HarvestError } from '../../src/errors/index.ts'
import { families, type FamilyName } from '../../src/faults/families.ts'
import { agreementOf } from '../../src/validation/harness/agreement.ts'
import { cellOf, familiesOf, runOrders } from '../../src/validation/harness/cells.ts'
import { measureRun } from '../../src/validation/harness/measure.ts'
import { worldOf } from '../../src/validation/harness/plants.ts'
import { loadSdk } from '../../src/validation/harness/sdk.ts'
import { openStage, plantRun, type Stage } from '../../src/validation/harness/stage.ts'
import { rightTotal, totalWith } from '../../src/validation/harness/world.ts'
import { blameEngine } from '../../src/validation/grid/engine.ts'
import { gatesOf } from '../../src/validation/grid/gates.ts'
import type { Engine } from '../../src/validation/grid/diagnosis.ts'
import { scoreTape } from '../../src/validation/grid/score.ts'
import { tallyOf } from '../../src/validation/grid/tally.ts'
import { stepsOf } from '../../src/tape/index.ts'

let stage: Stage
beforeAll(async () => void (stage = await openStage()))
afterAll(() => stage.close())

const steps = 15
const signal = new AbortController().signal

describe('planted runs', () => {
  it('end as the ledger says, whatever was planted and however it got into the run', async () => {
    const ends: (readonly [FamilyName, unknown, number])[] = []
    for (const family of [
      'F0.misleading_retrieval',
      'F1.transposed_digits',
      'F3.id_collision',
      'F5.echo_chain',
      'F9.message_contradicting',
    ] as const) {
      const { world, tape } = await plantRun(stage, family, 3, steps)
      expect(totalWith(world, world.plants), family).not.toBe(rightTotal(world))
      ends.push([family, tape.close?.outcome, totalWith(world, world.plants)])
    }
    expect(ends).toEqual(ends.map(([family, , total]) => [family, { status: 'returned', value: { total } }, total]))
  })

  it('forks come to what the truth says, at every place where one can begin', async () => {
    const { source, about } = await plantRun(stage, 'F5.two_of_three', 2, steps)
    const grades = await Promise.all(
      about.truth.curve.map(async (_, keep) => (await source.draw({ keep, seed: keep }, signal)).grade),
    )
    expect(about.truth.curve).toContain(1)
    expect(grades).toEqual(about.truth.curve.map((chance) => (chance === 1 ? 'ok' : 'bad')))
  })

  it('an agent is impatient at the one answer that never comes, and at no other that is late on a busy machine', async () => {
    const seed = seedOf('F2.slow_loris', 'skip')
    const { tape } = await plantRun(stage, 'F2.slow_loris', seed, steps)
    const asked = stepsOf(tape).filter((step) => step.kind === 'exchange')
    const limits = asked.map((step) =>
      new Headers(step.request.headers as [string, string][]).get('x-stainless-timeout'),
    )
    const isImpatient = asked.map((step) => step.aborted !== undefined)
    expect(isImpatient.filter(Boolean)).toHaveLength(1)
    expect(limits).toEqual(isImpatient.map((is) => (is ? '1' : null)))
  })

  it('a run that throws for a broken answer is a crash, and not one that nobody can judge', async () => {
    const { tape, source } = await plantRun(stage, 'F2.truncated_json', seedOf('F2.truncated_json', 'throw'), steps)
    expect(tape.close?.outcome.status).toBe('threw')
    expect((await source.draw({ keep: source.positions.length, seed: 1 }, signal)).grade).toBe('bad')
    expect((await source.draw({ keep: 0, seed: 1 }, signal)).grade).toBe('ok')
  })

  it('the same family and seed are the same run; another seed is another one', () => {
    for (const { name } of families) {
      expect(worldOf(name, 1, 30)).toEqual(worldOf(name, 1, 30))
      // Not by its name alone.
      expect({ ...worldOf(name, 1, 30), id: '' }).not.toEqual({ ...worldOf(name, 2, 30), id: '' })
    }
  })
})

describe('the harness level', () => {
  it('blame names the planted step, and its forks really asked the model', async () => {
    const engine: Engine = async (source, asked) => {
      const { draw } = source
      let calls = 0
      const counted = {
        ...source,
        draw: async (...given: Parameters<typeof draw>) => {
          const drawn = await draw(...given)
          calls += drawn.modelCalls
          return drawn
        },
      }
      const said = await blameEngine(counted, asked)
      return { ...said, modelCalls: calls }
    }
    const { score, said, requests } = await measureRun(stage, engine, {
      family: 'F0.corrupted_tool_output',
      seed: 5,
      steps,
    })
    expect(score).toMatchObject({ outcome: 'R', isTop1: true, isFalseCertificate: false })
    // The recorded run asked seven questions and got its last word; every other request is one a fork says it made.
    expect(requests).toBe(8 + said.modelCalls)
    expect(said.modelCalls).toBeGreaterThan(12)
  })

  it('a changed agent is found where it leaves the tape, wherever that is', async () => {
    const named = new Set<number | undefined>()
    for (const seed of [1, 2, 3]) {
      const { score, said } = await measureRun(stage, blameEngine, { family: 'F10.prompt_change', seed, steps: 11 })
      expect(score.outcome).toBe('R')
      named.add(said.named[0])
    }
    expect(named.size).toBeGreaterThan(1)
  })

  it('a block under way at once is found in as few forks as a step, and only then its members are told apart', async () => {
    const { score, said } = await measureRun(stage, blameEngine, { family: 'F3.arrival_permutation', seed: 1, steps })
    expect(score.outcome).toBe('R')
    expect(said.forks).toBeLessThanOrEqual(Math.ceil(Math.log2(steps)) + 4)
    expect(said.columnForks).toBeGreaterThan(0)
  })

  it('nothing is said of a tape when another model answers now', async () => {
    const { score, said } = await measureRun(stage, blameEngine, {
      family: 'F8.pinned_id_mismatch',
      seed: 5,
      steps: 11,
    })
    expect([score.outcome, said.said]).toEqual(['R', 'nothing'])
  })

  it('a truth whose planted step is mislabelled breaks the promises', async () => {
    const run = await plantRun(stage, 'F5.single', 4, 11)
    const found = await blameEngine(run.source, {
      asks: 'run',
      hasColumns: true,
      sweeps: false,
      asksEarlier: false,
      isScripted: true,
    })
    const { about } = run
    const shifted = {
      ...about,
      truth: { ...about.truth, commitment: about.truth.commitment - 1, curve: [...about.truth.curve.slice(1), 0] },
    }
    const broken = (truth: typeof about): readonly string[] =>
      gatesOf([{ cell: cellOf('F5.single', 'full'), tally: tallyOf([scoreTape(truth, found)]) }], [], 'full')
        .filter(({ isMet }) => !isMet)
        .map(({ name }) => name)
    expect(broken(about)).toEqual([])
    expect(broken(shifted)).toEqual(['exact tail, top-1', 'false certificates', 'false claims of any kind'])
  })

  it.each([
    ['F7.mistyped_question', 'nothing'],
    ['F7.flaky_oracle', 'nothing'],
    ['F7.changed_code', 'never'],
    ['F7.taped_tools', 'never'],
    ['F10.accepted_change', 'confirmed'],
  ] as const)('%s is answered with %s', async (family, answer) => {
    const { score, said } = await measureRun(stage, blameEngine, { family, seed: 3, steps: 11 })
    expect([score.outcome, score.isFalseClaim, said.said]).toEqual(['R', false, answer])
    // What is found out about the question costs no fork.
    if (answer === 'nothing') expect(said.forks).toBe(0)
  })

  it('an engine that blames what came last breaks them, too', async () => {
    const late: Engine = async (source) => {
      const last = source.positions.length - 1
      return {
        said: 'confirmed',
        named: [last],
        ranking: [last],
        intervals: [],
        forks: 0,
        columnForks: 0,
        modelCalls: 0,
        undefinedForks: 0,
      }
    }
    const { score } = await measureRun(stage, late, { family: 'F5.early_cause_late_symptom', seed: 1, steps })
    expect(score).toMatchObject({ outcome: 'F', isTop1: false })
  })

  it('twenty runs of every family in full, one in a sample', () => {
    const all = familiesOf(undefined)
    // Five where blame takes every fork there is.
    expect(runOrders('full', 1, all)).toHaveLength(20 * (families.length - 3) + 3 * 5)
    expect(new Set(runOrders('full', 1, all).map(({ steps: count }) => count))).toEqual(new Set([20, 40, 60]))
    const sampled = runOrders('quick', 1, all).map(({ family }) => family)
    expect(new Set(sampled).size).toBe(sampled.length)
    // What takes every fork there is before blame gives up is too long for a sample.
    expect(all.filter((family) => !sampled.includes(family))).toEqual([
      'F5.erosion',
      'F7.no_op_mutation',
      'F7.identical_response',
    ])
    expect(Math.max(...runOrders('full', 1, all).map(({ steps: most }) => most))).toBe(60)
  })
})

describe('the two levels', () => {
  const cell = cellOf('F5.and_2', 'full')
  const counted = (right: number, of: number) => ({
    cell,
    tally: { ...tallyOf([]), top1: [right, of], certified: [right, of], falseCertificates: [0, of] } as const,
  })

  it('agree when chance alone makes such a difference, and only then', () => {
    const verdicts = (here: number, there: number) =>
      agreementOf([counted(here, 20)], [counted(there, 400)]).map(({ figure, agrees }) => [figure, agrees])
    expect(verdicts(19, 399)).toEqual([
      ['top-1', true],
      ['certified', true],
      ['false certificates', true],
    ])
    expect(verdicts(12, 399)).toEqual([
      ['top-1', false],
      ['certified', false],
      ['false certificates', true],
    ])
  })

  it('are compared over the cells of runs as long and as noisy', () => {
    const other = counted(0, 400)
    const noisy = { ...other, cell: { ...cell, noise: 'slip=.01' } as const }
    const long = { ...other, cell: { ...cell, length: 200 } }
    expect(agreementOf([counted(20, 20)], [noisy, long])).toEqual([])
  })
})

describe('the stage', () => {
  it('leaves no folder behind', async () => {
    const other = await openStage()
    await plantRun(other, 'F7.passing_run', 1, steps)
    expect(existsSync(other.folder)).toBe(true)
    await other.close()
    expect(existsSync(other.folder)).toBe(false)
  })

  it('a project without the SDK is told what to install', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'harvest-no-sdk-'))
    const error: unknown = await loadSdk(folder).catch((thrown: unknown) => thrown)
    await rm(folder, { recursive: true })
    expect(HarvestError.is(error) && error.message.replace(folder, '<folder>')).toMatchInlineSnapshot(`
      "The harness level needs the openai package

        folder  <folder>

      It injects faults into an agent that uses a real SDK.
      → npm install --save-dev openai
      → or validate the engine alone: npx vitest-harvest validate --level engine
      (HARVEST_VALIDATE_SDK)"
    `)
  })
})

/** A seed whose agent does this when the model gives no answer. */
function seedOf(family: FamilyName, onError: 'throw' | 'skip'): number {
  return [1, 2, 3, 4, 5, 6, 7, 8].find((seed) => worldOf(family, seed, steps).onError === onError) ?? 0
}
