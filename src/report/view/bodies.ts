import type { Texts } from './texts.ts'
import type { ReportBody } from './types.ts'

/** SharedBodies that are looked at for the same beginning and end. */
const looked = 4
/** Characters that must be saved. */
const worthwhile = 2_048

/** Request bodies of a run: an agent sends its whole conversation with each request, so most of a body stood before. */
export class SharedBodies {
  readonly #texts: Texts
  readonly #last: { readonly no: number; readonly body: string }[] = []

  constructor(texts: Texts) {
    this.#texts = texts
  }

  /** @param no - number of its step */
  add(no: number, body: string): ReportBody {
    let best = { no: 0, head: 0, tail: 0 }
    for (const { no: other, body: known } of this.#last) {
      if (known === body) {
        best = { no: other, head: body.length, tail: 0 }
        break
      }
      const found = sameEnds(known, body)
      if (found.head + found.tail > best.head + best.tail) best = { no: other, ...found }
    }
    this.#last.unshift({ no, body })
    this.#last.length = Math.min(this.#last.length, looked)
    const { head, tail } = best
    if (head + tail < worthwhile) return this.#texts.add(body)
    return { like: best.no, head, t: this.#texts.add(body.slice(head, body.length - tail)), tail }
  }
}

function sameEnds(known: string, body: string): { readonly head: number; readonly tail: number } {
  const shortest = Math.min(known.length, body.length)
  let head = 0
  while (head < shortest && known.charCodeAt(head) === body.charCodeAt(head)) head++
  let tail = 0
  const room = shortest - head
  while (tail < room && known.charCodeAt(known.length - 1 - tail) === body.charCodeAt(body.length - 1 - tail)) tail++
  return { head, tail }
}
