import type { Thinning } from '../seam/source.ts'
import type { Json } from '../tape/index.ts'

/** The last snapshot of a name, and what happened since. */
interface Kept {
  calls: number
  at: number
  text: string
  steps: number
}

/** Which calls of `state` leave a snapshot. */
export class Snapshots {
  readonly #kept = new Map<string, Kept>()
  #steps = 0

  /** The run made a step. */
  stepped(): void {
    this.#steps++
  }

  /**
   * The number of this call of a name inside the tool call `inside`.
   *
   * @returns also whether it leaves a snapshot
   */
  called(
    { name, inside }: { readonly name: string; readonly inside: number | undefined },
    data: Json,
    thinning: Thinning | undefined,
  ): { readonly call: number; readonly isKept: boolean } {
    const key = JSON.stringify([inside ?? null, name])
    const kept = this.#kept.get(key)
    const call = (kept?.calls ?? 0) + 1
    if (kept !== undefined) kept.calls = call
    // Only a rule reads the text.
    const text = thinning === undefined ? '' : JSON.stringify(data)
    const isKept = kept === undefined || thinning === undefined || this.#isDue(kept, text, thinning)
    if (isKept) this.#kept.set(key, { calls: call, at: call, text, steps: this.#steps })
    return { call, isKept }
  }

  #isDue({ calls, at, text: before, steps }: Kept, text: string, { every, change, activity }: Thinning): boolean {
    return (
      (every !== undefined && calls - at >= every) ||
      (activity !== undefined && this.#steps - steps >= activity) ||
      (change !== undefined && before !== text && shareOfNew(before, text) >= change)
    )
  }
}

/** The share of a text that stands neither at the beginning nor at the end of the one before. */
function shareOfNew(before: string, text: string): number {
  const most = Math.min(before.length, text.length)
  let head = 0
  while (head < most && before[head] === text[head]) head++
  let tail = 0
  while (tail < most - head && before.at(-1 - tail) === text.at(-1 - tail)) tail++
  const length = Math.max(before.length, text.length)
  return length === 0 ? 0 : 1 - (head + tail) / length
}
