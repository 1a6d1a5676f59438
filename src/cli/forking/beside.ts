import { createHash } from 'node:crypto'
import { canonicalJson } from '../../json/canonical.ts'
import { alphaOfLook, fisherExact } from '../../stats/index.ts'
import type { ForkRequest } from '../../fork/index.ts'
import type { Json } from '../../tape/index.ts'
import type { Screen } from '../../report/output.ts'
import { areTooMany } from '../../blame/lost-forks.ts'
import { areGraded, type BranchSummary, gradedOk, type Hits, isDecided, type Together, together } from './branches.ts'
import { describeRate } from '../live.ts'
import { finerAnswer, isRuledOut, smallest } from '../finer-answer.ts'
import { printSteps } from '../next-steps.ts'

/** Live runs with nothing changed, drawn in pairs with those of the change. */
export interface Beside
  extends Pick<Together, 'asRecorded' | 'byCalls' | 'forks' | 'grades' | 'interval' | 'judged' | 'spent'> {
  /** What of both runs is compared: good ends where something grades them, or else ends as recorded. */
  readonly compares: 'ok' | 'as recorded'
  /** How likely so great a difference between the two is by chance; `null` when one of them could not be judged. */
  readonly chance: number | null
}

/**
 * The same live run without the change, for the drift of a provider is no effect of it. `undefined` where nothing is
 * changed, or where no model is asked: the unchanged replay is the control then.
 */
export function unchangedRequest(request: ForkRequest): ForkRequest | undefined {
  const { keep, tail, seed, ...changes } = request
  if (tail.from !== 'live' || Object.keys(changes).length === 0) return undefined
  return { keep, tail, seed: controlSeed({ seed, ...changes }) }
}

/** Of the control of one run alone: what another run was drawn beside is no control of this one. */
export function controlSeed(run: Omit<ForkRequest, 'keep' | 'tail'>): string {
  const said = canonicalJson(JSON.parse(JSON.stringify(run)) as Json)
  return `control ${createHash('sha256').update(said).digest('base64url').slice(0, 16)}`
}

/** Each followed by its control: what is drawn one after the other meets the same provider. */
export function withControls(requests: readonly ForkRequest[]): {
  readonly requests: readonly ForkRequest[]
  /** How many belong together. */
  readonly together: 1 | 2
} {
  const controls = requests.map((request) => unchangedRequest(request))
  const isPaired = requests.length > 0 && controls.every((one) => one !== undefined)
  if (!isPaired) return { requests, together: 1 }
  return { requests: requests.flatMap((request, at) => [request, controls[at] ?? request]), together: 2 }
}

/** Takes what was drawn in pairs apart. */
export function apart<T>(
  drawn: readonly T[],
  count: 1 | 2,
): { readonly changed: readonly T[]; readonly controls: readonly T[] } {
  return {
    changed: drawn.filter((_, at) => count === 1 || at % 2 === 0),
    controls: drawn.filter((_, at) => count === 2 && at % 2 === 1),
  }
}

/** How the controls ended, beside the branches. */
export function tellBeside(sum: Together, controls: readonly BranchSummary[]): Beside | undefined {
  if (controls.length === 0) return undefined
  const kept = together(controls)
  const { forks, judged, asRecorded, interval, grades, byCalls, spent } = kept
  const compares = areGraded(sum) || areGraded(kept) ? 'ok' : 'as recorded'
  const { changed, unchanged } = sharesOf(sum, { ...kept, compares })
  const chance = changed === undefined || unchanged === undefined ? null : chanceBetween(changed, unchanged)
  return {
    forks,
    judged,
    asRecorded,
    ...(interval === undefined ? {} : { interval }),
    ...(grades === undefined ? {} : { grades }),
    ...(byCalls === undefined ? {} : { byCalls }),
    spent,
    compares,
    chance,
  }
}

type Counts = Pick<Together, 'asRecorded' | 'byCalls' | 'forks' | 'grades' | 'judged'>

/** The two numbers that {@link Beside.chance} is about; `undefined`: too many of its runs could not be judged. */
export function sharesOf(
  sum: Counts,
  beside: Counts & Pick<Beside, 'compares'>,
): { readonly changed: Hits | undefined; readonly unchanged: Hits | undefined } {
  return { changed: hitsOf(sum, beside.compares), unchanged: hitsOf(beside, beside.compares) }
}

function hitsOf(sum: Counts, compares: Beside['compares']): Hits | undefined {
  const { forks, judged, asRecorded } = sum
  if (compares === 'ok') return gradedOk(sum)
  if (judged === 0 || asRecorded === null || areTooMany(forks - judged, forks)) return undefined
  return { hits: asRecorded, runs: judged, lost: forks - judged }
}

/**
 * How likely so great a difference of two arms is by chance: Fisher's exact test, two-sided by twice the smaller tail. Runs that
 * were lost end as makes the difference smaller.
 */
export function chanceBetween(one: Hits, other: Hits): number {
  const ends = [
    [one.lost, 0],
    [0, other.lost],
  ] as const
  const pairs = ends.map(([mine, theirs]) => [filled(one, mine), filled(other, theirs)] as const)
  const signs = pairs.map(([a, b]) => Math.sign(a.hits * b.runs - b.hits * a.runs))
  // Those that were lost may turn the difference round.
  if (signs.includes(1) && signs.includes(-1)) return 1
  return Math.max(...pairs.map(([a, b]) => Math.min(1, 2 * Math.min(fisherExact(a, b), fisherExact(b, a)))))
}

/** Whether the two differ by less than is looked for, whichever way those that were lost ended. */
export function areAlike(one: Hits, other: Hits): boolean {
  const isLittleMore = (more: Hits, less: Hits): boolean => isRuledOut(filled(more, more.lost), filled(less, 0))
  return isLittleMore(one, other) && isLittleMore(other, one)
}

function filled({ hits, runs, lost }: Hits, more: number): { readonly hits: number; readonly runs: number } {
  return { hits: hits + more, runs: runs + lost }
}

/** Whether two live arms differ, each of so many forks: `undefined` when they could not be compared. */
export function isShown({ chance, forks }: Pick<Beside, 'chance' | 'forks'>): boolean | undefined {
  return chance === null ? undefined : chance <= alphaOfLook(forks)
}

/** Whether enough runs could be judged, with the change and, where it has controls, without it. */
export function isAnswered(sum: Together, beside: Beside | undefined, isLive: boolean): boolean {
  return isDecided(sum, isLive) && (beside === undefined || isShown(beside) !== undefined)
}

/** The controls, and what they say about the branches. */
export function printBeside(sum: Together, beside: Beside, screen: Screen): void {
  const what = { ok: 'are graded ok', 'as recorded': 'end as recorded' }[beside.compares]
  const { changed, unchanged } = sharesOf(sum, beside)
  const share = (hits: Hits | undefined): string =>
    hits === undefined ? 'too few runs could be judged' : `${describeRate(hits.hits, hits.runs, hits.lost)} ${what}`
  screen.line(`with the change ${share(changed)}; without it, sampled in pairs, ${share(unchanged)}`)
  const shown = isShown(beside)
  if (shown === undefined) screen.line('the two could not be compared')
  else if (shown)
    screen.line(
      `the change makes the difference: by chance so great a one has probability ${beside.chance?.toPrecision(2)}`,
    )
  else {
    screen.line(
      `no effect of the change is shown: by chance so great a difference has probability ${beside.chance?.toPrecision(2)}`,
    )
    if (changed !== undefined && unchanged !== undefined && areAlike(changed, unchanged))
      screen.line(`with more runs hardly more is shown: a difference of ${smallest} or more is ruled out (95 %)`)
    else printSteps([finerAnswer(beside.forks)], (text) => screen.line(text))
  }
}
