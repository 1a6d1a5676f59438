import { HarvestError } from '../../errors/index.ts'
import {
  blameFailedRun,
  blameMutations,
  blameRepairs,
  confidenceSequence,
  Governor,
  type MutationBlame,
  type Tally,
  type Verdict,
} from '../../blame/index.ts'
import type { ForkSource } from '../../blame/types.ts'
import { type Asked, type Diagnosis, type Engine, nothing } from './diagnosis.ts'

/** Forks one tape may take for its verdict: the default of `harvest blame`. */
const forkLimit = 400

/** The engine that is validated: the one behind `harvest blame`, with its defaults. */
export const blameEngine: Engine = async (source, asked) => {
  if (asked.asks === 'mutations') return mutationDiagnosis(source, tailOf(asked))
  // A run that went well has no failure to ask about; blame refuses it before anything is spent.
  if (source.recorded === 'ok') return nothing
  try {
    return await runDiagnosis(source, asked)
  } catch (error) {
    // Whoever disagrees with himself is told so, and nothing is said of the run.
    if (HarvestError.is(error, 'HARVEST_ORACLE_FLAKY')) return { ...nothing, said: 'undecidable' }
    throw error
  }
}

function tailOf({ isScripted }: Asked): 'deterministic' | 'noisy' {
  return isScripted ? 'deterministic' : 'noisy'
}

async function runDiagnosis(source: ForkSource, asked: Asked): Promise<Diagnosis> {
  const { hasColumns, sweeps } = asked
  const tail = tailOf(asked)
  const governor = new Governor(source, { limits: { forks: forkLimit } })
  const { verdict, isDeterministic, curve } = await blameFailedRun(source, { governor, sweep: sweeps, tail })
  const { forks, modelCalls } = governor.spent.now
  return {
    ...nothing,
    ...saidBy(verdict),
    ...(hasColumns && (await columnsOf(source, tail))),
    intervals: isDeterministic ? [] : intervalsOf(curve),
    forks,
    modelCalls,
    undefinedForks: curve.reduce((all, arm) => all + arm.undefined + arm.ungraded, 0),
  }
}

/** Forks the other three columns of one tape may take. */
const columnLimit = 4000

async function columnsOf(
  source: ForkSource,
  tail: 'deterministic' | 'noisy',
): Promise<Pick<Diagnosis, 'columns' | 'columnForks'>> {
  const governor = new Governor(source, { limits: { forks: columnLimit } })
  const { necessary, sufficient, repairSet, outcome } = await blameRepairs(source, { governor, tail })
  const set = outcome === 'not_needed' ? [] : repairSet
  const columns = { necessary, sufficient, ...(set !== undefined && { repairSet: set }) }
  return { columns, columnForks: governor.spent.now.forks }
}

/** Exploring all places costs forks at each of them. */
const forksPerPlace = 20

async function mutationDiagnosis(source: ForkSource, tail: 'deterministic' | 'noisy'): Promise<Diagnosis> {
  const limits = { forks: forkLimit + forksPerPlace * source.positions.length }
  const governor = new Governor(source, { limits })
  const { verdict } = await blameMutations(source, { governor, tail })
  const { forks, modelCalls } = governor.spent.now
  return { ...nothing, ...saidOfMutations(verdict), forks, modelCalls }
}

function saidBy(verdict: Verdict): Pick<Diagnosis, 'said' | 'named' | 'ranking'> {
  switch (verdict.kind) {
    case 'confirmed': {
      // The run was lost for good at the last one, so that is the first guess.
      const named = verdict.commitments.map(({ position }) => position).reverse()
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

function saidOfMutations(verdict: MutationBlame['verdict']): Pick<Diagnosis, 'said' | 'named' | 'ranking'> {
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
function intervalsOf(curve: readonly Tally[]): Diagnosis['intervals'] {
  return curve.flatMap(({ ok, failed }, keep) =>
    ok + failed === 0 ? [] : [{ keep, ...confidenceSequence(ok, ok + failed) }],
  )
}
