import { passed } from './curve.ts'
import type { Inquiry } from './settings.ts'
import type { ForkDraw } from './types.ts'
import type { Commitment, Member, BlameVerdict } from './verdict.ts'

/**
 * Finds the last position at which a run with a deterministic tail was lost: the last one where the fork that resamples it
 * ends well and the fork that keeps it fails. Exact: no interval.
 *
 * Bisection, in at most ⌈log₂ n⌉ + 4 forks while no recovery is seen. A run may recover and fail again; forks that are left of that number look
 * for it behind the position found, and `sweep` looks everywhere. Each recovery seen is bisected again, and the verdict says
 * how many positions were not looked at.
 *
 * Only for tails that a script answers: a model may answer otherwise, however often it answered alike.
 */
export async function blameExactly(inquiry: Inquiry): Promise<BlameVerdict> {
  const { source } = inquiry
  const count = source.positions.length
  const seen = new Seen(inquiry)
  const allowed = Math.ceil(Math.log2(count)) + 4
  const commitments: Commitment[] = []
  let from: number | undefined = -1
  while (from !== undefined) {
    let [low, high]: [number, number] = [from, count]
    while (high - low > 1) {
      const middle = await seen.nearMiddle(low, high)
      if (middle === undefined) break
      if (middle.isOk) low = middle.keep
      else high = middle.keep
    }
    if (high - low > 1 || seen.isStopped) return seen.giveUp(Math.max(0, low), high)
    if (low === -1) {
      // Bisection saw no run end well; one may have, between those it saw.
      from = await seen.firstOk(0, inquiry.sweep ? Infinity : 2)
      continue
    }
    commitments.push({
      position: low,
      how: 'exact',
      resampled: { ok: 1, forks: 1 },
      kept: { ok: 0, forks: high === count ? 0 : 1 },
      difference: 1,
      ...(await membersOf(inquiry, low)),
    })
    from = await seen.firstOk(low + 1, inquiry.sweep ? Infinity : allowed - seen.forks)
    if (seen.isStopped) break
  }
  if (seen.lost > 0 && seen.lost > seen.forks / 5) return seen.giveUp(0, count)
  const last = commitments.at(-1)
  if (last !== undefined) return { kind: 'confirmed', commitments, unseen: seen.unseen(last.position + 1) }
  if (seen.isStopped) return seen.giveUp(0, count)
  return { kind: 'never', how: 'exact', ok: 0, forks: seen.forks, unseen: seen.unseen(0) }
}

/** The number between two that bisection looks at. */
function middleOf(low: number, high: number): number {
  return Math.floor((low + high) / 2)
}

/** One fork per number of kept positions. */
class Seen {
  forks = 0
  lost = 0
  isStopped = false
  readonly #inquiry: Inquiry
  readonly #draws = new Map<number, ForkDraw>()

  constructor(inquiry: Inquiry) {
    this.#inquiry = inquiry
  }

  /** Whether the fork ended well; `undefined` when it tells nothing or was not made. */
  async look(keep: number): Promise<boolean | undefined> {
    const known = this.#draws.get(keep)
    if (known !== undefined) return passed(known.grade)
    const draw = await this.#draw(keep)
    if (draw === undefined) return undefined
    this.#draws.set(keep, draw)
    return passed(draw.grade)
  }

  /** The fork nearest to the middle between two that tells something. */
  async nearMiddle(low: number, high: number): Promise<{ readonly keep: number; readonly isOk: boolean } | undefined> {
    const middle = middleOf(low, high)
    for (let away = 0; away < high - low; away++) {
      for (const keep of away === 0 ? [middle] : [middle - away, middle + away]) {
        if (keep <= low || keep >= high) continue
        const isOk = await this.look(keep)
        if (isOk !== undefined) return { keep, isOk }
        if (this.isStopped) return undefined
      }
    }
    return undefined
  }

  /** A number of kept positions from this on at which the run ends well, looking in the widest gaps first. */
  async firstOk(from: number, atMost: number): Promise<number | undefined> {
    for (let looks = 0; looks < atMost; looks++) {
      const keep = this.#widestGap(from)
      if (keep === undefined || this.isStopped) return undefined
      if ((await this.look(keep)) === true) return keep
    }
    return undefined
  }

  /** How many numbers of kept positions from this on no fork looked at. */
  unseen(from: number): number {
    let count = 0
    for (let keep = from; keep < this.#inquiry.curve.arms.length; keep++) {
      if (passed(this.#draws.get(keep)?.grade ?? 'ungraded') === undefined) count++
    }
    return count
  }

  giveUp(from: number, to: number): BlameVerdict {
    const { curve, forkBudget } = this.#inquiry
    if (this.isStopped) {
      const stop = forkBudget.stopped
      const forksNeeded = Math.ceil(Math.log2(Math.max(2, to - from)))
      const range = { from, to: to - 1 }
      return { kind: 'unresolved', range, never: 0, forksNeeded, ...(stop === undefined ? {} : { stoppedBy: stop }) }
    }
    const sum = (count: (arm: (typeof curve.arms)[number]) => number): number =>
      curve.arms.reduce((all, arm) => all + count(arm), 0)
    const positions = curve.arms.flatMap((arm, keep) => (arm.lost > 0 ? [keep] : []))
    return {
      kind: 'undecidable',
      forks: this.forks,
      undefined: sum((arm) => arm.undefined),
      ungraded: sum((arm) => arm.ungraded),
      positions,
    }
  }

  async #draw(keep: number): Promise<ForkDraw | undefined> {
    const { curve, forkBudget } = this.#inquiry
    const [draw] = await forkBudget.draw([{ keep }])
    if (draw === undefined) {
      this.isStopped = true
      return undefined
    }
    this.forks++
    if (curve.add(keep, draw) === undefined) this.lost++
    this.#inquiry.report('locate')
    return draw
  }

  #widestGap(from: number): number | undefined {
    const count = this.#inquiry.curve.arms.length
    let best: number | undefined
    let widest = 0
    let start = from
    for (let keep = from; keep <= count; keep++) {
      const isKnown = keep === count || this.#draws.has(keep)
      if (!isKnown) continue
      if (keep - start > widest) {
        widest = keep - start
        best = Math.floor((start + keep) / 2)
      }
      start = keep + 1
    }
    return best
  }
}

/** The steps of a block, one fork each that resamples only this one. */
async function membersOf(inquiry: Inquiry, position: number): Promise<{ readonly members?: Member[] }> {
  const { forkBudget, source } = inquiry
  const place = source.positions[position]
  const steps = place?.resampled ?? place?.steps ?? []
  if (steps.length < 2 || source.splits === undefined) return {}
  const draws = await forkBudget.draw(steps.map((step) => ({ keep: position, only: [step] })))
  return {
    members: steps.map((step, i) => {
      const isOk = passed(draws[i]?.grade ?? 'ungraded')
      const resampled = { ok: Number(isOk === true), forks: Number(isOk !== undefined) }
      return { step, resampled, kept: { ok: 0, forks: 1 }, isConfirmed: isOk === true }
    }),
  }
}
