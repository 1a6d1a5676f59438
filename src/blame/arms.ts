import type { Tally } from './curve.ts'
import type { Forks } from './fork-budget.ts'
import type { Arm } from './fork-budget.ts'
import type { ForkSource, Position } from './types.ts'
import type { BlameVerdict } from './verdict.ts'

/**
 * The positions of a run at which something is resampled at all, as a run of its own.
 *
 * A tool answered from the tape answers alike whether it is kept or not: forks that keep it and forks that stop before it
 * are the same experiment. Distinguished, the same thing would be measured twice, and by chance come out twice differently.
 */
export interface Arms {
  readonly source: ForkSource
  readonly forks: Forks
  /** A position of the whole run. */
  at(position: number): number
  /** The verdict, in positions of the whole run. */
  placed(verdict: BlameVerdict): BlameVerdict
  /** One tally per position of the whole run; those where nothing is resampled have no forks. */
  spread(curve: readonly Tally[]): readonly Tally[]
}

/**
 * The number of kept positions that stands for this one: the next position that is resampled, or all of them, which is the
 * recorded run.
 */
export function armOf({ positions }: Pick<ForkSource, 'positions'>, keep: number): number {
  const next = positions.findIndex((position, at) => at >= keep && isResampled(position))
  return next < 0 ? positions.length : next
}

/** Whether anything of a position is another answer when it is not kept. */
export function isResampled({ resampled }: { readonly resampled?: Position['resampled'] | undefined }): boolean {
  return resampled === undefined || resampled.length > 0
}

/** Takes the positions together that are one experiment. */
export function poolArms(source: ForkSource, forks: Forks): Arms {
  const places = source.positions.flatMap((position, at) => (isResampled(position) ? [at] : []))
  const count = source.positions.length
  if (places.length === count)
    return { source, forks, at: (one) => one, placed: (verdict) => verdict, spread: (curve) => curve }
  const at = (position: number): number => places[position] ?? count
  const whole = <A extends Arm>(arm: A): A => ({ ...arm, keep: at(arm.keep) })
  return {
    source: {
      ...source,
      positions: places.flatMap((place) => source.positions[place] ?? []),
      expect: (spec) => source.expect(whole(spec)),
      draw: (spec, signal) => source.draw(whole(spec), signal),
    },
    forks: {
      draw: (arms) => forks.draw(arms.map(whole)),
      get parallel() {
        return forks.parallel
      },
      get isOpenEnded() {
        return forks.isOpenEnded
      },
      get stopped() {
        return forks.stopped
      },
      get spent() {
        return forks.spent
      },
    },
    at,
    placed: (verdict) => placedAt(verdict, at),
    spread: (curve) => source.positions.map((_, place) => curve[places.indexOf(place)] ?? noForks),
  }
}

const noForks: Tally = { ok: 0, failed: 0, undefined: 0, ungraded: 0, distinct: 0 }

function placedAt(verdict: BlameVerdict, at: (position: number) => number): BlameVerdict {
  switch (verdict.kind) {
    case 'confirmed': {
      const commitments = verdict.commitments.map((one) => ({ ...one, position: at(one.position) }))
      return { ...verdict, commitments }
    }
    case 'diffuse':
    case 'unresolved': {
      const { likeliest, range } = verdict
      return {
        ...verdict,
        range: { from: at(range.from), to: at(range.to) },
        ...(likeliest === undefined ? {} : { likeliest: { ...likeliest, position: at(likeliest.position) } }),
      }
    }
    case 'undecidable':
      return { ...verdict, positions: verdict.positions.map(at) }
    case 'unsure':
      return { ...verdict, positions: verdict.positions.map(at) }
    case 'never':
      return verdict
  }
}
