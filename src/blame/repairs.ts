import { confidenceSequence } from '../stats/confidence-sequence.ts'
import { passed } from './curve.ts'
import { ddmin } from '../stats/ddmin.ts'
import type { Arm } from './fork-budget.ts'
import { isHopeless, isTooLittle } from './lost-forks.ts'
import { requireOutside } from './outside.ts'
import { type BlameOptions, type Inquiry, openInquiry } from './settings.ts'
import { sprt, type SprtPlan, sprtRatio } from '../stats/sprt.ts'
import type { ForkSource } from './types.ts'
import type { Interval } from '../stats/wilson.ts'

export interface RepairOptions extends BlameOptions {
  /** Positions that may be repaired. Default: all whose answers come from outside the agent and its model. */
  readonly suspects?: readonly number[]
}

/** What repairing recorded answers does to a failed run. */
export interface RepairBlame {
  /** `exact`: deterministic tail, one fork per question. `sprt`: Wald's test against the measured clean rate. */
  readonly how: 'exact' | 'sprt'
  readonly suspects: readonly number[]
  /** Forks with all suspects repaired: the clean rate that the others are judged against. */
  readonly clean: { readonly ok: number; readonly forks: number }
  /**
   * `found`; `equal`: every good answer is the recorded one, so none is to blame, and no fork was made; `not_needed`:
   * with every suspect as recorded and the rest resampled it already ends well, so no recorded answer is to blame;
   * `no_help`: with all of them repaired it still fails; `undecidable`: more than a fifth of the forks tell nothing;
   * `unresolved`: a limit came first, and the lists are what was found until then.
   */
  readonly outcome: 'found' | 'equal' | 'not_needed' | 'no_help' | 'undecidable' | 'unresolved'
  /** Repaired alone, the run ends well: without this answer it would not have failed. */
  readonly necessary: readonly number[]
  /** Left as recorded alone, with all other suspects repaired, the run fails: this answer is enough. */
  readonly sufficient: readonly number[]
  /** Repaired together the run ends well, and no repair can be left out. There may be others of that kind. */
  readonly repairSet?: readonly number[]
}

/**
 * Which recorded answers from outside made a run fail: necessary, sufficient, and a smallest set of repairs.
 *
 * Every fork runs the agent from its beginning, with each suspect as recorded or repaired. Whether it ends well is judged
 * by Wald's test: as often as with all of them repaired (.85 of that rate), or hardly ever (.3), with an error of .02
 * either way, or .05 over the number of suspects where each of them is asked about. More than sixteen suspects are asked in
 * groups, which supposes that a repair does no harm.
 *
 * @throws HarvestError HARVEST_BLAME_NO_REPAIRS when the source repairs nothing or has no suspects
 * @see Zeller and Hildebrandt, IEEE TSE 28 (2002) 183–200, for the smallest set
 */
export async function blameRepairs(source: ForkSource, options: RepairOptions = {}): Promise<RepairBlame> {
  const outside = requireOutside(source)
  const suspects = [...(options.suspects ?? source.suspects ?? outside)].sort((a, b) => a - b)
  if (suspects.length === 0) {
    const none = { suspects, necessary: [], sufficient: [], clean: { ok: 0, forks: 0 } }
    return { how: 'exact', outcome: 'equal', ...none }
  }
  const inquiry = openInquiry(source, options)
  const judge = new RepairJudge(inquiry, outside, suspects)
  const found = (outcome: RepairBlame['outcome'], lists: Partial<RepairBlame> = {}): RepairBlame => ({
    how: judge.isExact ? 'exact' : 'sprt',
    suspects,
    clean: judge.clean,
    outcome: judge.hasLostTooMany ? 'undecidable' : inquiry.forkBudget.stopped ? 'unresolved' : outcome,
    necessary: [],
    sufficient: [],
    // Of forks that could not be graded no list is made.
    ...(judge.hasLostTooMany ? {} : lists),
  })
  if (!(await judge.measure())) return found('no_help')
  if (await judge.isGood([])) return found('not_needed')
  // Each list holds one answer per suspect, so each answer has its share of the error.
  const error = Math.max(0.001, Math.min(0.02, 0.05 / suspects.length))
  const rest = (group: readonly number[]): number[] => suspects.filter((suspect) => !group.includes(suspect))
  const helping = await singles(suspects, (groups) => judge.areGood(groups, error))
  const harming = await singles(suspects, async (groups) =>
    (await judge.areGood(groups.map(rest), error)).map((isGood) => !isGood),
  )
  const necessary = await judge.affirm(helping, (one) => [one], 'good', [])
  const sufficient = await judge.affirm(harming, (one) => rest([one]), 'bad', suspects)
  const [first] = necessary
  const repairSet = first === undefined ? await smallest(suspects, judge) : [first]
  const lists = { necessary, sufficient }
  return found('found', repairSet === undefined ? lists : { ...lists, repairSet })
}

/** Those that hit alone. A group that does not hit holds none; many are therefore halved until few are left. */
async function singles(
  suspects: readonly number[],
  hits: (groups: readonly (readonly number[])[]) => Promise<boolean[]>,
): Promise<number[]> {
  let groups = suspects.length > 16 ? halves(suspects) : suspects.map((suspect) => [suspect])
  const found: number[] = []
  while (groups.length > 0) {
    const asked = await hits(groups)
    const hit = groups.filter((_, i) => asked[i] === true)
    found.push(...hit.flatMap((group) => (group.length === 1 ? group : [])))
    groups = hit.filter((group) => group.length > 1).flatMap(halves)
  }
  return found.sort((a, b) => a - b)
}

function halves(group: readonly number[]): number[][] {
  const middle = Math.ceil(group.length / 2)
  return [group.slice(0, middle), group.slice(middle)]
}

/** A set of which no repair can be left out. What is left over is asked once more, with a smaller error. */
async function smallest(suspects: readonly number[], judge: RepairJudge): Promise<number[] | undefined> {
  let set = await ddmin(suspects, (repaired) => judge.isGood(repaired))
  for (let i = 0; i < set.length; ) {
    const rest = set.filter((_, at) => at !== i)
    if (await judge.isGood(rest, 0.005)) {
      set = rest
      i = 0
    } else i++
  }
  if (!(await judge.isGood(set, 0.005))) return undefined
  // That a repair cannot be left out is claimed of each: what is unclear after all forks, or was not tried, is not claimed.
  const places = set.map((_, i) => i)
  const needed = await judge.affirm(places, (i) => set.filter((_, at) => at !== i), 'bad', set)
  return needed.length === set.length && !judge.isStopped ? set : undefined
}

/** Forks of one set after which what is unclear stays so. */
const mostForks = 40
/** How often each of the two rates of a claim may lie outside its interval. */
const claimAlpha = 0.01

/** Judges sets of repairs; every fork is made once, and the result of it is kept. */
class RepairJudge {
  readonly isExact: boolean
  clean = { ok: 0, forks: 0 }
  isUndecidable = false
  readonly #inquiry: Inquiry
  readonly #outside: readonly number[]
  readonly #suspects: readonly number[]
  readonly #counts = new Map<string, { ok: number; failed: number; lost: number }>()
  #plan: SprtPlan = { good: 0.8, bad: 0.3, error: 0.02 }
  #forks = 0
  #lost = 0

  constructor(inquiry: Inquiry, outside: readonly number[], suspects: readonly number[]) {
    this.#inquiry = inquiry
    this.#outside = outside
    this.#suspects = suspects
    this.isExact = inquiry.tail === 'deterministic'
  }

  /** Measures the clean rate. @returns whether repairs help at all */
  async measure(): Promise<boolean> {
    const arm = this.#arm(this.#suspects)
    const { forkBudget, tau } = this.#inquiry
    if (this.isExact) {
      const [draw] = await forkBudget.draw([arm])
      const isOk = draw === undefined ? undefined : this.#note(this.#suspects, draw.grade)
      if (this.clean.forks === 0) this.isUndecidable = forkBudget.stopped === undefined
      return isOk === true
    }
    const wanted = 15 - this.clean.forks
    for (const draw of await forkBudget.draw(new Array<Arm>(wanted).fill(arm))) {
      if (draw !== undefined) this.#note(this.#suspects, draw.grade)
    }
    const rate = (this.clean.ok + 0.5) / (this.clean.forks + 1)
    if (rate < tau) return false
    this.#plan = { good: Math.min(0.97, 0.85 * rate), bad: 0.3 * rate, error: 0.02 }
    return true
  }

  /** More than a fifth of the forks tell nothing. */
  get hasLostTooMany(): boolean {
    return this.isUndecidable || isTooLittle(this.#lost, this.#forks)
  }

  get isStopped(): boolean {
    return this.#inquiry.forkBudget.stopped !== undefined
  }

  async isGood(repaired: readonly number[], error = 0.02): Promise<boolean> {
    const [isGood] = await this.areGood([repaired], error)
    return isGood === true
  }

  /** Whether runs with these repairs end well, for several sets at once; the sets take turns. */
  async areGood(sets: readonly (readonly number[])[], error = 0.02): Promise<boolean[]> {
    const { forkBudget } = this.#inquiry
    for (;;) {
      const open = sets.filter((set) => this.#verdict(set, error) === undefined)
      if (open.length === 0 || forkBudget.stopped !== undefined || this.isUndecidable) break
      // A single set needs three forks at least to be judged; many sets fill the places anyhow.
      const each = this.isExact ? 1 : open.length === 1 ? this.#atLeast(open[0] ?? [], error) : 1
      const wanted = open.flatMap((set) => new Array<readonly number[]>(each).fill(set))
      const draws = await forkBudget.draw(wanted.map((set) => this.#arm(set)))
      draws.forEach((draw, i) => {
        if (draw !== undefined) this.#note(wanted[i] ?? [], draw.grade)
      })
      this.#inquiry.report('repair')
    }
    return sets.map((set) => this.#verdict(set, error) === 'good')
  }

  /**
   * Those of which it is shown that their set of repairs ends well more often (`good`) or less often (`bad`) than another
   * set: confidence sequences of both rates lie apart. Wald's test alone would not do, for it goes by the clean rate as a few
   * forks have it. Those that are named are few, so to ask more about them costs little.
   */
  async affirm(
    named: readonly number[],
    setOf: (one: number) => readonly number[],
    wanted: 'good' | 'bad',
    against: readonly number[],
  ): Promise<number[]> {
    if (this.isExact) return [...named]
    const { forkBudget } = this.#inquiry
    const isShown = (one: number): boolean => {
      const [set, other] = [this.#rate(setOf(one)), this.#rate(against)]
      return wanted === 'good' ? set.low > other.high : set.high < other.low
    }
    const madeOf = (set: readonly number[]): number => {
      const { ok, failed, lost } = this.#count(set)
      return ok + failed + lost
    }
    for (;;) {
      const open = named.filter((one) => !isShown(one) && madeOf(setOf(one)) < mostForks)
      if (open.length === 0 || forkBudget.stopped !== undefined || this.isUndecidable) break
      const sets = open.map(setOf)
      // The rate they are held against is drawn as often as the most of them.
      const wantsOther = madeOf(against) < Math.max(...sets.map(madeOf)) + 1
      const wanting = wantsOther ? [...sets, against] : sets
      const draws = await forkBudget.draw(wanting.map((set) => this.#arm(set)))
      draws.forEach((draw, i) => {
        if (draw !== undefined) this.#note(wanting[i] ?? [], draw.grade)
      })
      this.#inquiry.report('repair')
    }
    return named.filter(isShown)
  }

  #rate(repaired: readonly number[]): Interval {
    const { ok, failed } = this.#count(repaired)
    return confidenceSequence(ok, ok + failed, claimAlpha)
  }

  #verdict(repaired: readonly number[], error: number): 'good' | 'bad' | undefined {
    const { ok, failed, lost } = this.#count(repaired)
    // Repairs whose forks tell nothing, time and again, are not known to help.
    if (ok + failed === 0 && lost >= (this.isExact ? 2 : 10)) return 'bad'
    if (this.isExact) return ok + failed === 0 ? undefined : ok > 0 ? 'good' : 'bad'
    const plan = { ...this.#plan, error }
    const verdict = sprt(ok, failed, plan)
    if (verdict !== undefined || ok + failed < mostForks) return verdict
    return sprtRatio(ok, failed, plan) > 0 ? 'good' : 'bad'
  }

  /** How many forks more, all alike, would decide. */
  #atLeast(repaired: readonly number[], error: number): number {
    const { ok, failed } = this.#count(repaired)
    const plan = { ...this.#plan, error }
    let more = 1
    while (more < 8 && !sprt(ok + more, failed, plan) && !sprt(ok, failed + more, plan)) more++
    return more
  }

  #arm(repaired: readonly number[]): Arm {
    return { keep: 0, pinned: this.#outside.filter((position) => !repaired.includes(position)), repaired }
  }

  #note(repaired: readonly number[], grade: Parameters<typeof passed>[0]): boolean | undefined {
    this.#forks++
    const isOk = passed(grade)
    const count = this.#count(repaired)
    if (isOk === undefined) {
      this.#lost++
      count.lost++
    } else if (isOk) count.ok++
    else count.failed++
    if (isOk !== undefined && repaired.length === this.#suspects.length) {
      this.clean = { ok: count.ok, forks: count.ok + count.failed }
    }
    if (isHopeless(this.#lost, this.#forks)) this.isUndecidable = true
    return isOk
  }

  #count(repaired: readonly number[]): { ok: number; failed: number; lost: number } {
    const key = repaired.join(',')
    const count = this.#counts.get(key) ?? { ok: 0, failed: 0, lost: 0 }
    this.#counts.set(key, count)
    return count
  }
}
