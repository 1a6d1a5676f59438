import { HarvestError, neutralLine } from '../../errors/index.ts'
import { type Cell, gridCells } from './cells.ts'
import { type QualityGate, gatesOf, type Strictness } from './gates.ts'
import type { MeasuredCell } from './measure.ts'
import { measurePeeking, type PeekingTally } from './peeking.ts'
import { measureCells } from './pool.ts'

export interface EngineOptions {
  /** `quick`: a sample of every cell. `full`: as many different tapes as the report promises. */
  readonly effort: 'quick' | 'full'
  /** Default {@link defaultSeed}. */
  readonly seed?: number
  /** Name of a family or group, such as `F5.and_2` or `F5`. Default: all of them. */
  readonly family?: string
  /** Threads. Default: one per processor. */
  readonly threads?: number
  /** Called as cells are done. */
  readonly say?: (done: number, all: number, cell: Cell) => void
}

/** The result of the engine level. */
export interface EngineResult {
  readonly seed: number
  /** Different tapes per cell. */
  readonly tapes: number
  readonly cells: readonly MeasuredCell[]
  readonly peeking: readonly PeekingTally[]
  readonly gates: readonly QualityGate[]
}

export const defaultSeed = 20_261_121

/** Different tapes per cell; the first ones of a full measurement are those of a quick one. */
export const tapesPerCell = { quick: 10, full: 200 } as const

/** Sequences of draws per chance. */
export const sequences = { quick: 50, full: 2000 } as const

/**
 * Measures blame over models of an agent whose causes are known.
 *
 * @throws HarvestError `HARVEST_VALIDATE_FAMILY` for a family that has no cells, `HARVEST_VALIDATE_WORKER`
 */
export async function validateEngine(options: EngineOptions): Promise<EngineResult> {
  const { effort, seed = defaultSeed, family } = options
  const cells = chosenCells(family)
  const tapes = tapesPerCell[effort]
  const measured = await measureCells(cells, {
    seed,
    tapesOf: () => tapes,
    ...(options.threads !== undefined && { threads: options.threads }),
    ...(options.say !== undefined && { say: options.say }),
  })
  const peeking = family === undefined ? measurePeeking(sequences[effort], seed) : []
  const strictness: Strictness = effort === 'full' ? 'full' : 'sample'
  return { seed, tapes, cells: measured, peeking, gates: gatesOf(measured, peeking, strictness) }
}

function chosenCells(family: string | undefined): readonly Cell[] {
  const all = gridCells()
  if (family === undefined) return all
  const chosen = all.filter(({ subject }) => subject === family || subject.startsWith(`${family}.`))
  if (chosen.length > 0) return chosen
  const subjects = [...new Set(all.map(({ subject }) => subject))]
  throw new HarvestError('HARVEST_VALIDATE_FAMILY', {
    what: `Unknown family '${neutralLine(family, 40)}'`,
    where: { families: subjects.join(', ') },
    fix: ['for instance: npx vitest-harvest validate --family F5.and_2'],
  })
}
