import { HarvestError, neutralLine } from '../errors/index.ts'
import { firstNames } from '../errors/words.ts'
import type { OpenedLedger } from './fork-cache.ts'
import type { RealForks } from './fork-source.ts'

/**
 * Forks that are counted together with those of a ledger: the same models answer both. Which models answer is known by the first
 * fork that is made: where it is another one, those of the ledger do not count in the next session.
 *
 * A draw throws HARVEST_CROSS_VERSION then.
 */
export function answeredAlike<S extends Pick<RealForks, 'draw' | 'models'>>(
  source: S,
  forkCache: Pick<OpenedLedger, 'entries' | 'restart'> | undefined,
): S {
  const then = new Set(forkCache?.entries.flatMap(({ draw }) => draw.models ?? []))
  if (forkCache === undefined || then.size === 0) return source
  const isOfTape = [...then].every((model) => source.models.has(model))
  const known = isOfTape ? new Set([...then, ...source.models]) : then
  let isOther = false
  return {
    ...source,
    async draw(spec, signal) {
      const draw = await source.draw(spec, signal)
      const now = draw.models?.find((model) => !known.has(model))
      if (now === undefined) return draw
      if (!isOther) forkCache.restart()
      isOther = true
      throw new HarvestError('HARVEST_CROSS_VERSION', {
        what: 'Other models answered the cached forks',
        where: { forks: `${forkCache.entries.length}`, before: namesOf([...then].sort()), now: namesOf([now]) },
        why: 'A changed outcome could be caused by the new model instead of the resampled step. From now on the cached forks do not count.',
        fix: ['to go on without them (they stay in the file): the same command'],
      })
    },
  }
}

function namesOf(models: readonly string[]): string {
  return neutralLine(firstNames(models), 200)
}
