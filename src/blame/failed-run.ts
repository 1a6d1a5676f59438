import { HarvestError } from '../errors/index.ts'
import { confirmCommitment, confirmMembers, confirmNever } from './confirm.ts'
import { passed, type Tally } from './curve.ts'
import { armOf, poolArms } from './arms.ts'
import { blameExactly } from './exact.ts'
import { DropPosterior } from './posterior.ts'
import { isRecoverable, recoversAt } from './recovery.ts'
import { forksToConfirm, isTooFar, stillNeeded } from './still-needed.ts'
import { type BlameOptions, deltaLeft, type Inquiry, nextAlpha, openInquiry } from './settings.ts'
import type { ForkSource } from './types.ts'
import type { Commitment, Undecided, BlameVerdict } from './verdict.ts'

/** What was found out about a failed run. */
export interface FailedRunBlame {
  readonly verdict: BlameVerdict
  /** A script answered what was resampled. */
  readonly isDeterministic: boolean
  /** For every number of kept positions, from 0: the result of the forks; none where nothing is resampled. */
  readonly curve: readonly Tally[]
  /** How often what is asked about the same run from here on may be wrong: what the tests left of delta. */
  readonly deltaLeft: number
}

/**
 * Finds the position of a failed run at which it was lost: resampled, runs end well; kept, they fail.
 *
 * A posterior over the deciding position says which forks tell most for their price; when it is sure, fresh pairs of forks
 * test the position it names, and only they decide what is claimed. All claims of a run together are false at most delta
 * of the time, for forks that are independent draws of one agent. If the run could still recover behind the position
 * found, the search goes on behind it. With a deterministic tail it is plain bisection, one fork per kind.
 *
 * Positions at which nothing is resampled are not among its answers ({@link poolArms}). Without any other the run is the
 * recorded one no matter what is resampled, and that no step decided is exact.
 *
 * @throws HarvestError HARVEST_BLAME_NOT_FAILED when the recorded run did not fail, HARVEST_BLAME_OPTION,
 *   HARVEST_BLAME_NO_STEPS, HARVEST_BLAME_PRICE
 */
export async function blameFailedRun(source: ForkSource, options: BlameOptions = {}): Promise<FailedRunBlame> {
  if (passed(source.recorded) !== false) throw notFailed(source)
  const all = openInquiry(source, options)
  if (armOf(source, 0) === source.positions.length) {
    const verdict: BlameVerdict = { kind: 'never', how: 'exact', ok: 0, forks: 0 }
    return { verdict, isDeterministic: true, curve: all.curve.arms.map((arm) => arm.tally), deltaLeft: all.delta }
  }
  const pooled = poolArms(source, all.forkBudget)
  const { at } = pooled
  const inquiry = openInquiry(pooled.source, {
    ...options,
    forkBudget: pooled.forks,
    onProgress: ({ range, ...rest }) =>
      options.onProgress?.({
        ...rest,
        ...(range === undefined ? {} : { range: { from: at(range.from), to: at(range.to) } }),
      }),
  })
  const isDeterministic = inquiry.tail === 'deterministic'
  const searched = isDeterministic ? await blameExactly(inquiry) : await search(inquiry, 0)
  const { curve } = inquiry
  const isStopped = searched.kind === 'unresolved' && inquiry.forkBudget.stopped !== undefined
  const lost = curve.undecided ?? (isStopped ? curve.undecidedByLimit : undefined)
  const verdict = isDeterministic ? searched : (lost ?? searched)
  return {
    verdict: pooled.placed(verdict),
    isDeterministic,
    curve: pooled.spread(inquiry.curve.arms.map((arm) => arm.tally)),
    deltaLeft: deltaLeft(inquiry),
  }
}

/** A position this likely is worth a test. It decides about forks alone: what is claimed, the test decides. */
const sureEnough = 0.85

/** Locates and confirms from this position on. */
async function search(inquiry: Inquiry, from: number): Promise<BlameVerdict> {
  const { curve, forkBudget, source } = inquiry
  const posterior = new DropPosterior(from, source.positions.length)
  const refuted = new Set<number | 'never'>()
  const end = (why: Parameters<typeof undecided>[2]): Undecided => undecided(inquiry, { posterior, refuted }, why)
  curve.arms.forEach((arm, keep) => posterior.add(keep, arm.ok, arm.failed))
  // Behind a position that was confirmed the run is known to be recoverable.
  if (from > 0) posterior.exclude('never')
  const note = (keep: number, isOk: boolean): void => posterior.add(keep, Number(isOk), Number(!isOk))
  const draw = async (keeps: readonly number[]): Promise<void> => {
    const draws = await forkBudget.draw(keeps.map((keep) => ({ keep })))
    draws.forEach((made, i) => {
      const keep = keeps[i] ?? 0
      const isOk = made === undefined ? undefined : curve.add(keep, made)
      if (isOk !== undefined) note(keep, isOk)
    })
    inquiry.report('locate', posterior.range(0.9))
  }
  await draw(spread(from, source.positions.length, 6).filter((keep) => curve.at(keep).graded === 0))
  const root = pricesOf(source)
  for (;;) {
    const undecidable = curve.undecidable
    if (undecidable) return undecidable
    const { what, chance } = posterior.best()
    if (forkBudget.stopped !== undefined) return end('unresolved')
    if (isTooFar(inquiry, posterior, stillNeeded(inquiry, posterior))) return end('smallEffect')
    if (chance < sureEnough) {
      const keeps = chooseForks(inquiry, posterior, root)
      if (keeps === undefined) return lostPairs(inquiry, what === 'never' ? 0 : what)
      await draw(keeps)
      continue
    }
    if (inquiry.tries >= inquiry.maxTries) return end('diffuse')
    const alpha = nextAlpha(inquiry)
    const result =
      what === 'never'
        ? await confirmNever(inquiry, alpha, note)
        : await confirmCommitment(inquiry, what, alpha, {
            note,
            isFar: (left) => isTooFar(inquiry, posterior, forksToConfirm(inquiry, posterior, what, left)),
          })
    if (result === 'stopped') return end('unresolved')
    if (result === 'far') return end('smallEffect')
    if (result === 'undecidable') return curve.undecidable ?? lostPairs(inquiry, what === 'never' ? 0 : what)
    if (result === 'refuted') {
      refuted.add(what)
      if (inquiry.tries >= inquiry.maxTries || posterior.isLastAnswer) return end('diffuse')
      // The pairs count for the posterior too. Where it still names the same, its model does not fit, and it would for ever.
      const again = posterior.best()
      if (again.what === what && again.chance >= sureEnough) posterior.exclude(what)
      continue
    }
    if ('kind' in result) return result
    return behind(inquiry, await withMembers(inquiry, result))
  }
}

/** Looks whether the run could still be saved behind a commitment, and if so, where it was lost then. */
async function behind(inquiry: Inquiry, commitment: Commitment): Promise<BlameVerdict> {
  const { kept, position } = commitment
  const next = position + 1
  const from = isRecoverable(inquiry, kept.ok, kept.forks) ? next : await recoversAt(inquiry, commitment)
  if (from === undefined) return { kind: 'confirmed', commitments: [commitment] }
  // Behind the last one only what the agent draws of its own can save it.
  const later = from < inquiry.source.positions.length ? await search(inquiry, from) : undefined
  return later?.kind === 'confirmed'
    ? { ...later, commitments: [commitment, ...later.commitments] }
    : { kind: 'confirmed', commitments: [commitment], isStillRecoverable: true }
}

async function withMembers(inquiry: Inquiry, commitment: Commitment): Promise<Commitment> {
  const members = await confirmMembers(inquiry, commitment.position)
  return members === undefined ? commitment : { ...commitment, members }
}

/**
 * The forks of the next round: those that tell most for the root of their price. `undefined` when those that could tell
 * more never tell anything.
 */
function chooseForks(
  { curve, forkBudget }: Inquiry,
  posterior: DropPosterior,
  rootPrices: readonly number[],
): number[] | undefined {
  // None of a round knows what the others say, so a round has half as many as there may be.
  const size = Math.ceil(forkBudget.parallel / 3)
  const candidates = posterior.candidates()
  // A fork that never tells anything would be asked for again and again, for nothing is learnt from it.
  const telling = candidates.filter((keep) => curve.at(keep).lost < 2 || curve.at(keep).graded > 0)
  if (telling.length < candidates.length && !telling.some((keep) => posterior.gain(keep) > 1e-3)) return undefined
  const scored = telling
    .map((keep) => ({ keep, score: posterior.gain(keep) / (rootPrices[keep] ?? 1) }))
    .sort((a, b) => b.score - a.score || a.keep - b.keep)
  // Half as many kinds as forks: the best are drawn twice, and the rest hedges, for none of them knows of the others.
  const kinds = scored.slice(0, Math.max(1, Math.ceil(size / 2)))
  return Array.from({ length: size }, (_, i) => kinds[i % kinds.length]?.keep ?? posterior.from)
}

/**
 * The square root of what each fork is expected to cost: in dollars, or where unknown, in model calls.
 *
 * @see Kanarios, Zhang and Ying, Cost Aware Best Arm Identification (2024), for the root
 */
function pricesOf(source: ForkSource): number[] {
  const expected = source.positions.map((_, keep) => source.expect({ keep, seed: 0 }))
  const isPriced = expected.every(({ costUsd }) => costUsd !== undefined && costUsd > 0)
  const prices = expected.map(({ costUsd, modelCalls }) => (isPriced ? (costUsd ?? 0) : modelCalls))
  // A fork without any model call is not for nothing.
  const least = Math.max(...prices, 0) / prices.length || 1
  return prices.map((price) => Math.sqrt(price + least))
}

/** So many positions, the first and others as far apart as possible. */
export function spread(from: number, to: number, count: number): number[] {
  const size = Math.min(count, to - from)
  return Array.from({ length: size }, (_, i) => from + Math.floor((i * (to - from)) / size))
}

function undecided(
  inquiry: Inquiry,
  { posterior, refuted }: { readonly posterior: DropPosterior; readonly refuted: ReadonlySet<number | 'never'> },
  why: 'diffuse' | 'unresolved' | 'smallEffect',
): Undecided {
  const { what, chance } = posterior.best()
  // That a position takes less than a certificate needs is no evidence against it: where the drop lies, all forks say.
  const seen = refuted.size === 0 ? 'never' : posterior.unrefuted().best().what
  const stoppedBy = why === 'smallEffect' ? why : inquiry.forkBudget.stopped
  const forksNeeded = why === 'diffuse' ? undefined : stillNeeded(inquiry, posterior)
  return {
    kind: why === 'diffuse' ? why : 'unresolved',
    range: posterior.range(0.9),
    never: posterior.chance('never'),
    ...(what === 'never' ? {} : { likeliest: { position: what, chance } }),
    ...(seen !== 'never' && refuted.has(seen) ? { smaller: seen } : {}),
    ...(forksNeeded === undefined ? {} : { forksNeeded }),
    ...(stoppedBy === undefined ? {} : { stoppedBy }),
  }
}

function lostPairs(inquiry: Inquiry, position: number): BlameVerdict {
  const arms = [position, position + 1].filter((keep) => keep < inquiry.curve.arms.length)
  const tallies = arms.map((keep) => inquiry.curve.at(keep))
  const sum = (count: (tally: Tally) => number): number => tallies.reduce((all, tally) => all + count(tally), 0)
  return {
    kind: 'undecidable',
    forks: sum((tally) => tally.ok + tally.failed + tally.undefined + tally.ungraded),
    undefined: sum((tally) => tally.undefined),
    ungraded: sum((tally) => tally.ungraded),
    positions: arms,
  }
}

function notFailed(source: ForkSource): HarvestError {
  return new HarvestError('HARVEST_BLAME_NOT_FAILED', {
    what: 'Nothing to blame: the oracle does not grade the recorded run `bad`',
    where: { graded: source.recorded },
    why: 'Blame looks for the step that, resampled, would have saved a failed run.',
    fix: [
      'describe a good end with --ok, so that the recorded run is graded `bad`',
      "or ask which step a good run depends on: npx vitest-harvest blame '<id>' --mutate",
    ],
  })
}
