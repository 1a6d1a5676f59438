import { blameFailedRun, ForkBudget } from '../../src/blame/index.ts'
import { confidenceSequence } from '../../src/stats/index.ts'
import type { EngineDiagnosis } from '../../src/validation/grid/diagnosis.ts'
import type { Desk } from './desk.ts'

/** Says which place of a failed run decided it, by asking for forks. */
export type Policy = (desk: Desk) => Promise<Said>

/** What a policy says. A named place is a claim; a ranking is a guess. */
export type Said = Pick<EngineDiagnosis, 'said' | 'named' | 'ranking'>

/** All policies, ours first. What each of them does, and where it comes from, stands in the README. */
export const policies: Readonly<Record<string, Policy>> = {
  'vitest-harvest': ours,
  'flip-rate, k = 10': flipRate,
  'latest rescue, k = 16': latestRescue,
  'steepest drop, k = 10': steepestDrop,
  'change point, k = 10': changePoint,
  'successive halving, 10 n': successiveHalving,
  'LUCB on drops, up to 10 n': lucb,
}

async function ours({ source }: Desk): Promise<Said> {
  const forkBudget = new ForkBudget(source, { limits: { forks: 400 } })
  const { verdict } = await blameFailedRun(source, { forkBudget })
  if (verdict.kind === 'confirmed') return confirmed(verdict.commitments.map(({ position }) => position).reverse())
  if (verdict.kind === 'never') return { said: 'never', named: [], ranking: [] }
  return guessed('likeliest' in verdict && verdict.likeliest !== undefined ? [verdict.likeliest.position] : [])
}

async function flipRate(desk: Desk): Promise<Said> {
  const k = 10
  const flips = await uniform(desk, k)
  const ranking = ranked(flips)
  // Benjamini-Hochberg at .05 over one-sided binomial tests against a flip-rate of .05.
  const byEvidence = [...flips.keys()].sort((a, b) => (flips[b] ?? 0) - (flips[a] ?? 0))
  const last = byEvidence.findLastIndex(
    (place, rank) => binomialTail(k, flips[place] ?? 0, 0.05) <= (0.05 * (rank + 1)) / flips.length,
  )
  const named = byEvidence.slice(0, last + 1)
  return named.length > 0 ? { said: 'confirmed', named, ranking } : guessed(ranking)
}

async function latestRescue(desk: Desk): Promise<Said> {
  const k = 16
  const rescued = await uniform(desk, k)
  // The lower end of a 95 % percentile bootstrap is above nought.
  const locus = rescued.findLastIndex((ok) => (1 - ok / k) ** k < 0.025)
  return locus === -1 ? guessed([]) : confirmed([locus])
}

async function steepestDrop(desk: Desk): Promise<Said> {
  const ok = await uniform(desk, 10)
  return guessed(ranked(ok.map((here, place) => here - (ok[place + 1] ?? 0))))
}

async function changePoint(desk: Desk): Promise<Said> {
  const k = 10
  const ok = await uniform(desk, k)
  const all = sum(ok)
  let before = 0
  const likelihoods = ok.map((here, place) => {
    before += here
    const forks = k * (place + 1)
    const left = k * ok.length - forks
    // A rise is no loss.
    if (left > 0 && before / forks <= (all - before) / left) return -Infinity
    return logLikelihood(before, forks) + logLikelihood(all - before, left)
  })
  return guessed(ranked(likelihoods))
}

/** The places that are left share the forks of a round; the half that drops less is left out. */
async function successiveHalving(desk: Desk): Promise<Said> {
  const arms = new Arms(desk)
  const rounds = Math.ceil(Math.log2(desk.places))
  let left = Array.from({ length: desk.places }, (_, place) => place)
  let ranking: readonly number[] = left
  for (let round = 0; round < rounds && left.length > 1; round++) {
    const keeps = [...new Set(left.flatMap((place) => [place, place + 1]))].filter((keep) => keep < desk.places)
    const each = Math.max(1, Math.floor((10 * desk.places) / rounds / keeps.length))
    for (const keep of keeps) await arms.draw(keep, each)
    left = left.toSorted((a, b) => arms.drop(b) - arms.drop(a) || a - b)
    ranking = [...left, ...ranking.filter((place) => !left.includes(place))]
    left = left.slice(0, Math.ceil(left.length / 2))
  }
  return guessed(ranking)
}

/** The leader and its strongest rival are drawn; the leader is named once its drop is certainly one. */
async function lucb(desk: Desk): Promise<Said> {
  const arms = new Arms(desk)
  const delta = 0.05 / (desk.places + 1)
  for (let keep = 0; keep < desk.places; keep++) await arms.draw(keep, 1)
  for (;;) {
    const ranking = ranked(Array.from({ length: desk.places }, (_, place) => arms.drop(place)))
    const leader = ranking[0] ?? 0
    if (arms.lowest(leader, delta) > 0.1) return { ...confirmed([leader]), ranking }
    if (desk.forks >= 10 * desk.places) return guessed(ranking)
    const rival = ranking
      .slice(1)
      .reduce((best, one) => (arms.highest(one, delta) > arms.highest(best, delta) ? one : best), ranking[1] ?? leader)
    for (const keep of new Set([leader, leader + 1, rival, rival + 1])) await arms.draw(keep, 1)
  }
}

/** Forks that keep so many places, counted: a place's drop is the rate of those that draw it less that of those that keep it. */
class Arms {
  readonly #desk: Desk
  readonly #ok: number[]
  readonly #made: number[]

  constructor(desk: Desk) {
    this.#desk = desk
    this.#ok = new Array<number>(desk.places).fill(0)
    this.#made = new Array<number>(desk.places).fill(0)
  }

  async draw(keep: number, times: number): Promise<void> {
    if (keep >= this.#desk.places) return
    for (let i = 0; i < times; i++) this.#ok[keep] = (this.#ok[keep] ?? 0) + Number(await this.#desk.fork(keep))
    this.#made[keep] = (this.#made[keep] ?? 0) + times
  }

  drop(place: number): number {
    return this.#rate(place) - this.#rate(place + 1)
  }

  lowest(place: number, alpha: number): number {
    return this.#interval(place, alpha).low - this.#interval(place + 1, alpha).high
  }

  highest(place: number, alpha: number): number {
    return this.#interval(place, alpha).high - this.#interval(place + 1, alpha).low
  }

  #rate(keep: number): number {
    return (this.#ok[keep] ?? 0) / Math.max(1, this.#made[keep] ?? 0)
  }

  #interval(keep: number, alpha: number): { readonly low: number; readonly high: number } {
    // All kept is the recorded run, and that failed.
    if (keep >= this.#desk.places) return { low: 0, high: 0 }
    return intervalOf(this.#ok[keep] ?? 0, this.#made[keep] ?? 0, alpha)
  }
}

const intervals = new Map<string, { readonly low: number; readonly high: number }>()

/** The same few counts come up again and again. */
function intervalOf(ok: number, made: number, alpha: number): { readonly low: number; readonly high: number } {
  const key = `${ok}/${made} ${alpha}`
  const known = intervals.get(key) ?? confidenceSequence(ok, made, alpha)
  intervals.set(key, known)
  return known
}

/** So many forks of every place: how many ended well. */
async function uniform(desk: Desk, k: number): Promise<readonly number[]> {
  const ok: number[] = []
  for (let keep = 0; keep < desk.places; keep++) {
    let here = 0
    for (let i = 0; i < k; i++) here += Number(await desk.fork(keep))
    ok.push(here)
  }
  return ok
}

/** Places from the highest value on; of equal ones the earlier first. */
function ranked(values: readonly number[]): readonly number[] {
  return [...values.keys()].sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0) || a - b)
}

function confirmed(named: readonly number[]): Said {
  return { said: 'confirmed', named, ranking: named }
}

function guessed(ranking: readonly number[]): Said {
  return { said: 'unresolved', named: [], ranking }
}

/** The log-likelihood of so many of so many at their own rate. */
function logLikelihood(hits: number, of: number): number {
  const part = (count: number): number => (count === 0 ? 0 : count * Math.log(count / of))
  return part(hits) + part(of - hits)
}

/** The chance of at least so many hits. */
function binomialTail(of: number, hits: number, rate: number): number {
  let term = (1 - rate) ** of
  let below = 0
  for (let k = 0; k < hits; k++) {
    below += term
    term *= ((of - k) / (k + 1)) * (rate / (1 - rate))
  }
  return 1 - below
}

function sum(values: readonly number[]): number {
  return values.reduce((all, one) => all + one, 0)
}
