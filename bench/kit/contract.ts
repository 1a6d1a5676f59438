/** One question about the product, answered with figures: the default export of `bench/<name>/bench.ts`. */
export interface Bench {
  /** The question, as a heading of the results: `How fast is a replay?` */
  readonly question: string
  /** Measures. What it throws makes the run red; nothing of it is written then. */
  run(context: BenchContext): Promise<BenchResult>
}

export interface BenchContext {
  /** Measure a small share, so that all benches together take less than five minutes. */
  readonly isQuick: boolean
  /** A folder of this run alone, gone afterwards. */
  readonly scratch: string
  /** Says what is being measured: a line on a terminal, nothing in a pipe. */
  progress(line: string): void
  /**
   * Installs what we are compared with, from `bench/peers/<name>/package.json` into that folder, unless it is there.
   *
   * @returns the folder. Modules in it (`.mjs`) import the peer by its name
   */
  peers(name: string): Promise<string>
}

export interface BenchResult {
  readonly tables: readonly Table[]
  /** What was promised, beside what was measured. */
  readonly bars: readonly Bar[]
  /** What a reader has to know to read the figures rightly: a sentence each. */
  readonly remarks?: readonly string[]
}

export interface Table {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** A promise and the figure it is held against. Whether it holds is worked out, never said. */
export interface Bar {
  /** Unique within its bench, in words: `300 JSON calls replayed ÷ bare fetch`. */
  readonly what: string
  readonly value: number
  /** The smallest and the largest of the rounds, when there were several. */
  readonly spread?: readonly [low: number, high: number]
  /** Figures that belong to it and are shown behind it: `{ different: 0.74, unproven: 0.24 }`. */
  readonly parts?: Readonly<Record<string, number>>
  readonly limit: { readonly atMost: number } | { readonly atLeast: number }
  /** The same figure of what one would use instead, measured in the same run. */
  readonly others?: Readonly<Record<string, number>>
  /** What docs/benchmarks.md says with this figure, when it does: `Replaying 300 model calls, as a share of making them`. */
  readonly claim?: string
  /** For a bar that is known not to hold: why, and what was tried. Without it a bar that does not hold makes the run red. */
  readonly shortfall?: string
}

/** What is kept of one bench: `bench/results/<name>.json`. */
export interface KeptResult extends BenchResult {
  readonly name: string
  readonly question: string
  /** Whether only a small share was measured. */
  readonly isQuick?: true
  readonly date: string
  readonly machine: string
  readonly node: string
  /** Versions of what was compared, ours included. */
  readonly versions: Readonly<Record<string, string>>
}

/** Whether a promise was kept. */
export function holds({ value, limit }: Bar): boolean {
  return 'atMost' in limit ? value <= limit.atMost : value >= limit.atLeast
}
