import { HarvestError } from '../../errors/index.ts'
import {
  blameEarlier,
  blameFailedRun,
  blameMutations,
  blameRepairs,
  type FailedRunBlame,
  ForkBudget,
  type MutationBlame,
  type Tally,
  type BlameVerdict,
  withCodeAlone,
} from '../../blame/index.ts'
import { confidenceSequence } from '../../stats/index.ts'
import type { ForkSource } from '../../blame/types.ts'
import { type DiagnosisRequest, type EngineDiagnosis, type Engine, nothing } from './diagnosis.ts'

/** Forks one tape may take while its places are explored. */
const forkLimit = 400

/** The engine that is validated: the one behind `npx vitest-harvest blame`, with its defaults. */
export const blameEngine: Engine = async (source, asked) => {
  if (asked.asks === 'mutations') return mutationDiagnosis(source, tailOf(asked))
  // A run that went well has no failure to ask about; blame refuses it before anything is spent.
  if (source.recorded === 'ok') return nothing
  try {
    return await runDiagnosis(source, asked)
  } catch (error) {
    // A disagreement with oneself is reported, and nothing is said of the run.
    if (HarvestError.is(error, 'HARVEST_ORACLE_FLAKY')) return { ...nothing, said: 'undecidable' }
    throw error
  }
}

function tailOf({ isScripted }: DiagnosisRequest): 'deterministic' | 'noisy' {
  return isScripted ? 'deterministic' : 'noisy'
}

async function runDiagnosis(source: ForkSource, asked: DiagnosisRequest): Promise<EngineDiagnosis> {
  const { hasColumns, sweeps, asksEarlier } = asked
  const tail = tailOf(asked)
  // No limit of its own, as `npx vitest-harvest blame` has none unless one is named.
  const forkBudget = new ForkBudget(source)
  const failed = await blameFailedRun(source, { forkBudget, sweep: sweeps, tail })
  const { isDeterministic, curve } = failed
  const earlier = asksEarlier ? await earlierOf(source, failed, tail) : undefined
  // As the command does it, behind all other forks.
  const { verdict } = await codeAloneOf(source, failed)
  const { forks, modelCalls } = forkBudget.spent.now
  return {
    ...nothing,
    ...saidBy(verdict),
    ...(hasColumns && (await columnsOf(source, tail))),
    ...earlier,
    intervals: isDeterministic ? [] : intervalsOf(curve),
    forks,
    modelCalls,
    undefinedForks: curve.reduce((all, arm) => all + arm.undefined + arm.ungraded, 0),
  }
}

function codeAloneOf({ drawAgain }: ForkSource, { verdict }: FailedRunBlame): Promise<Pick<FailedRunBlame, 'verdict'>> {
  const told = { verdict, steps: [] }
  return drawAgain === undefined ? Promise.resolve(told) : withCodeAlone(told, (at, seed) => drawAgain(at, seed))
}

/** Forks the other three columns of one tape may take. */
const columnLimit = 4000

async function columnsOf(
  source: ForkSource,
  tail: 'deterministic' | 'noisy',
): Promise<Pick<EngineDiagnosis, 'columns' | 'columnForks'>> {
  const forkBudget = new ForkBudget(source, { limits: { forks: columnLimit } })
  const { necessary, sufficient, repairSet, outcome } = await blameRepairs(source, { forkBudget, tail })
  const set = outcome === 'not_needed' ? [] : repairSet
  const columns = { necessary, sufficient, ...(set !== undefined && { repairSet: set }) }
  return { columns, columnForks: forkBudget.spent.now.forks }
}

async function earlierOf(
  source: ForkSource,
  failed: FailedRunBlame,
  tail: 'deterministic' | 'noisy',
): Promise<Pick<EngineDiagnosis, 'columnForks' | 'earlier'>> {
  const forkBudget = new ForkBudget(source)
  const earlier = await blameEarlier(source, failed, { forkBudget, tail })
  return { earlier, columnForks: forkBudget.spent.now.forks }
}

/** Exploring all places costs forks at each of them. */
const forksPerPlace = 20

async function mutationDiagnosis(source: ForkSource, tail: 'deterministic' | 'noisy'): Promise<EngineDiagnosis> {
  const limits = { forks: forkLimit + forksPerPlace * source.positions.length }
  const forkBudget = new ForkBudget(source, { limits })
  const { verdict } = await blameMutations(source, { forkBudget, tail })
  const { forks, modelCalls } = forkBudget.spent.now
  return { ...nothing, ...saidOfMutations(verdict), forks, modelCalls }
}

function saidBy(verdict: BlameVerdict): Pick<EngineDiagnosis, 'said' | 'named' | 'ranking'> {
  switch (verdict.kind) {
    case 'confirmed': {
      // The run was lost for good at the last one, so that is the first guess.
      const shown = verdict.commitments.filter(({ how }) => how !== 'draws')
      if (shown.length === 0) return { said: 'unresolved', named: [], ranking: [] }
      const named = shown.map(({ position }) => position).reverse()
      return { said: 'confirmed', named, ranking: named }
    }
    case 'never':
      return { said: 'never', named: [], ranking: [] }
    case 'diffuse':
    case 'unresolved': {
      const ranking = verdict.likeliest === undefined ? [] : [verdict.likeliest.position]
      return { said: 'unresolved', named: [], ranking }
    }
    case 'undecidable':
    case 'unsure':
      return { said: 'undecidable', named: [], ranking: [] }
  }
}

function saidOfMutations(verdict: MutationBlame['verdict']): Pick<EngineDiagnosis, 'said' | 'named' | 'ranking'> {
  switch (verdict.kind) {
    case 'responsible': {
      const named = verdict.positions.map(({ position }) => position)
      return { said: 'confirmed', named, ranking: named }
    }
    case 'none':
      return { said: 'nothing', named: [], ranking: [] }
    case 'unresolved':
    case 'unshown':
      return { said: 'unresolved', named: [], ranking: [] }
    case 'undecidable':
      return { said: 'undecidable', named: [], ranking: [] }
  }
}

/** Every arm that was drawn at all: blame looked at them after each round. */
function intervalsOf(curve: readonly Tally[]): EngineDiagnosis['intervals'] {
  return curve.flatMap(({ ok, failed }, keep) =>
    ok + failed === 0 ? [] : [{ keep, ...confidenceSequence(ok, ok + failed) }],
  )
}
