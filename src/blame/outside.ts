import { HarvestError } from '../errors/index.ts'
import type { ForkSource } from './types.ts'

/**
 * The positions whose answers come from outside the agent and its model.
 *
 * @throws HarvestError `HARVEST_BLAME_NO_REPAIRS` without such answers, or without good ones
 */
export function requireOutside(source: ForkSource): readonly number[] {
  const outside = source.positions.flatMap(({ isExogenous }, i) => (isExogenous ? [i] : []))
  if (source.repairs === undefined || outside.length === 0) throw noRepairs(source, outside.length)
  return outside
}

function noRepairs(source: ForkSource, suspects: number): HarvestError {
  return new HarvestError('HARVEST_BLAME_NO_REPAIRS', {
    what: 'Nothing to repair in this run',
    where: { 'answers not of models': `${suspects}`, 'good answers': source.repairs ?? 'none' },
    why: 'Repairs replace recorded answers with good ones to find which are necessary or sufficient.',
    // Where nothing came from outside, no other run has an answer for it.
    fix:
      suspects === 0
        ? ['to resample steps instead, and see first what that costs: --dry-run, without --repairs and --reference']
        : ["name a passing run of the same kind: --reference '<tape>'"],
  })
}
