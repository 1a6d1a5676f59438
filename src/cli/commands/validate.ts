import { agreementOf, type HarnessResult, validateHarness } from '../../validation/harness/index.ts'
import {
  type Agreed,
  asReported,
  cellsOfReport,
  type Comparison,
  compareWithReport,
  defaultSeed,
  engineReport,
  type EngineResult,
  readReport,
  validateEngine,
  type ValidationReport,
  writeReport,
} from '../../validation/grid/index.ts'
import { neutralLine } from '../../errors/index.ts'
import { choose } from '../choose.ts'
import { validateSpec } from '../spec/explain.ts'
import type { Command, CommandInput } from '../command.ts'
import { exit } from '../exit.ts'
import { badValue, usage } from '../parse.ts'
import type { Screen } from '../../report/output.ts'
import { printAgreement, printComparison, printEngine, printHarness } from '../validate/tables.ts'

/** Plants known causes and scores what blame says of them: is the instrument to be trusted. */
export const validateCommand: Command = {
  ...validateSpec,
  async run(given, screen) {
    const asked = readAsked(given)
    const committed = given.has('check') ? await readReport(asked.file) : undefined
    const seed = asked.seed ?? committed?.engine.seed ?? defaultSeed
    const found = await measure({ ...asked, seed }, committed, screen)
    // A report is the evidence of one full measurement of both levels; one that is checked against is not replaced.
    const isWritten = asked.isFull && committed === undefined && asked.level === 'all'
    if (isWritten) await write(asked.file, found)
    if (given.has('json')) screen.json(asJson(found))
    else print(found, isWritten ? asked.file : undefined, screen)
    if (asked.isFull && asked.level !== 'all') screen.note('wrote no report: it takes both levels')
    return isTrusted(found) ? exit.ok : exit.divergence
  },
}

interface Asked {
  readonly isFull: boolean
  readonly level: 'engine' | 'harness' | 'all'
  readonly family?: string
  readonly seed?: number
  readonly file: string
}

interface Found {
  readonly engine?: EngineResult
  readonly harness?: HarnessResult
  readonly comparison?: Comparison
  readonly agreement: readonly Agreed[]
}

function readAsked(given: CommandInput): Asked {
  const isFull = given.has('full')
  const family = given.value('family')
  const level = choose(given, 'level', ['engine', 'harness', 'all'], validateCommand) ?? 'all'
  const seed = seedFrom(given)
  if (isFull && given.has('quick')) throw refused('--quick and --full do not go together', 'quick')
  if (isFull && family !== undefined)
    throw refused('--full is about all families: its report has to be whole', 'family')
  const file = given.value('report') ?? 'recordings/validation.json'
  return { isFull, level, file, ...(family !== undefined && { family }), ...(seed !== undefined && { seed }) }
}

async function measure(
  { isFull, level, family, seed }: Asked & { readonly seed: number },
  committed: ValidationReport | undefined,
  screen: Screen,
): Promise<Found> {
  const common = { effort: isFull ? 'full' : 'quick', seed, ...(family !== undefined && { family }) } as const
  // First, since it refuses at once where the SDK is missing.
  const harness =
    level === 'engine'
      ? undefined
      : await validateHarness({
          ...common,
          say: (done, all, one) => screen.progress(`harness level: ${done} of ${all} runs, ${one.family}`),
        })
  const engine =
    level === 'harness'
      ? undefined
      : await validateEngine({
          ...common,
          say: (done, all, cell) => screen.progress(`engine level: ${done} of ${all} cells, ${cell.id}`),
        })
  return {
    ...(engine && { engine }),
    ...(harness && { harness }),
    ...(engine && committed && { comparison: compareWithReport(engine.cells, cellsOfReport(committed)) }),
    agreement: engine && harness ? agreementOf(harness.cells, engine.cells) : [],
  }
}

async function write(file: string, { engine, harness, agreement }: Found): Promise<void> {
  if (engine === undefined) return
  const levels = {
    engine: engineReport(engine),
    ...(harness && { harness: { ...harness, cells: harness.cells.map(asReported), agreement } }),
  }
  await writeReport(file, levels, new Date().toISOString().slice(0, 10))
}

function asJson({ engine, harness, comparison, agreement }: Found): object {
  return { engine: engine ?? null, harness: harness ?? null, agreement, comparison: comparison ?? null }
}

function print({ engine, harness, comparison, agreement }: Found, written: string | undefined, screen: Screen): void {
  if (engine !== undefined) printEngine(engine, screen)
  if (harness !== undefined) printHarness(harness, screen)
  if (agreement.length > 0) printAgreement(agreement, screen)
  if (comparison !== undefined) printComparison(comparison, screen)
  if (written !== undefined) screen.note(`wrote ${neutralLine(written)}`)
}

function isTrusted({ engine, harness, comparison, agreement }: Found): boolean {
  const gates = [...(engine?.gates ?? []), ...(harness?.gates ?? [])]
  return (
    gates.every(({ isMet }) => isMet) &&
    agreement.every(({ agrees }) => agrees) &&
    (comparison?.departures ?? []).length === 0
  )
}

function seedFrom(given: CommandInput): number | undefined {
  const text = given.value('seed')
  if (text === undefined) return undefined
  if (/^\d{1,10}$/.test(text)) return Number(text)
  throw badValue(validateCommand, 'seed', text, 'a whole number of at most ten digits')
}

function refused(what: string, other: string): Error {
  return usage(validateCommand, 'HARVEST_CLI_ARGUMENT', what, [
    `to measure all: the same command, without --${other}`,
    'to measure less: the same command, without --full',
  ])
}
