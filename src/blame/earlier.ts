import { armOf } from './arms.ts'
import { passed } from './curve.ts'
import { blameFailedRun, type FailedRunBlame } from './failed-run.ts'
import type { Forks } from './fork-budget.ts'
import type { BlameOptions } from './settings.ts'
import type { ForkSource } from './types.ts'
import type { Commitment } from './verdict.ts'

/** An earlier position that was necessary too: with later ones as recorded, the run was lost here. */
export interface NecessaryEarlier extends Commitment {
  /** The later positions that answer as recorded in all of its forks. */
  readonly held: readonly number[]
}

export interface EarlierOptions extends BlameOptions {
  readonly forkBudget: Forks
}

/** Forks that may be made for one earlier position. */
const mostForks = 160

/** Forks of a model that are made before it is looked for: fewer than this many in a row ending badly say little. */
export const glances = 5

/**
 * Looks for the earlier causes of a run that several decisions had to spoil together.
 *
 * The curve falls at the last of them alone, for whoever resamples an earlier one resamples that one, too. So that one is
 * held as recorded, and what lies before it is asked the same question again: kept, it fails; resampled, does it end well?
 * What was found is held as well, and so on. Where no fork ends well with everything before resampled, nothing earlier was
 * necessary, and a few forks show it.
 *
 * @param found - the verdict, and the error that is left of all that may be wrong in one run
 * @returns in causal order; empty where none was shown
 */
export async function blameEarlier(
  source: ForkSource,
  { verdict, deltaLeft, isDeterministic }: FailedRunBlame,
  options: EarlierOptions,
): Promise<readonly NecessaryEarlier[]> {
  const last = verdict.kind === 'confirmed' ? verdict.commitments.at(-1) : undefined
  const found: NecessaryEarlier[] = []
  const held = last === undefined ? [] : [last.position]
  let delta = deltaLeft
  for (;;) {
    const [first = 0] = held
    const before = sourceBefore(source, first)
    const keep = armOf(before, 0)
    if (keep === first) return found
    const forkBudget = holding(options.forkBudget, [...held])
    const draws = await forkBudget.draw(new Array<{ keep: number }>(isDeterministic ? 1 : glances).fill({ keep }))
    if (!draws.some((draw) => draw !== undefined && passed(draw.grade) === true)) return found
    const earlier = await blameFailedRun(before, { ...options, forkBudget, delta })
    const one = earlier.verdict.kind === 'confirmed' ? earlier.verdict.commitments.at(-1) : undefined
    if (one === undefined) return found
    found.unshift({ ...one, held: [...held] })
    held.unshift(one.position)
    delta = earlier.deltaLeft
  }
}

/** The run up to a position. Behind it something is resampled even where all of these are kept. */
function sourceBefore({ splits: _splits, ...source }: ForkSource, end: number): ForkSource {
  return { ...source, positions: source.positions.slice(0, end), drawsLast: true }
}

/** The forks of a run in which these positions answer as recorded. */
function holding(forks: Forks, pinned: readonly number[]): Forks {
  let made = 0
  return {
    draw(arms) {
      const some = arms.slice(0, Math.max(0, mostForks - made))
      made += some.length
      return forks.draw(some.map((arm) => ({ ...arm, pinned })))
    },
    get parallel() {
      return forks.parallel
    },
    get isOpenEnded() {
      return forks.isOpenEnded
    },
    get stopped() {
      return forks.stopped ?? (made >= mostForks ? 'forks' : undefined)
    },
    get spent() {
      return forks.spent
    },
  }
}
