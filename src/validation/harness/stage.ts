import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOracle } from '../../blame/oracle.ts'
import { forkSourceOf, type ForkSourceOptions } from '../../blame/fork-source.ts'
import type { ForkSource, ForkSpec } from '../../blame/types.ts'
import { openBudget } from '../../live/index.ts'
import { installReplay } from '../../replay/index.ts'
import type { Tape } from '../../tape/index.ts'
import type { FamilyName } from '../../faults/families.ts'
import {
  type AgentChange,
  type AgentOptions,
  ledgerAgent,
  type LedgerAnswer,
  type LedgerInput,
  luckOfRun,
} from './agent.ts'
import { chanceOf } from './chance.ts'
import { type ModelServer, openModelServer } from './model-server.ts'
import { worldOf } from './plants.ts'
import { recordRun } from './record.ts'
import { loadSdk, type OpenAiSdk } from './sdk.ts'
import { type PlantedTruth, truthOf } from './truth.ts'
import { type Luck, recorded, rightTotal, type World } from './world.ts'

/** Where planted runs happen: the SDK of the project, a model on loopback, a folder for tapes that is gone afterwards. */
export interface Stage {
  readonly sdk: OpenAiSdk
  readonly server: ModelServer
  readonly folder: string
  close(): Promise<void>
}

/**
 * Opens a stage.
 *
 * @param project - folder whose `openai` package is used. Default the working directory
 * @throws HarvestError `HARVEST_VALIDATE_SDK` when it has none
 */
export async function openStage(project?: string): Promise<Stage> {
  const sdk = await loadSdk(project)
  await installReplay()
  const server = await openModelServer()
  const folder = await mkdtemp(join(tmpdir(), 'harvest-validate-'))
  return {
    sdk,
    server,
    folder,
    async close() {
      await server.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A recorded run with something planted in it. */
export interface PlantedRun {
  readonly family: FamilyName
  readonly world: World
  readonly tape: Tape
  /** Forks of it, as `npx vitest-harvest blame` makes them: with tools that run for real. */
  readonly source: ForkSource
  readonly about: PlantedTruth
  /** Makes the forks from here on run another agent. */
  become(agent: SyntheticAgent): void
}

export type SyntheticAgent = (input: LedgerInput) => Promise<LedgerAnswer>

/**
 * How long the SDK waits for an answer that is planted never to come. No other answer is waited for so short a time: on a
 * busy machine one would be late that was not planted to be. And the question itself has to be on its way by then.
 */
const shortMs = 1000
/**
 * How long forks wait for it. Where it is kept, that is real time; where it is resampled, it comes, and must not be late
 * on a busy machine.
 */
const patientMs = 4000
/** How long one fork may take: none gets so far, however busy the machine, for that would be chance in its end. */
const timeoutMs = 600_000

/**
 * Records a run of a family, and makes it forkable.
 *
 * @param steps - about how many steps the run has
 * @throws HarvestError `HARVEST_VALIDATE_RECORD`, `HARVEST_BLAME_PREFLIGHT`
 */
export async function plantRun(stage: Stage, family: FamilyName, seed: number, steps: number): Promise<PlantedRun> {
  const { sdk, server, folder } = stage
  const world = worldOf(family, seed, steps)
  server.add(world)
  const input: LedgerInput = { base: server.addressOf(world) }
  const slow = world.plants.find((plant) => plant.what === 'http' && plant.fault === 'slow')
  const waiting = (ms: number): AgentOptions =>
    slow?.what === 'http' ? { hasty: { question: slow.question, timeoutMs: ms } } : {}
  const recording = ledgerAgent(sdk, world, waiting(shortMs))
  const tape = await luckOfRun.run(recorded, () =>
    recordRun(folder, { agent: 'ledger', id: world.id, input }, () => recording(input)),
  )
  const change = changeOf(family)
  let agent = ledgerAgent(sdk, world, { ...waiting(patientMs), ...(change && { change: { from: 0, to: change } }) })
  const isFlaky = family === 'F7.flaky_oracle'
  let grades = 0
  const judged = (value: unknown): boolean | undefined => {
    const isRight = judge(world, value)
    // The first grade asks the question: the run was bad.
    return isFlaky && isRight === true && (grades++ === 0 || chanceOf(world.id, grades) < 0.3) ? false : isRight
  }
  const options: ForkSourceOptions = {
    load: () => Promise.resolve((given) => agent(given as LedgerInput)),
    oracle: createOracle({ by: 'function', name: 'the total', judge: ({ value }) => judged(value) }),
    budget: openBudget({}),
    tools: family === 'F7.taped_tools' ? 'tape' : 'live',
    timeoutMs,
  }
  const inner = await luckOfRun.run(recorded, () => forkSourceOf(tape, options))
  // Who grades elsewhere compares two numbers; and no agent here draws anything.
  const { regrade, drawAgain: _none, ...unvarying } = inner
  return {
    family,
    world,
    tape,
    source: {
      ...unvarying,
      ...(isFlaky && regrade && { regrade }),
      draw: (spec, signal) => luckOfRun.run(luckOf(world, spec), () => inner.draw(spec, signal)),
    },
    about: change === 'total' ? hopeless(inner.positions.length) : truthOf(world, tape, inner.positions),
    become: (other) => void (agent = other),
  }
}

/** What was changed of the agent since the run was recorded. */
function changeOf(family: FamilyName): AgentChange | undefined {
  if (family === 'F10.accepted_change') return 'unit'
  return family === 'F7.changed_code' ? 'total' : undefined
}

/** No answer of any step can save the run. */
function hopeless(positions: number): PlantedTruth {
  const curve = new Array<number>(positions + 1).fill(0)
  const columns = { necessary: [], sufficient: [], repairSets: [] }
  const truth = { curve, commitments: [], commitment: -1, drop: 0, columns }
  return { truth, decoys: [], isPassing: false, isExact: true }
}

function judge(world: World, value: unknown): boolean | undefined {
  return value === undefined ? undefined : (value as LedgerAnswer).total === rightTotal(world)
}

/** Forks that differ in anything have luck of their own; where no chance is at work, all have the same. */
function luckOf(world: World, { keep, pinned = [], repaired = [], mutated, seed }: ForkSpec): Luck {
  const { noise, plants } = world
  const isQuiet = noise.slip + noise.recurrence + noise.correction === 0
  if (isQuiet && plants.every(({ what }) => what !== 'smudges' && what !== 'incapable')) return 'anew'
  const changed = mutated === undefined ? '' : `${mutated.position}:${mutated.mutant}`
  return [world.id, keep, pinned.join('+'), repaired.join('+'), changed, seed].join('/')
}
