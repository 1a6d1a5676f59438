// Over 300 lines: one distribution and its sums, which share their arrays.
/**
 * Where a failed run was decided, as far as the forks so far say: a probability for every position, and for none.
 *
 * The model behind it: forks that keep the deciding position fail more often than forks that resample it; both rates are
 * the same on either side. It decides only where to look next. What may be claimed is tested with fresh forks, so where
 * the model is wrong, it costs forks and no honesty.
 *
 * Costs O(positions) per question: positions between which nothing was drawn share one likelihood.
 *
 * @see Burnashev and Zigangirov 1974; Waeber, Frazier and Henderson, SIAM J. Control Optim. 51 (2013) 2261–2279
 */
export class DropPosterior {
  /** The first position in question; those before it are settled. */
  readonly from: number
  readonly #size: number
  readonly #passed: Float64Array
  readonly #failed: Float64Array
  readonly #chance: Float64Array
  readonly #above: Float64Array
  readonly #below: Float64Array
  readonly #excluded = new Set<number | 'never'>()
  #never = neverPrior
  #neverRate = 0
  #isSettled = false

  constructor(from: number, positions: number) {
    if (!(positions > from)) throw new RangeError(`DropPosterior: no position from ${from} of ${positions}`)
    this.from = from
    this.#size = positions - from
    this.#passed = new Float64Array(this.#size)
    this.#failed = new Float64Array(this.#size)
    this.#chance = new Float64Array(this.#size)
    this.#above = new Float64Array(this.#size)
    this.#below = new Float64Array(this.#size)
  }

  /** Notes forks that kept the positions below `keep`. */
  add(keep: number, passed: number, failed: number): void {
    const at = keep - this.from
    if (at < 0 || at >= this.#size) return
    this.#passed[at] = (this.#passed[at] ?? 0) + passed
    this.#failed[at] = (this.#failed[at] ?? 0) + failed
    this.#isSettled = false
  }

  /** Takes a position out of the question, because fresh forks refuted it; or that it was none. */
  exclude(what: number | 'never'): void {
    this.#excluded.add(what)
    this.#isSettled = false
  }

  /** The same forks with every position in question again: what was seen of it, no matter what a test refuted. */
  unrefuted(): DropPosterior {
    const all = new DropPosterior(this.from, this.from + this.#size)
    all.#passed.set(this.#passed)
    all.#failed.set(this.#failed)
    // Behind a position that was confirmed the run is known to be recoverable.
    if (this.from > 0) all.exclude('never')
    return all
  }

  /** Whether one answer alone is left. */
  get isLastAnswer(): boolean {
    return this.#excluded.size >= this.#size
  }

  /** How likely a position decided; or that none did. */
  chance(what: number | 'never'): number {
    this.#settle()
    return what === 'never' ? this.#never : (this.#chance[what - this.from] ?? 0)
  }

  /** The likeliest answer. */
  best(): { readonly what: number | 'never'; readonly chance: number } {
    this.#settle()
    let at = 0
    for (let c = 1; c < this.#size; c++) if ((this.#chance[c] ?? 0) > (this.#chance[at] ?? 0)) at = c
    const chance = this.#chance[at] ?? 0
    return this.#never > chance ? { what: 'never', chance: this.#never } : { what: at + this.from, chance }
  }

  /** How often forks pass that resample the position, and that keep it, if it decided. */
  rates(position: number): { readonly resampled: number; readonly kept: number } {
    this.#settle()
    const at = position - this.from
    const chance = this.#chance[at] ?? 0
    if (chance === 0) return { resampled: 0.5, kept: 0.5 }
    return { resampled: (this.#above[at] ?? 0) / chance, kept: (this.#below[at] ?? 0) / chance }
  }

  /** How likely it is that a position decided, and took at least so much off the rate at which forks pass. */
  chanceOfDrop(least: number): number {
    this.#settle()
    let passedBelow = sumOf(this.#passed)
    let failedBelow = sumOf(this.#failed)
    let passedAbove = 0
    let failedAbove = 0
    let share = 0
    let sum = 0
    for (let c = 0; c < this.#size; c++) {
      const passed = this.#passed[c] ?? 0
      const failed = this.#failed[c] ?? 0
      passedAbove += passed
      failedAbove += failed
      passedBelow -= passed
      failedBelow -= failed
      const isNew = c === 0 || c === this.#size - 1 || passed + failed > 0
      const isLast = c === this.#size - 1
      if (isNew) share = shareOfDrops(least, passedAbove, failedAbove, passedBelow, failedBelow, isLast)
      sum += (this.#chance[c] ?? 0) * share
    }
    return sum
  }

  /** The nats that one more fork is expected to tell, when it keeps the positions below `keep`. */
  gain(keep: number): number {
    this.#settle()
    const at = keep - this.from
    let passes = this.#neverRate
    for (let c = 0; c < this.#size; c++) passes += (c >= at ? this.#above[c] : this.#below[c]) ?? 0
    const fails = 1 - passes
    if (passes <= 0 || fails <= 0) return 0
    let told = mutual(this.#never, this.#neverRate, passes, fails)
    for (let c = 0; c < this.#size; c++) {
      const chance = this.#chance[c] ?? 0
      if (chance > 1e-12) told += mutual(chance, (c >= at ? this.#above[c] : this.#below[c]) ?? 0, passes, fails)
    }
    return Math.max(0, told)
  }

  /** Forks that may be worth making: at the deciles of the answer and behind them, at the likeliest, and at the first. */
  candidates(): number[] {
    this.#settle()
    const keeps = new Set([this.from])
    const offer = (c: number): void => {
      keeps.add(c + this.from)
      if (c + 1 < this.#size) keeps.add(c + 1 + this.from)
    }
    const all = 1 - this.#never
    let sum = 0
    let decile = 1
    for (let c = 0; c < this.#size; c++) {
      sum += this.#chance[c] ?? 0
      while (decile < 10 && sum >= (decile / 10) * all) {
        offer(c)
        decile++
      }
    }
    const { what } = this.best()
    if (what !== 'never') offer(what - this.from)
    return [...keeps]
  }

  /** The positions between which the answer lies with this probability, if there is one. */
  range(probability: number): { readonly from: number; readonly to: number } {
    this.#settle()
    const outside = ((1 - probability) / 2) * (1 - this.#never)
    let from = 0
    for (let sum = this.#chance[0] ?? 0; from < this.#size - 1 && sum <= outside; sum += this.#chance[from] ?? 0) from++
    let to = this.#size - 1
    for (let sum = this.#chance[to] ?? 0; to > from && sum <= outside; sum += this.#chance[to] ?? 0) to--
    return { from: from + this.from, to: to + this.from }
  }

  /** How undecided the answer is, in nats. */
  get entropy(): number {
    this.#settle()
    let sum = this.#never > 0 ? -this.#never * Math.log(this.#never) : 0
    for (const chance of this.#chance) if (chance > 0) sum -= chance * Math.log(chance)
    return sum
  }

  #settle(): void {
    if (this.#isSettled) return
    this.#isSettled = true
    const size = this.#size
    let passedBelow = sumOf(this.#passed)
    let failedBelow = sumOf(this.#failed)
    const never = this.#excluded.has('never') ? undefined : weigh(neverRates, passedBelow, failedBelow)
    let passedAbove = 0
    let failedAbove = 0
    let here: Weight = { log: 0, above: 0, below: 0 }
    let highest = never === undefined ? Number.NEGATIVE_INFINITY : never.log + Math.log(neverPrior)
    const prior = Math.log((1 - neverPrior) / size)
    for (let c = 0; c < size; c++) {
      const passed = this.#passed[c] ?? 0
      const failed = this.#failed[c] ?? 0
      if (c === 0 || passed + failed > 0) {
        passedAbove += passed
        failedAbove += failed
        passedBelow -= passed
        failedBelow -= failed
        here = weigh(ratePairs, passedAbove, failedAbove, passedBelow, failedBelow, failedPrior)
      }
      // Behind the last position lies the recorded run alone, which is known.
      if (c === size - 1) here = weigh(ratePairs, passedAbove, failedAbove)
      this.#chance[c] = this.#excluded.has(c + this.from) ? Number.NEGATIVE_INFINITY : here.log + prior
      this.#above[c] = here.above
      this.#below[c] = here.below
      highest = Math.max(highest, this.#chance[c] ?? highest)
    }
    if (highest === Number.NEGATIVE_INFINITY) throw new RangeError('DropPosterior: every answer is excluded')
    let all = never === undefined ? 0 : Math.exp(never.log + Math.log(neverPrior) - highest)
    this.#never = all
    for (let c = 0; c < size; c++) all += this.#chance[c] = Math.exp((this.#chance[c] ?? 0) - highest)
    this.#never /= all
    this.#neverRate = this.#never * (never?.above ?? 0)
    for (let c = 0; c < size; c++) {
      const chance = (this.#chance[c] ?? 0) / all
      this.#chance[c] = chance
      this.#above[c] = (this.#above[c] ?? 0) * chance
      this.#below[c] = (this.#below[c] ?? 0) * chance
    }
  }
}

/** The average likelihood over the rates, as a logarithm; and the mean rates, weighed by it. */
interface Weight {
  readonly log: number
  readonly above: number
  readonly below: number
}

function weigh(
  pairs: readonly RatePair[],
  passA: number,
  failA: number,
  passB = 0,
  failB = 0,
  prior: readonly number[] = evenPrior,
): Weight {
  let highest = Number.NEGATIVE_INFINITY
  for (let k = 0; k < pairs.length; k++) {
    const pair = pairs[k] as RatePair
    const log = passA * pair.lnA + failA * pair.lnNotA + passB * pair.lnB + failB * pair.lnNotB
    scratch[k] = log
    if (log > highest) highest = log
  }
  let sum = 0
  let above = 0
  let below = 0
  for (let k = 0; k < pairs.length; k++) {
    const pair = pairs[k] as RatePair
    const weight = Math.exp((scratch[k] ?? 0) - highest) * (prior[k] ?? 1)
    sum += weight
    above += weight * pair.a
    below += weight * pair.b
  }
  return { log: highest + Math.log(sum / pairs.length), above: above / sum, below: below / sum }
}

/** The part of the likelihood that belongs to drops of at least so much. */
function shareOfDrops(
  least: number,
  passA: number,
  failA: number,
  passB: number,
  failB: number,
  isLast: boolean,
): number {
  const logs = ratePairs.map(
    ({ lnA, lnNotA, lnB, lnNotB }) =>
      passA * lnA + failA * lnNotA + (isLast ? 0 : passB * lnB + failB * lnNotB + 2 * lnNotB),
  )
  const highest = Math.max(...logs)
  let all = 0
  let large = 0
  ratePairs.forEach(({ a, b }, k) => {
    const weight = Math.exp((logs[k] ?? 0) - highest)
    all += weight
    // Behind the last position lies the recorded run, which failed.
    if (a - (isLast ? 0 : b) >= least) large += weight
  })
  return large / all
}

/** One summand of the mutual information between an answer of this chance and a fork, `joint` of which is with a pass. */
function mutual(chance: number, joint: number, passes: number, fails: number): number {
  const rest = chance - joint
  return (
    (joint > 0 ? joint * Math.log(joint / (chance * passes)) : 0) +
    (rest > 0 ? rest * Math.log(rest / (chance * fails)) : 0)
  )
}

function sumOf(values: Float64Array): number {
  let sum = 0
  for (const value of values) sum += value
  return sum
}

interface RatePair {
  readonly a: number
  readonly b: number
  readonly lnA: number
  readonly lnNotA: number
  readonly lnB: number
  readonly lnNotB: number
}

function ratePair(a: number, b: number): RatePair {
  return { a, b, lnA: Math.log(a), lnNotA: Math.log1p(-a), lnB: Math.log(b), lnNotB: Math.log1p(-b) }
}

/** How likely it is beforehand that no position decided. */
const neverPrior = 0.1
const resampledRates = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97]
const keptRates = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6]
const ratePairs = resampledRates.flatMap((a) => keptRates.filter((b) => b <= a - 0.1 + 1e-9).map((b) => ratePair(a, b)))
const neverRates = [0.005, 0.02, 0.05, 0.1].map((rate) => ratePair(rate, rate))
const evenPrior = ratePairs.map(() => 1)
/**
 * The recorded run failed, so runs that keep the deciding position fail more likely than not. Without this, a last position
 * that decided is hard to tell from a small drop just before it.
 */
const failedPrior = ratePairs.map(({ b }) => (1 - b) ** 2)
const scratch = new Float64Array(ratePairs.length)
