import { HarvestError, neutralLine } from '../../errors/index.ts'
import { families } from '../../faults/families.ts'
import { type QualityGate, gatesOf } from '../grid/gates.ts'
import type { MeasuredCell } from '../grid/measure.ts'
import { tallyOf } from '../grid/tally.ts'
import { cellOf, type Effort, familiesOf, runOrders, runsPerFamily } from './cells.ts'
import type { MeasuredRun, RunOrder } from './measure.ts'
import { measureRuns } from './pool.ts'
import { loadSdk } from './sdk.ts'

export interface HarnessOptions {
  readonly effort: Effort
  readonly seed: number
  /** Name of a family or group, such as `F5.and_2` or `F5`. Default: all of them. */
  readonly family?: string
  /** Folder whose `openai` package is used. Default the working directory. */
  readonly project?: string
  /** Threads. Default: one per processor. */
  readonly threads?: number
  /** Called as runs are done. */
  readonly say?: (done: number, all: number, order: RunOrder) => void
}

/** The result of the harness level. */
export interface HarnessResult {
  readonly seed: number
  /** Different runs per family. */
  readonly runs: number
  /** One per family. */
  readonly cells: readonly MeasuredCell[]
  readonly gates: readonly QualityGate[]
  /** Forks of real runs that were made. */
  readonly forks: number
  /** Requests that reached the model on loopback. */
  readonly requests: number
}

/**
 * Measures blame over real runs: an agent that calls a model through a real SDK over loopback, recorded by the real
 * recorder while something is planted, and forked as `npx vitest-harvest blame` forks.
 *
 * @throws HarvestError `HARVEST_VALIDATE_SDK` without the openai package, `HARVEST_VALIDATE_FAMILY` for an unknown
 * family, `HARVEST_VALIDATE_RECORD`, `HARVEST_VALIDATE_WORKER`
 */
export async function validateHarness(options: HarnessOptions): Promise<HarnessResult> {
  const { effort, seed, family, project = process.cwd() } = options
  const chosen = familiesOf(family)
  if (chosen.length === 0) throw unknownFamily(family ?? '')
  // Refused here, before threads are started.
  await loadSdk(project)
  const orders = runOrders(effort, seed, chosen)
  const measured = await measureRuns(orders, {
    project,
    ...(options.threads !== undefined && { threads: options.threads }),
    ...(options.say !== undefined && { say: options.say }),
  })
  return harnessResult(measured, { effort, seed })
}

/** What measured runs come to, whoever measured them. */
export function harnessResult(
  measured: readonly MeasuredRun[],
  { effort, seed }: Pick<HarnessOptions, 'effort' | 'seed'>,
): HarnessResult {
  const cells = cellsOf(measured, effort)
  return {
    seed,
    runs: runsPerFamily[effort],
    cells,
    // The bars are for cells of two hundred: twenty runs break one when their interval does.
    gates: gatesOf(cells, [], 'sample'),
    forks: measured.reduce((sum, { said }) => sum + said.forks + said.columnForks, 0),
    requests: measured.reduce((sum, { requests }) => sum + requests, 0),
  }
}

function cellsOf(measured: readonly MeasuredRun[], effort: Effort): readonly MeasuredCell[] {
  const byFamily = Map.groupBy(measured, ({ family }) => family)
  return families.flatMap(({ name }) => {
    const runs = byFamily.get(name)?.toSorted((a, b) => a.seed - b.seed)
    if (runs === undefined) return []
    const cell = cellOf(name, effort)
    // What is planted can make a run longer: a call that is tried again is a step more.
    const length = Math.max(cell.length, ...runs.map(({ steps }) => steps))
    return [{ cell: { ...cell, length }, tally: tallyOf(runs.map(({ score }) => score)) }]
  })
}

function unknownFamily(family: string): HarvestError {
  return new HarvestError('HARVEST_VALIDATE_FAMILY', {
    what: `Unknown family '${neutralLine(family, 40)}'`,
    where: { families: families.map(({ name }) => name).join(', ') },
    fix: ['for instance: npx vitest-harvest validate --family F5.and_2'],
  })
}
