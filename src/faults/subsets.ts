import fc from 'fast-check'

/** What a set of faults is made of, and how one of them is drawn, checked and made smaller. */
export interface Atoms<T> {
  /** Draws a list out of everything that can happen. */
  draw(random: fc.Random): readonly T[]
  /** Whether this is something that could have been drawn: only then can it be shrunk. */
  isOne(value: unknown): value is T
  /**
   * The same, smaller: the smallest first, then ever less so. Only asked when nothing can be taken out any more.
   * `reached` comes back with the one that still fails, and says which need not be tried again.
   */
  smaller?(one: T, reached: unknown): Iterable<readonly [smaller: T, reached: unknown]>
}

/** How far the shrinking of a list has come. */
interface Progress {
  /** Into how many pieces it is cut. */
  readonly pieces: number
  /** Nothing can be taken out any more; of the items before `item` nothing can be made smaller either. */
  readonly item?: number
  /** Of that item. */
  readonly reached?: unknown
}

/**
 * Lists whose smaller versions are found by delta debugging: halves first, then everything but one piece, the pieces
 * ever smaller. What is left is 1-minimal: without any one of its items it does not fail any more.
 *
 * fast-check's own lists try one item at a time from the front; over 240 faults of which three are needed this takes
 * 50 runs instead of 130.
 *
 * A list that was not drawn can be shrunk too, such as that of an incident: `fc.assert(property, { examples: [[list]] })`.
 *
 * @see Zeller and Hildebrandt, IEEE Trans. Software Eng. 28 (2002) 183–200: ddmin
 */
export class Subsets<T> extends fc.Arbitrary<readonly T[]> {
  readonly #atoms: Atoms<T>

  constructor(atoms: Atoms<T>) {
    super()
    this.#atoms = atoms
  }

  override generate(random: fc.Random): fc.Value<readonly T[]> {
    return new fc.Value(this.#atoms.draw(random), undefined)
  }

  override canShrinkWithoutContext(value: unknown): value is readonly T[] {
    return Array.isArray(value) && value.every((one) => this.#atoms.isOne(one))
  }

  override shrink(list: readonly T[], context: unknown): fc.Stream<fc.Value<readonly T[]>> {
    return fc.stream(this.#smaller(list, isProgress(context) ? context : { pieces: 2 }))
  }

  *#smaller(list: readonly T[], { pieces, item, reached }: Progress): Generator<fc.Value<readonly T[]>> {
    if (item === undefined) yield* withoutPieces(list, pieces)
    if (this.#atoms.smaller === undefined) return
    for (let i = item ?? 0; i < list.length; i++) {
      const candidates = this.#atoms.smaller(list[i] as T, i === item ? reached : undefined)
      for (const [one, now] of candidates)
        yield new fc.Value(list.with(i, one), { pieces: list.length, item: i, reached: now })
    }
  }
}

function* withoutPieces<T>(list: readonly T[], from: number): Generator<fc.Value<readonly T[]>> {
  const { length } = list
  if (length === 0) return
  if (length === 1) return yield new fc.Value([], { pieces: 2 })
  for (let pieces = Math.min(length, from); ; pieces = Math.min(length, pieces * 2)) {
    const size = Math.ceil(length / pieces)
    const starts = Array.from({ length: Math.ceil(length / size) }, (_, i) => i * size)
    // Of two pieces each is all but the other.
    if (pieces === 2) for (const start of starts) yield new fc.Value(list.slice(start, start + size), { pieces: 2 })
    else
      for (const start of starts)
        yield new fc.Value(list.toSpliced(start, size), { pieces: Math.max(2, Math.min(pieces, starts.length) - 1) })
    if (pieces >= length) return
  }
}

function isProgress(context: unknown): context is Progress {
  return typeof context === 'object' && context !== null && 'pieces' in context
}
