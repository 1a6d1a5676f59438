import { readFile, writeFile } from 'node:fs/promises'
import { HarvestError } from '../../errors/index.ts'
import { version } from '../../version.ts'
import { gridCells } from './cells.ts'
import type { QualityGate } from './gates.ts'
import type { MeasuredCell } from './measure.ts'
import type { PeekingTally } from './peeking.ts'
import type { EngineResult } from './run.ts'
import type { Count, CellTally } from './tally.ts'

/** The committed report of a full validation. Nothing in it names a machine. */
export interface ValidationReport {
  readonly format: 1
  /** Of this package. */
  readonly version: string
  /** Major version of Node. */
  readonly node: string
  /** Day it was made, ISO 8601. */
  readonly date: string
  /** Blame over models of an agent, in the process. */
  readonly engine: EngineReport
  /** Blame over real runs; absent when that was not measured. The two levels are never added up. */
  readonly harness?: HarnessReport
}

export interface EngineReport {
  readonly seed: number
  /** Different tapes per cell. */
  readonly tapes: number
  readonly cells: readonly CellReport[]
  readonly peeking: readonly PeekingTally[]
  readonly gates: readonly QualityGate[]
}

export interface HarnessReport {
  readonly seed: number
  /** Different runs per family. */
  readonly runs: number
  /** Forks of real runs. */
  readonly forks: number
  /** Requests that reached the model on loopback. */
  readonly requests: number
  readonly cells: readonly CellReport[]
  readonly gates: readonly QualityGate[]
  /** Figures of families at both levels. */
  readonly agreement: readonly Agreed[]
}

/** One figure of a family at both levels; agrees: counts that differ so much are not unlikely when the levels are alike. */
export interface Agreed {
  readonly family: string
  readonly figure: string
  readonly harness: Count
  readonly engine: Count
  readonly agrees: boolean
}

export interface CellReport extends CellTally {
  readonly id: string
}

/** A measurement of the engine level as it is committed. */
export function engineReport({ seed, tapes, cells, peeking, gates }: EngineResult): EngineReport {
  return { seed, tapes, cells: cells.map(asReported), peeking, gates }
}

/** A cell as it is committed. */
export function asReported({ cell, tally }: MeasuredCell): CellReport {
  return { id: cell.id, ...tally }
}

/**
 * Writes a report: one line per cell, so that a diff shows which figures changed.
 *
 * @param date - the day, ISO 8601
 */
export async function writeReport(
  file: string,
  levels: Pick<ValidationReport, 'engine' | 'harness'>,
  date: string,
): Promise<void> {
  const node = process.versions.node.split('.', 1)[0] ?? ''
  const report: ValidationReport = { format: 1, version, node, date, ...levels }
  await writeFile(file, `${render(report, '')}\n`)
}

/** JSON whose lists of records have a record per line. */
function render(value: unknown, indent: string): string {
  const inner = `${indent}  `
  const isRecord = (one: unknown): boolean => typeof one === 'object' && one !== null && !Array.isArray(one)
  if (Array.isArray(value) && value.some(isRecord))
    return `[\n${value.map((one) => inner + JSON.stringify(one)).join(',\n')}\n${indent}]`
  if (!isRecord(value)) return JSON.stringify(value)
  const fields = Object.entries(value as object).filter(([, one]) => one !== undefined)
  return `{\n${fields.map(([key, one]) => `${inner}${JSON.stringify(key)}: ${render(one, inner)}`).join(',\n')}\n${indent}}`
}

/**
 * Reads a committed report.
 *
 * @throws HarvestError `HARVEST_VALIDATE_REPORT` when it is missing, or another file
 */
export async function readReport(file: string): Promise<ValidationReport> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw noReport(file, 'There is no such file.', cause)
  })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw noReport(file, 'It is no JSON.', cause)
  }
  if (!isReport(value)) throw noReport(file, 'It is not a report that this version writes.')
  return value
}

/** The cells of a report with what they are; cells that the grid no longer has are left out. */
export function cellsOfReport({ engine }: ValidationReport): readonly MeasuredCell[] {
  const known = new Map(gridCells().map((cell) => [cell.id, cell]))
  return engine.cells.flatMap(({ id, ...tally }) => {
    const cell = known.get(id)
    return cell === undefined ? [] : [{ cell, tally }]
  })
}

function isReport(value: unknown): value is ValidationReport {
  if (typeof value !== 'object' || value === null) return false
  const { format, engine } = value as Partial<Record<keyof ValidationReport, unknown>>
  if (format !== 1 || typeof engine !== 'object' || engine === null) return false
  const { seed, cells, peeking } = engine as Partial<Record<keyof EngineReport, unknown>>
  return Number.isSafeInteger(seed) && Array.isArray(cells) && cells.every(isCell) && Array.isArray(peeking)
}

/** Fields that are read again. */
function isCell(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const cell = value as Partial<Record<keyof CellReport, unknown>>
  const counts = [
    cell.top1,
    cell.certified,
    cell.falseCertificates,
    cell.falseBlame,
    cell.rightOrAbstained,
    cell.coverage,
  ]
  const isCount = (one: unknown): boolean => Array.isArray(one) && one.length === 2 && one.every(Number.isSafeInteger)
  return typeof cell.id === 'string' && typeof cell.outcomes === 'string' && counts.every(isCount)
}

function noReport(file: string, why: string, cause?: unknown): HarvestError {
  return new HarvestError(
    'HARVEST_VALIDATE_REPORT',
    {
      what: 'No report to check against',
      where: { file },
      why,
      fix: [
        'to measure everything and write one: npx vitest-harvest validate --full',
        'to measure without one: npx vitest-harvest validate',
      ],
    },
    cause === undefined ? undefined : { cause },
  )
}
