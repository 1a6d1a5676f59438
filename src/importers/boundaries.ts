import { lateStarts } from './late-starts.ts'
import type { ForeignStep } from './types.ts'

/** That a step began or ended. */
export interface SpanBoundary {
  readonly step: ForeignStep
  readonly what: 'begins' | 'ends'
  /** Milliseconds since the run began. */
  readonly at: number
}

/**
 * Beginnings and ends of steps in one order.
 *
 * When every step says when it began, times decide: what overlapped stays overlapping. At the same time ends come before
 * beginnings, and a tool before what is inside of it, which never begins before it either: clocks of two threads differ
 * by more than the steps between them take. Otherwise the list is the order, a millisecond for each step: a call ends
 * before the next one begins, but for calls that were asked for together.
 */
export function boundariesOf(steps: readonly ForeignStep[]): readonly SpanBoundary[] {
  const happened = steps.filter((step) => !isAfterwards(step))
  if (happened.some(({ startedMs }) => startedMs === undefined)) return listed(steps)
  const order = timed(happened)
  const at = order.at(-1)?.at ?? 0
  return [...order, ...steps.filter(isAfterwards).map((step): SpanBoundary => ({ step, what: 'begins', at }))]
}

/** A note without a time is one on the run as a whole. */
function isAfterwards({ kind, startedMs }: ForeignStep): boolean {
  return kind === 'mark' && startedMs === undefined
}

interface Placed extends SpanBoundary {
  /** Of steps that end later than they begin: ends first. */
  readonly rank: 0 | 1
  readonly depth: number
  readonly index: number
}

function timed(steps: readonly ForeignStep[]): readonly SpanBoundary[] {
  const nesting = new Nesting(steps)
  const first = steps.reduce((least, { startedMs = 0 }) => Math.min(least, startedMs), Infinity)
  const placed = steps.flatMap((step, index): readonly Placed[] => {
    const { depth, startedMs } = nesting.of(step)
    const began = micro(startedMs - first)
    // No end before the beginning that its parent moved.
    const ended = Math.max(began, micro((step.startedMs ?? 0) + (step.tookMs ?? 0) - first))
    const place = { step, depth, index }
    return [
      { ...place, what: 'begins', at: began, rank: 1 },
      { ...place, what: 'ends', at: ended, rank: ended > began ? 0 : 1 },
    ]
  })
  return placed.sort((a, b) => {
    if (a.at !== b.at) return a.at - b.at
    if (a.rank !== b.rank) return a.rank - b.rank
    if (a.rank === 0) return b.depth - a.depth || a.index - b.index
    // Beginnings, and steps that took no time: each ends before the next one begins.
    return a.depth - b.depth || a.index - b.index || (a.what === 'begins' ? -1 : 1)
  })
}

/** To a thousandth of a millisecond: finer than clocks of traces are. */
function micro(ms: number): number {
  return Math.round(ms * 1000) / 1000
}

/** How deep a step lies inside of tools, and when it began at the earliest. */
class Nesting {
  readonly #byId = new Map<string, ForeignStep>()
  readonly #late: ReadonlyMap<ForeignStep, number>
  readonly #known = new Map<ForeignStep, { readonly depth: number; readonly startedMs: number }>()

  constructor(steps: readonly ForeignStep[]) {
    this.#late = lateStarts(steps)
    for (const step of steps) if ('id' in step && step.id !== undefined) this.#byId.set(step.id, step)
  }

  of(step: ForeignStep): { readonly depth: number; readonly startedMs: number } {
    const chain: ForeignStep[] = []
    const seen = new Set<ForeignStep>()
    for (let at: ForeignStep | undefined = step; at !== undefined && !this.#known.has(at) && !seen.has(at); ) {
      chain.push(at)
      seen.add(at)
      const parent: string | undefined = 'parent' in at ? at.parent : undefined
      at = parent === undefined ? undefined : this.#byId.get(parent)
    }
    for (const one of chain.reverse()) {
      const parent = 'parent' in one && one.parent !== undefined ? this.#byId.get(one.parent) : undefined
      const above = parent === undefined ? undefined : this.#known.get(parent)
      const startedMs = Math.max(this.#late.get(one) ?? one.startedMs ?? 0, above?.startedMs ?? 0)
      this.#known.set(one, { depth: (above?.depth ?? -1) + 1, startedMs })
    }
    return this.#known.get(step)!
  }
}

function listed(steps: readonly ForeignStep[]): readonly SpanBoundary[] {
  const boundaries: SpanBoundary[] = []
  let together: ForeignStep[] = []
  let at = 0
  const end = (): void => {
    for (const step of together) boundaries.push({ step, what: 'ends', at })
    if (together.length > 0) at++
    together = []
  }
  for (const step of steps) {
    const group = groupOf(step)
    if (group === undefined || group !== groupOf(together[0])) end()
    boundaries.push({ step, what: 'begins', at })
    together.push(step)
  }
  end()
  return boundaries
}

function groupOf(step: ForeignStep | undefined): string | undefined {
  return step !== undefined && 'group' in step ? step.group : undefined
}
