import { createHash } from 'node:crypto'
import { cutOverlap, isPackedBy, redactSides, type Redactor } from '../privacy/index.ts'
import type { LiveRequest } from '../seam/intercept/index.ts'
import { steadyBoundary } from '../seam/shape.ts'
import type { Tape, WholeBody } from '../tape/index.ts'
import { cutsOf } from '../tape/partial.ts'

/** The bodies of requests of which a tape has only the ends. */
export function requestCuts(tape: Tape): readonly WholeBody[] {
  return cutsOf(tape).filter(({ of }) => of === 'request')
}

/** How much of either end is kept of a body of so many bytes: as much as the tape has of one like it. */
export function windowFor(size: number, cuts: readonly WholeBody[]): number | undefined {
  const same = cuts.find((cut) => cut.size === size) ?? cuts.find(({ window }) => size > 2 * (window + cutOverlap))
  return same?.window
}

/** What a request asks whose body is larger than the recorder keeps: its ends as a tape has them, and what all of it is. */
export function cutQuestion(
  { headers, body }: LiveRequest,
  redactor: Redactor,
  window: number,
): { readonly ends: Buffer; readonly whole: LiveWhole } {
  const whole = new LiveWhole(body, steadyBoundary(headers, nothing).headers !== headers, redactor)
  if (isPackedBy(headers)) return { ends: nothing, whole }
  const steady = (side: Buffer): Buffer => steadyBoundary(headers, side).body
  // As the recorder has, more than is looked through: with its boundary steadied a side is shorter.
  const half = Math.min(window + 2 * cutOverlap, Math.floor(body.length / 2))
  const { head, tail } = redactSides(
    [steady(body.subarray(0, half))],
    [steady(body.subarray(body.length - half))],
    window,
    redactor,
  )
  return { ends: Buffer.concat([...head, ...tail]), whole }
}

const nothing = Buffer.alloc(0)

/** All of a live body of which the ends are compared. */
export class LiveWhole {
  readonly size: number
  /** A boundary that differs each time stands in it. */
  readonly hasBoundary: boolean
  readonly #body: Buffer
  readonly #redactor: Pick<Redactor, 'holds'>
  #sha256: string | undefined
  #isMarked: boolean | undefined

  constructor(body: Buffer, hasBoundary: boolean, redactor: Pick<Redactor, 'holds'>) {
    this.size = body.length
    this.hasBoundary = hasBoundary
    this.#body = body
    this.#redactor = redactor
  }

  get sha256(): string {
    return (this.#sha256 ??= createHash('sha256').update(this.#body).digest('hex'))
  }

  /** Placeholders stand in it: in the place of secrets of any length. */
  get isMarked(): boolean {
    return (this.#isMarked ??= this.#holdsPlaceholders())
  }

  #holdsPlaceholders(): boolean {
    for (let from = 0; from < this.size; from += pieceSize)
      if (this.#redactor.holds(this.#body.toString('utf8', from, from + pieceSize + longestPlaceholder))) return true
    return false
  }
}

const pieceSize = 1024 * 1024
const longestPlaceholder = 256

/**
 * Whether a live body with the ends of a recorded one is that one, as cut arguments are compared. `in part`: the tape has no digest of
 * it, for something in its ends was redacted, or the live one has other bytes in the place of a secret or a boundary.
 */
export function sameWhole(recorded: WholeBody | undefined, live: LiveWhole | undefined): 'same' | 'in part' | 'other' {
  if (recorded === undefined || live === undefined) return recorded === live ? 'same' : 'other'
  const { size, sha256 } = recorded
  if (size === live.size && sha256 === live.sha256) return 'same'
  if (live.isMarked) return 'in part'
  return size === live.size && (sha256 === undefined || live.hasBoundary) ? 'in part' : 'other'
}
