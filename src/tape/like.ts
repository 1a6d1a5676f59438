import type { Body } from './types.ts'

/** A body that repeats an earlier request body. */
export type LikeBody = Extract<Body, { readonly like: number }>

/**
 * How many request bodies back a body may refer to. A rule of the format: a reader that streams keeps this many
 * bodies and no more.
 */
export const likeWindow = 32

// A reference is worth its loss of readability when it saves much; of a small body there is nothing to save.
const leastSaving = 200
const triedPerBody = 4
const blocks = [4096, 1024, 256, 64, 16]

interface Base {
  readonly n: number
  readonly url: string
  readonly text: string
}

/**
 * The request bodies a line may refer to. Agents send their whole conversation with every call, so most of a
 * body stands on an earlier line already. Writer and readers keep the same window, in file order.
 */
export class RecentBodies {
  readonly #bases: Base[] = []

  /** Every full text body passes here once, in file order. */
  remember(n: number, url: string, text: string): void {
    this.#bases.push({ n, url, text })
    if (this.#bases.length > likeWindow) this.#bases.shift()
  }

  /** The body as a reference to one of the latest bodies sent to the same URL, or `undefined` when that saves little. */
  findLike(url: string, text: string): LikeBody | undefined {
    if (text.length < leastSaving) return undefined
    let best: LikeBody | undefined
    let tried = 0
    for (let at = this.#bases.length - 1; at >= 0 && tried < triedPerBody; at--) {
      const base = this.#bases[at]!
      if (base.url !== url) continue
      tried++
      const like = asLike(base, text)
      if (best === undefined || like.text.length < best.text.length) best = like
    }
    if (best === undefined) return undefined
    const saved = best.head + best.tail
    return saved >= leastSaving && saved * 2 >= text.length ? best : undefined
  }

  /** The full text a reference stands for, or `undefined` when it refers to nothing in the window. */
  resolve({ like, head, text, tail }: LikeBody): string | undefined {
    const base = this.#bases.findLast(({ n }) => n === like)?.text
    if (base === undefined || head + tail > base.length) return undefined
    return base.slice(0, head) + text + base.slice(base.length - tail)
  }
}

function asLike({ n, text: base }: Base, text: string): LikeBody {
  const limit = Math.min(base.length, text.length)
  let head = samePrefix(base, text, limit)
  if (splitsPair(text, head)) head--
  let tail = sameSuffix(base, text, limit - head)
  if (splitsPair(text, text.length - tail)) tail--
  return { like: n, head, text: text.slice(head, text.length - tail), tail }
}

/** Blocks are compared as memory, ever smaller ones where they differ; characters only in the last few. */
function samePrefix(a: string, b: string, limit: number): number {
  let same = 0
  for (const block of blocks)
    while (same + block <= limit && a.slice(same, same + block) === b.slice(same, same + block)) same += block
  while (same < limit && a.charCodeAt(same) === b.charCodeAt(same)) same++
  return same
}

function sameSuffix(a: string, b: string, limit: number): number {
  const [endA, endB] = [a.length, b.length]
  let same = 0
  for (const block of blocks) {
    while (
      same + block <= limit &&
      a.slice(endA - same - block, endA - same) === b.slice(endB - same - block, endB - same)
    ) {
      same += block
    }
  }
  while (same < limit && a.charCodeAt(endA - same - 1) === b.charCodeAt(endB - same - 1)) same++
  return same
}

/** Whether a cut at `at` would part the two halves of a surrogate pair. */
function splitsPair(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false
  const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)]
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff
}
