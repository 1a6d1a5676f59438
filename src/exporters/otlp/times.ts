import type { Moment, Tape } from '../../tape/index.ts'
import { datable, startOf } from '../facts.ts'

/** Epoch nanoseconds of a moment, as OTLP/JSON writes them. */
export type Clock = (moment: Moment) => string

/**
 * The clock of a tape's spans.
 *
 * Moments of a tape are whole microseconds, and those of one burst are the same one. So that no reader takes for
 * simultaneous what came one after the other, moments of a burst are a nanosecond apart, in their order.
 */
export function clockOf(tape: Pick<Tape, 'header'>, moments: Iterable<Moment>): Clock {
  const start = BigInt(startOf(tape)) * million
  const bursts = Map.groupBy(moments, ([, at]) => nanos(at))
  const ranks = new Map(
    [...bursts.values()].flatMap((burst) =>
      burst
        .map(([n]) => n)
        .sort((a, b) => a - b)
        // A burst of a thousand would reach into the next microsecond.
        .map((n, rank) => [n, BigInt(Math.min(rank, 999))] as const),
    ),
  )
  return ([n, at]) => inRange(start + nanos(at) + (ranks.get(n) ?? 0n)).toString()
}

const million = 1_000_000n

/** The protocol has 64 bits, and no time before 1970. */
function inRange(time: bigint): bigint {
  const last = 2n ** 64n - 1n
  return time < 0n ? 0n : time > last ? last : time
}

/** Milliseconds with at most three digits behind the point, so that the nanoseconds are whole. */
function nanos(ms: number): bigint {
  return BigInt(Math.round(datable(ms) * 1000)) * 1000n
}
