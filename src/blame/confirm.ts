import { passed } from './curve.ts'
import { confidenceSequence } from '../stats/confidence-sequence.ts'
import type { Arm } from './fork-budget.ts'
import { isHopeless } from './lost-forks.ts'
import { isSavedLate } from './late-arms.ts'
import { type Inquiry, nextAlpha } from './settings.ts'
import { type PairCounts, pairEvidence } from '../stats/pair-evidence.ts'
import type { Commitment, Member, NeverRecoverable } from './verdict.ts'

/**
 * Tests one position with fresh pairs of forks: resampled, and kept. It is confirmed when the evidence that the rates
 * differ by more than half of the minimum effect reaches 1/alpha, and they were seen to differ by at least tau.
 *
 * Evidence of any difference at all would not do: where what a run can become gets less in many small steps, each of them
 * makes one, and one of the steps that are tested looks by luck as if it made a large one.
 *
 * The kinds take turns, so that a model that changes while it is asked changes for both. It may change from one session to the
 * next: a pair counts where both of its forks are of one.
 *
 * @param position - its last one is held against the recorded run itself, which failed ({@link keptArm})
 * @returns `refuted` after as many pairs as allowed, or when the rates clearly differ by less than half of the minimum effect; `far`
 *   when a certificate would take too many more; `stopped` when a limit came first; `undecidable` when too many forks tell nothing
 */
export async function confirmCommitment(
  inquiry: Inquiry,
  position: number,
  alpha: number,
  { note, isFar }: { note(keep: number, isOk: boolean): void; isFar(alpha: number): boolean },
): Promise<Commitment | 'refuted' | 'far' | 'stopped' | 'undecidable'> {
  const { curve, source } = inquiry
  const control = keptArm(source, position)
  const result = await confirmPairs(inquiry, { keep: position }, control, alpha, {
    resampled(arm, draw) {
      if (arm.keep === source.positions.length) return
      const isOk = curve.add(arm.keep, draw)
      if (isOk !== undefined) note(arm.keep, isOk)
    },
    isFar: (evidence) => isFar(Math.min(1, alpha * evidence)),
  })
  if (typeof result === 'string') return result
  return { position, how: 'certified', ...result, alpha }
}

/**
 * Forks that keep a position. With the last one kept, all that is left is the recorded run, which failed: there is nothing
 * to draw, unless the agent draws something of its own behind it. Then that alone may save a run, and it is drawn.
 */
function keptArm({ drawsLast, positions }: Inquiry['source'], position: number): Arm | undefined {
  const isLast = position + 1 === positions.length
  return isLast && drawsLast !== true ? undefined : { keep: position + 1 }
}

/** The pairs of one test. */
interface Pairs {
  readonly resampled: { readonly ok: number; readonly forks: number }
  readonly kept: { readonly ok: number; readonly forks: number }
  readonly difference: number
  readonly evidence: number
  readonly surplus?: number
}

/** Fresh pairs of two kinds of forks; without a second one, every fork is held against a failure. */
export async function confirmPairs(
  inquiry: Inquiry,
  treated: Arm | ((pair: number) => Arm),
  control: Arm | undefined,
  alpha: number,
  hooks: {
    resampled?(arm: Arm, draw: Parameters<Inquiry['curve']['add']>[1]): void
    /** What counts as a hit. Default: the fork ended well. */
    readonly hit?: (isOk: boolean) => boolean
    /** Whether what is left to be shown takes more pairs than it is worth. Default: never. */
    readonly isFar?: (evidence: number) => boolean
  } = {},
): Promise<Pairs | 'refuted' | 'far' | 'stopped' | 'undecidable'> {
  const { forkBudget, tau, maxPairs } = inquiry
  const hit = hooks.hit ?? ((isOk: boolean): boolean => isOk)
  const perRound = Math.max(1, control === undefined ? forkBudget.parallel : Math.floor(forkBudget.parallel / 2))
  let tried = 0
  let pairs = 0
  let made = 0
  let lost = 0
  let wins = 0
  let losses = 0
  let first = 0
  let second = 0
  let confirmed: Pairs | undefined
  let surplus = 0
  while (pairs < maxPairs && confirmed === undefined) {
    // At the end no more are under way than it takes when all of them say the same.
    const least = pairsLeft({ wins, losses, ties: pairs - wins - losses }, tau / 2, alpha, perRound)
    const arms: Arm[] = []
    for (let i = 0; i < least; i++) {
      arms.push(typeof treated === 'function' ? treated(tried + i) : treated)
      if (control !== undefined) arms.push(control)
    }
    const draws = await forkBudget.draw(arms)
    arms.forEach((arm, i) => {
      const draw = draws[i]
      if (draw !== undefined) hooks.resampled?.(arm, draw)
    })
    const each = control === undefined ? 1 : 2
    for (let i = 0; i < least; i++) {
      const a = draws[i * each]
      const b = control === undefined ? undefined : draws[i * each + 1]
      if (a === undefined || (control !== undefined && b === undefined)) continue
      tried++
      if (confirmed !== undefined) {
        surplus += each
        continue
      }
      if (b !== undefined && a.session !== b.session) continue
      const one = passed(a.grade)
      const other = b === undefined ? !hit(true) : passed(b.grade)
      made += b === undefined ? 1 : 2
      lost += Number(one === undefined) + Number(other === undefined)
      if (one === undefined || other === undefined) continue
      pairs++
      const isFirst = hit(one)
      const isSecond = b === undefined ? false : hit(other)
      first += Number(isFirst)
      second += Number(isSecond)
      if (isFirst && !isSecond) wins++
      if (!isFirst && isSecond) losses++
      const evidence = pairEvidence({ wins, losses, ties: pairs - wins - losses }, tau / 2)
      const difference = (first - second) / pairs
      if (evidence >= 1 / alpha && difference >= tau) {
        confirmed = {
          resampled: { ok: first, forks: pairs },
          kept: { ok: second, forks: control === undefined ? 0 : pairs },
          difference,
          evidence,
        }
      }
    }
    inquiry.report('confirm')
    if (confirmed !== undefined) break
    if (isHopeless(lost, made)) return 'undecidable'
    if (forkBudget.stopped !== undefined) return 'stopped'
    if (pairs >= 12 && (first - second) / pairs < tau / 2) return 'refuted'
    const evidence = pairEvidence({ wins, losses, ties: pairs - wins - losses }, tau / 2)
    if (hooks.isFar?.(evidence) === true) return 'far'
  }
  if (confirmed === undefined) return 'refuted'
  return surplus === 0 ? confirmed : { ...confirmed, surplus }
}

/** How many more pairs it takes to reach 1/alpha if the first of each passes alone; no more than `most`. */
function pairsLeft({ wins, losses, ties }: PairCounts, margin: number, alpha: number, most: number): number {
  let more = 1
  while (more < most && pairEvidence({ wins: wins + more, losses, ties }, margin) < 1 / alpha) more++
  return more
}

/**
 * Tests that no position decided: forks that resample everything, until their rate of ending well is certainly below tau.
 *
 * All forks of that kind count, the first ones too: a confidence sequence may be looked at any time. One that cannot be graded
 * may have ended well: those that leave their tape are the ones that decide otherwise.
 */
export async function confirmNever(
  inquiry: Inquiry,
  alpha: number,
  note: (keep: number, isOk: boolean) => void,
): Promise<NeverRecoverable | 'refuted' | 'stopped' | 'undecidable'> {
  const { curve, forkBudget, tau } = inquiry
  const arm = curve.at(0)
  for (;;) {
    if (curve.undecidable) return 'undecidable'
    const { ok, graded, lost } = arm
    const [most, all] = [ok + lost, graded + lost]
    const rate = confidenceSequence(most, all, alpha)
    if (rate.high < tau) {
      if (await isSavedLate(inquiry, note)) return 'refuted'
      if (forkBudget.stopped !== undefined) return 'stopped'
      return { kind: 'never', how: 'certified', ok, forks: graded, ...(lost === 0 ? {} : { lost }), rate, alpha }
    }
    const isAbove = all > 20 && most / all > tau
    if (rate.low > tau / 2 || isAbove || all > 80) return 'refuted'
    if (forkBudget.stopped !== undefined) return 'stopped'
    const needed = failuresNeeded(most, all, tau, alpha)
    const arms = new Array<Arm>(Math.max(1, Math.min(forkBudget.parallel, needed))).fill({ keep: 0 })
    for (const draw of await forkBudget.draw(arms)) {
      if (draw === undefined) continue
      const isOk = curve.add(0, draw)
      if (isOk !== undefined) note(0, isOk)
    }
    inquiry.report('confirm')
  }
}

/** How many more forks in a row have to fail until the rate is certainly below tau. */
function failuresNeeded(ok: number, graded: number, tau: number, alpha: number): number {
  let more = 1
  while (more < 100 && confidenceSequence(ok, graded + more, alpha).high >= tau) more++
  return more
}

/** The steps of a confirmed block, each resampled alone against the block kept; the error of one test is shared among them. */
export async function confirmMembers(inquiry: Inquiry, position: number): Promise<Member[] | undefined> {
  const { source } = inquiry
  const place = source.positions[position]
  const steps = place?.resampled ?? place?.steps ?? []
  if (steps.length < 2 || source.splits === undefined) return undefined
  const alpha = nextAlpha(inquiry)
  const control = keptArm(source, position)
  const members: Member[] = []
  for (const step of steps) {
    const counts = { one: { ok: 0, forks: 0 }, kept: { ok: 0, forks: 0 } }
    const result = await confirmPairs(inquiry, { keep: position, only: [step] }, control, alpha / steps.length, {
      resampled(arm, draw) {
        const isOk = passed(draw.grade)
        const count = arm.only === undefined ? counts.kept : counts.one
        if (isOk === undefined) return
        count.forks++
        count.ok += Number(isOk)
      },
    })
    if (typeof result === 'string') {
      members.push({ step, resampled: counts.one, kept: counts.kept, isConfirmed: false })
      if (result === 'stopped') break
    } else {
      members.push({
        step,
        resampled: result.resampled,
        kept: result.kept,
        isConfirmed: true,
        evidence: result.evidence,
      })
    }
  }
  return members
}
