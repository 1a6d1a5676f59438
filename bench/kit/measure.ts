import { draw, type Sfc32 } from '../../src/prng.ts'

/** The middle one; of an even number, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** Linear between neighbours; `q` from 0 to 1. */
export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) throw new RangeError('no values')
  const sorted = [...values].sort((a, b) => a - b)
  const at = (sorted.length - 1) * q
  const low = sorted[Math.floor(at)] ?? Number.NaN
  const high = sorted[Math.ceil(at)] ?? Number.NaN
  return low + (high - low) * (at - Math.floor(at))
}

/** The smallest and the largest. */
export function spread(values: readonly number[]): readonly [low: number, high: number] {
  return [Math.min(...values), Math.max(...values)]
}

/** Between which two of the values the median lies, 95 times in 100, whatever they are spread like: the interval of the sign test. */
export function rangeOfMedian(values: readonly number[]): readonly [low: number, high: number] {
  const half = 1.96 / (2 * Math.sqrt(values.length))
  return [quantile(values, Math.max(0, 0.5 - half)), quantile(values, Math.min(1, 0.5 + half))]
}

/** A median with the range it lies in 95 times in 100: `1.08 [1.07–1.10]`. */
export function medianFigure(values: readonly number[], digits = 2): string {
  const [low, high] = rangeOfMedian(values)
  return `${median(values).toFixed(digits)} [${low.toFixed(digits)}–${high.toFixed(digits)}]`
}

/** In an order of chance: what goes before what disturbs no pair more than another. */
export function shuffled<T>(values: readonly T[], chance: Sfc32): T[] {
  const all = [...values]
  for (let at = all.length - 1; at > 0; at--) {
    const other = draw(chance) % (at + 1)
    ;[all[at], all[other]] = [all[other]!, all[at]!]
  }
  return all
}

/**
 * Lets contestants run in turn, so that all of them meet the same machine: each round every one of them once, the round
 * begun by another one each time. One round before the first warms up and is not counted.
 *
 * @param contestants - what to run, by name; what it resolves with is the figure (milliseconds, usually)
 * @returns figures by name, one per round
 */
export async function inTurn(
  contestants: Readonly<Record<string, () => Promise<number>>>,
  rounds: number,
): Promise<Map<string, number[]>> {
  const entries = Object.entries(contestants)
  const figures = new Map<string, number[]>(entries.map(([name]) => [name, []]))
  for (let round = -1; round < rounds; round++) {
    const shift = (round + 1) % entries.length
    for (const [name, run] of [...entries.slice(shift), ...entries.slice(0, shift)]) {
      const figure = await run()
      if (round >= 0) figures.get(name)?.push(figure)
    }
  }
  return figures
}

/** Ratios of two contestants of {@link inTurn}, round by round: noise that lasts longer than a round falls out. */
export function ratios(figures: ReadonlyMap<string, readonly number[]>, of: string, to: string): number[] {
  const above = figures.get(of) ?? []
  const below = figures.get(to) ?? []
  return above.map((value, i) => value / (below[i] ?? Number.NaN))
}

/** What work took by the clock and of the processor (this process, all threads), in milliseconds. */
export async function timed<T>(work: () => Promise<T> | T): Promise<{ value: T; wallMs: number; cpuMs: number }> {
  const cpu = process.cpuUsage()
  const begin = performance.now()
  const value = await work()
  const wallMs = performance.now() - begin
  const { user, system } = process.cpuUsage(cpu)
  return { value, wallMs, cpuMs: (user + system) / 1_000 }
}

/** A figure with its spread: `0.31 (0.29–0.35)`. */
export function figure(values: readonly number[], digits = 2): string {
  const [low, high] = spread(values)
  return `${median(values).toFixed(digits)} (${low.toFixed(digits)}–${high.toFixed(digits)})`
}
