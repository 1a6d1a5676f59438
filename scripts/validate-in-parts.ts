// node scripts/validate-in-parts.ts FOLDER: `validate --full` that may be ended at any time and goes on where it was.
// Each cell and each real run is a line of a file in FOLDER, whose name tells the state of src; when none is left, the report is written.
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { gridCells } from '../src/validation/grid/cells.ts'
import { blameEngine } from '../src/validation/grid/engine.ts'
import { gatesOf } from '../src/validation/grid/gates.ts'
import { asReported, defaultSeed, engineReport, type MeasuredCell, writeReport } from '../src/validation/grid/index.ts'
import { measureCell } from '../src/validation/grid/measure.ts'
import { measurePeeking } from '../src/validation/grid/peeking.ts'
import { sequences, tapesPerCell } from '../src/validation/grid/run.ts'
import { familiesOf, runOrders } from '../src/validation/harness/cells.ts'
import { agreementOf } from '../src/validation/harness/index.ts'
import { type MeasuredRun, measureRun } from '../src/validation/harness/measure.ts'
import { harnessResult } from '../src/validation/harness/run.ts'
import { openStage } from '../src/validation/harness/stage.ts'

const { positionals } = parseArgs({ allowPositionals: true })
const [folder] = positionals
if (folder === undefined) throw new Error('name a folder')
mkdirSync(folder, { recursive: true })
const state = createHash('sha256')
for (const file of globSync('src/**/*.ts').toSorted()) state.update(readFileSync(file))
const mark = state.digest('hex').slice(0, 12)
const report = 'recordings/validation.json'

const cells = await cellsInParts(join(folder, `cells-${mark}.jsonl`))
const runs = await runsInParts(join(folder, `runs-${mark}.jsonl`))

const peeking = measurePeeking(sequences.full, defaultSeed)
const gates = gatesOf(cells, peeking, 'full')
const engine = engineReport({ seed: defaultSeed, tapes: tapesPerCell.full, cells, peeking, gates })
const real = harnessResult(runs, { effort: 'full', seed: defaultSeed })
const harness = { ...real, cells: real.cells.map(asReported), agreement: agreementOf(real.cells, cells) }
await writeReport(report, { engine, harness }, new Date().toISOString().slice(0, 10))
const broken = [...engine.gates, ...harness.gates].filter(({ isMet }) => !isMet)
console.log(`wrote ${report}; promises that are not kept: ${broken.map(({ name }) => name).join('; ') || 'none'}`)

async function cellsInParts(file: string): Promise<readonly MeasuredCell[]> {
  const known = new Map(linesOf<{ id: string; tally: MeasuredCell['tally'] }>(file).map(({ id, tally }) => [id, tally]))
  const measured: MeasuredCell[] = []
  for (const cell of gridCells()) {
    const before = known.get(cell.id)
    const { tally } =
      before === undefined ? await measureCell(cell, tapesPerCell.full, defaultSeed, blameEngine) : { tally: before }
    if (before === undefined) appendFileSync(file, `${JSON.stringify({ id: cell.id, tally })}\n`)
    measured.push({ cell, tally })
  }
  return measured
}

async function runsInParts(file: string): Promise<readonly MeasuredRun[]> {
  const keyOf = ({ family, seed }: { family: string; seed: number }): string => `${family} ${seed}`
  const lines = linesOf<{ order: { family: string; seed: number }; measured: MeasuredRun }>(file)
  const known = new Map(lines.map(({ order, measured }) => [keyOf(order), measured]))
  const stage = await openStage(process.cwd())
  const all: MeasuredRun[] = []
  for (const order of runOrders('full', defaultSeed, familiesOf(undefined)).toReversed()) {
    const before = known.get(keyOf(order))
    const measured = before ?? (await measureRun(stage, blameEngine, order))
    if (before === undefined) appendFileSync(file, `${JSON.stringify({ order, measured })}\n`)
    all.push(measured)
  }
  await stage.close()
  return all
}

function linesOf<T>(file: string): readonly T[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.slice(0, -1).map((line) => JSON.parse(line) as T)
}
