import { recordedGrade } from '../structural/model.ts'
import { structuralSource } from '../structural/source.ts'
import { type Cell, tapesOf } from './cells.ts'
import type { Engine } from './diagnosis.ts'
import { scoreTape, type TapeScore } from './score.ts'
import { type CellTally, tallyOf } from './tally.ts'

/** A cell with the result of its tapes. */
export interface MeasuredCell {
  readonly cell: Cell
  readonly tally: CellTally
}

/** Blames the first tapes of a cell and scores what was said. The same seed gives the same tally. */
export async function measureCell(cell: Cell, tapes: number, seed: number, engine: Engine): Promise<MeasuredCell> {
  const scores: TapeScore[] = []
  for (const { number, planted, truth } of tapesOf(cell, tapes, seed)) {
    // Two tapes of a cell share neither their shape nor their luck.
    const source = structuralSource(planted.model, seed + number)
    const { asks, hasColumns, sweeps, asksEarlier = false } = cell
    const isScripted = cell.noise === 'exact'
    const found = await engine(source, { asks, hasColumns, sweeps, asksEarlier, isScripted })
    const isPassing = recordedGrade(planted.model) === 'ok'
    const { decoys, flips } = planted
    scores.push(scoreTape({ truth, decoys, flips, isPassing, isExact: isScripted }, found))
  }
  return { cell, tally: tallyOf(scores) }
}
