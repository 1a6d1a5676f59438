import { blameFailedRun, ForkBudget } from '../../blame/index.ts'
import { forkSourceOf, type ForkSourceOptions } from '../../blame/fork-source.ts'
import { createOracle, type OracleFunction } from '../../blame/oracle.ts'
import type { PlacedPosition } from '../../blame/positions.ts'
import { HarvestError, neutralLine } from '../../errors/index.ts'
import { type ForkResult, forkTape } from '../../fork/index.ts'
import { type Budget, type BudgetLimits, openBudget } from '../../live/index.ts'
import type { Tape } from '../../tape/index.ts'
import { applyFaults } from '../../faults/apply.ts'
import { describeFault } from '../../faults/describe.ts'
import { kindsNamed } from '../../faults/kinds.ts'
import { type Possible, possibleFaults } from '../../faults/schedule.ts'
import type { Fault } from '../../faults/types.ts'
import { chanceOf } from './chance.ts'

/** An agent of one's own, and what is to be planted in its runs. */
export interface OwnAgentOptions {
  /** Called with the recorded input. The models it asks are asked for real: let them listen on 127.0.0.1. */
  readonly agent: (input: unknown) => unknown
  /** Says whether a run went well, as for `npx vitest-harvest blame --oracle`. The recorded run has to. */
  readonly oracle: OracleFunction
  /** Families or kinds of faults, as for `npx vitest-harvest chaos --faults`. Default `tracefork` and `values`. */
  readonly plant?: readonly string[]
  /** Runs that a fault made fail, each of which is blamed. Default 8. */
  readonly runs?: number
  /**
   * `tape` (default): tools and services answer from the tape; faults are planted in what the model decides. `live`: they
   * run for real in every fork; faults are planted in their answers, too.
   */
  readonly tools?: 'tape' | 'live'
  /** Another number plants other faults. Default 1. */
  readonly seed?: number
  /** Forks that blame may make per run. Default 100. */
  readonly forks?: number
  /** What all models together may use. Default 2,000 calls. */
  readonly limits?: BudgetLimits
  /** Milliseconds one run may take. Default 10,000. */
  readonly timeoutMs?: number
  /** Escapes to let through, as in the replay options. */
  readonly allow?: readonly string[]
}

/** A fault that was planted, and what blame said of the run. */
export interface OwnRun {
  readonly fault: Fault
  /** For people. */
  readonly planted: string
  /**
   * `right`: blame named the planted step. `wrong`: it named another one, or said that no step did it. `abstained`: it
   * named none. `harmless`: the run went well all the same, so there was nothing to blame.
   */
  readonly score: 'right' | 'wrong' | 'abstained' | 'harmless'
  /** 1-based numbers of the steps that blame named. */
  readonly named: readonly number[]
  readonly forks: number
}

/** Forks of the agent, all on one budget. */
type Source = ForkSourceOptions & { readonly budget: Budget }

/** What blame is worth on an agent of one's own. */
export interface OwnAgentReport {
  readonly runs: readonly OwnRun[]
  readonly right: number
  readonly wrong: number
  readonly abstained: number
  readonly harmless: number
  /** Planted runs of which it is unknown how they ended: they asked for what is not on the tape, or left it too early. */
  readonly unjudged: number
  readonly forks: number
  readonly modelCalls: number
  /** The report as a table. */
  readonly table: string
}

/**
 * Plants faults at known steps of a run that went well, lets the agent run on from there, and looks whether blame finds
 * the step in the runs that failed.
 *
 * @param tape - a run that went well
 * @throws HarvestError `HARVEST_VALIDATE_PASSING` when the recorded run did not, `HARVEST_VALIDATE_PLANT` when no fault
 * that can happen to it does any harm, `HARVEST_FAULT_KIND`, `HARVEST_BLAME_PREFLIGHT`, `HARVEST_BUDGET_USED`
 */
export async function validateOwnAgent(tape: Tape, options: OwnAgentOptions): Promise<OwnAgentReport> {
  const { plant = ['tracefork', 'values'], runs = 8, tools = 'tape', seed = 1, limits = { calls: 2000 } } = options
  const budget = openBudget(limits)
  const source: Source = {
    load: () => Promise.resolve(options.agent),
    oracle: createOracle({ by: 'function', name: 'the oracle', judge: options.oracle }),
    budget,
    tools,
    timeoutMs: options.timeoutMs ?? 10_000,
    ...(options.allow !== undefined && { allow: options.allow }),
  }
  const { recorded, positions } = await forkSourceOf(tape, source)
  if (recorded !== 'ok') throw notPassing(tape, recorded)
  const places = placesIn(positions, tools)
  const possible = possibleFaults(tape, kindsNamed(plant)).filter(({ step }) => places.has(step))
  const made: OwnRun[] = []
  const unjudged: string[] = []
  for (const fault of drawn(possible, seed).slice(0, 4 * runs)) {
    if (made.filter(({ score }) => score !== 'harmless').length >= runs) break
    const run = await plantOne(tape, fault, source, options.forks ?? 100)
    if ('score' in run) made.push(run)
    else unjudged.push(run.because)
  }
  if (made.every(({ score }) => score === 'harmless')) throw nothingPlanted(tape, plant, tools, { made, unjudged })
  return { ...reportOf(made), unjudged: unjudged.length, modelCalls: budget.total.modelCalls }
}

/** Steps a fault can be found in again: what is resampled there has to be another answer. */
function placesIn(positions: readonly PlacedPosition[], tools: 'tape' | 'live'): ReadonlySet<number> {
  return new Set(positions.flatMap(({ isExogenous, steps }) => (isExogenous && tools === 'tape' ? [] : steps)))
}

/** Every possible fault once, in an order that belongs to the seed, its arguments drawn. */
function drawn(possible: readonly Possible[], seed: number): readonly Fault[] {
  return possible
    .map(({ step, kind, ranges }) => ({ step, kind: kind.name, ranges, by: chanceOf(seed, step, kind.name) }))
    .sort((a, b) => a.by - b.by)
    .map(({ by: _, ranges, ...fault }) => ({
      ...fault,
      args: Object.fromEntries(
        Object.entries(ranges).map(([name, range]) => {
          const at = chanceOf(seed, fault.step, fault.kind, name)
          return 'oneOf' in range
            ? [name, range.oneOf[Math.floor(at * range.oneOf.length)] ?? range.oneOf[0]]
            : [name, range.least + Math.floor(at * (range.most - range.least + 1))]
        }),
      ),
    }))
}

/** The result of the run is unknown. */
interface Unjudged {
  readonly because: string
}

async function plantOne(tape: Tape, fault: Fault, source: Source, limit: number): Promise<OwnRun | Unjudged> {
  const branch = await forkTape(
    tape,
    await source.load(),
    {
      keep: fault.step,
      changes: applyFaults(tape, [fault]),
      tail: { from: 'live', tools: source.tools ?? 'tape', budget: source.budget },
      seed: `${fault.kind}@${fault.step}`,
    },
    { signal: AbortSignal.timeout(source.timeoutMs), ...(source.allow !== undefined && { allow: source.allow }) },
  )
  const { grade, because = 'the run cannot be graded' } = await source.oracle.grade({ ...branch, isTimedOut: false })
  const about = { fault, planted: describeFault(tape, fault) }
  if (grade === 'ok') return { ...about, score: 'harmless', named: [], forks: 0 }
  if (grade === 'undefined' || grade === 'ungraded') return { because }
  return { ...about, ...(await blamed(branch, fault, withReference(tape, source), limit)) }
}

/** A run that failed early has not called all its tools: the one that went well knows what they answer. */
function withReference(tape: Tape, source: ForkSourceOptions): ForkSourceOptions {
  return source.tools === 'live' ? source : { ...source, reference: tape }
}

async function blamed(
  { branch }: ForkResult,
  fault: Fault,
  options: ForkSourceOptions,
  limit: number,
): Promise<Pick<OwnRun, 'score' | 'named' | 'forks'>> {
  const source = await forkSourceOf(branch.tape, options)
  const forkBudget = new ForkBudget(source, { limits: { forks: limit } })
  const { verdict } = await blameFailedRun(source, { forkBudget })
  const { forks } = forkBudget.spent.now
  if (verdict.kind === 'never') return { score: 'wrong', named: [], forks }
  if (verdict.kind !== 'confirmed') return { score: 'abstained', named: [], forks }
  const last = verdict.commitments.at(-1)
  const named = source.positions[last?.position ?? -1]?.steps ?? []
  return { score: named.includes(fault.step) ? 'right' : 'wrong', named, forks }
}

function reportOf(runs: readonly OwnRun[]): Omit<OwnAgentReport, 'unjudged' | 'modelCalls'> {
  const count = (score: OwnRun['score']): number => runs.filter((run) => run.score === score).length
  const width = Math.max(...runs.map(({ planted }) => planted.length))
  return {
    runs,
    right: count('right'),
    wrong: count('wrong'),
    abstained: count('abstained'),
    harmless: count('harmless'),
    forks: runs.reduce((sum, { forks }) => sum + forks, 0),
    table: runs
      .map(({ score, planted, named, forks }) => {
        const blamedStep = named.length === 0 ? '' : `  blamed: step ${named.join(', ')}`
        return `${score.padEnd(9)}  ${planted.padEnd(width)}${blamedStep}${forks === 0 ? '' : `  (${forks} forks)`}`
      })
      .join('\n'),
  }
}

function notPassing(tape: Tape, grade: string): HarvestError {
  return new HarvestError('HARVEST_VALIDATE_PASSING', {
    what: 'Cannot inject faults: the recorded run failed',
    where: { tape: tape.header.id, oracle: grade },
    why: 'In a failed run, the effect of an injected fault is unknown.',
    fix: ['use the tape of a good run', 'or check the oracle: it should return true for this run'],
  })
}

function nothingPlanted(
  tape: Tape,
  plant: readonly string[],
  tools: 'tape' | 'live',
  { made, unjudged }: { readonly made: readonly OwnRun[]; readonly unjudged: readonly string[] },
): HarvestError {
  const [because] = unjudged
  return new HarvestError('HARVEST_VALIDATE_PLANT', {
    what: 'No injected fault makes this run fail',
    where: {
      tape: tape.header.id,
      faults: plant.join(', '),
      tools,
      harmless: `${made.length}`,
      unjudged: `${unjudged.length}${because === undefined ? '' : `, the first because: ${neutralLine(because)}`}`,
    },
    why: 'Blame is only scored on failed runs.',
    fix: [
      "plant other faults: plant: ['http', 'values', 'tracefork']",
      ...(tools === 'tape' ? ["if running the tools is safe, inject faults into them as well: tools: 'live'"] : []),
    ],
  })
}
