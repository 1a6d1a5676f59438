import type { ForkDraw, ForkSource, ForkSpec, Grade } from '../../src/blame/index.ts'

/** Numbers in [0, 1) that follow from a seed (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** Seeds that lie apart, from words. */
export function seedOf(...words: readonly (string | number)[]): number {
  let hash = 2166136261
  for (const character of words.join('/')) hash = Math.imul(hash ^ character.charCodeAt(0), 16777619)
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0
}

/** Forks that end well with a given rate for each number of kept positions; no two of them are the same run. */
export function curveSource(rates: readonly number[], seed: number, grade?: (spec: ForkSpec) => Grade | undefined) {
  const made: ForkSpec[] = []
  const source: ForkSource = {
    positions: positionsOf(rates.length),
    recorded: 'bad',
    expect: ({ keep }) => ({ modelCalls: rates.length - keep, costUsd: 0.01 * (rates.length - keep) }),
    draw: (spec) => {
      made.push(spec)
      const chance = random(seedOf(seed, JSON.stringify(spec)))()
      const draw: ForkDraw = {
        grade: grade?.(spec) ?? (chance < (rates[spec.keep] ?? 0) ? 'ok' : 'bad'),
        modelCalls: rates.length - spec.keep,
        costUsd: 0.01 * (rates.length - spec.keep),
        fingerprint: `${spec.keep}/${spec.seed}`,
      }
      return Promise.resolve(draw)
    },
  }
  return { source, made }
}

export function positionsOf(count: number) {
  return Array.from({ length: count }, (_, i) => ({ steps: [i + 1], label: `step ${i + 1}`, isExogenous: false }))
}

/** A curve that falls once: up to and with a position one rate, behind it another. */
export function cliff(count: number, position: number, resampled: number, kept: number): number[] {
  return Array.from({ length: count }, (_, keep) => (keep <= position ? resampled : kept))
}

/** Forks that flip with a given rate when a position is mutated, and with another one when it is not. */
export function mutationSource(
  rates: readonly number[],
  controls: readonly number[],
  seed: number,
  options: { readonly mutants?: (position: number) => number; readonly recorded?: Grade } = {},
) {
  const made: ForkSpec[] = []
  const recorded = options.recorded ?? 'ok'
  const flipped = recorded === 'ok' ? 'bad' : 'ok'
  const source: ForkSource = {
    positions: positionsOf(rates.length),
    recorded,
    mutants: options.mutants ?? (() => 100),
    expect: ({ keep }) => ({ modelCalls: rates.length - keep }),
    draw: (spec) => {
      made.push(spec)
      const position = spec.mutated?.position ?? spec.keep - 1
      const rate = (spec.mutated === undefined ? controls[position] : rates[position]) ?? 0
      const isFlip = random(seedOf(seed, JSON.stringify(spec)))() < rate
      return Promise.resolve({
        grade: isFlip ? flipped : recorded,
        modelCalls: rates.length - spec.keep,
        fingerprint: JSON.stringify(spec),
      })
    },
  }
  return { source, made }
}

/** An agent whose steps plant facts: a rule over the planted facts says whether a run fails. */
export interface Plant {
  readonly count: number
  /** Positions that plant a fact in the recorded run. */
  readonly facts: readonly number[]
  /** Whether a run fails in which these facts hold. */
  readonly fails: (holds: (position: number) => boolean) => boolean
  /** How often a step drawn anew ruins the run by itself. Default 0. */
  readonly slip?: number
  /** How often a step drawn anew plants its fact again. Default 0. */
  readonly again?: number
  /** Answers from outside. Default: the facts. */
  readonly outside?: readonly number[]
}

/** Forks of an agent with planted facts. Without slips and repetition they are deterministic. */
export function plantedSource({ count, facts, fails, slip = 0, again = 0, outside = facts }: Plant, seed: number) {
  const made: ForkSpec[] = []
  const source: ForkSource = {
    positions: positionsOf(count).map((position, i) => ({ ...position, isExogenous: outside.includes(i) })),
    recorded: 'bad',
    repairs: 'the answer without the planted fact',
    expect: ({ keep }) => ({ modelCalls: count - keep }),
    draw: (spec) => {
      made.push(spec)
      const chance = random(seedOf(seed, JSON.stringify(spec)))
      const held = new Set<number>()
      let hasSlipped = false
      for (let i = 0; i < count; i++) {
        const isRecorded = i < spec.keep || spec.pinned?.includes(i) === true
        const isFact = facts.includes(i)
        if (spec.repaired?.includes(i) === true) continue
        if (isRecorded) {
          if (isFact) held.add(i)
          continue
        }
        if (isFact && again > 0 && chance() < again) held.add(i)
        if (slip > 0 && chance() < slip) hasSlipped = true
      }
      const grade: Grade = hasSlipped || fails((position) => held.has(position)) ? 'bad' : 'ok'
      const isNoisy = slip > 0 || again > 0
      const fingerprint = isNoisy ? JSON.stringify(spec) : [...held].join(',')
      return Promise.resolve({ grade, modelCalls: count - spec.keep, fingerprint })
    },
  }
  return { source, made }
}

/** In how many ways k of n can be chosen, in exact arithmetic. */
export function choose(n: number, k: number): bigint {
  let ways = 1n
  for (let i = 1; i <= k; i++) ways = (ways * BigInt(n - k + i)) / BigInt(i)
  return ways
}

/** How likely each number of hits is in so many runs. */
export function binomial(runs: number, rate: number): number[] {
  return Array.from(
    { length: runs + 1 },
    (_, hits) => Number(choose(runs, hits)) * rate ** hits * (1 - rate) ** (runs - hits),
  )
}

/** How often something stopped at once was ever seen on walks of so many runs: exact, over all walks. */
export function everSeen(steps: number, rate: number, isSeen: (hits: number, misses: number) => boolean): number {
  let alive = new Map([[0, 1]])
  let seen = 0
  for (let runs = 1; runs <= steps; runs++) {
    const next = new Map<number, number>()
    for (const [hits, chance] of alive) {
      for (const [after, share] of [
        [hits + 1, rate],
        [hits, 1 - rate],
      ] as const) {
        if (isSeen(after, runs - after)) seen += chance * share
        else next.set(after, (next.get(after) ?? 0) + chance * share)
      }
    }
    alive = next
  }
  return seen
}
