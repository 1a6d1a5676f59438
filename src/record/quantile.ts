/**
 * A quantile of a stream, estimated with five markers and without keeping the values: the P² algorithm.
 *
 * Memory and time per value are constant. The first five values are kept as they are; from then on the markers stand
 * at the smallest value, at half the quantile, at the quantile, half way from there to the largest, and at the largest
 * value, and are moved along a parabola through their neighbours.
 *
 * @see Jain & Chlamtac, Communications of the ACM 28 (1985) 1076–1085, box 1; its worked example is a test of ours
 */
export class RunningQuantile {
  readonly #wanted: readonly number[]
  #heights: number[] = []
  readonly #places = [1, 2, 3, 4, 5]
  #count = 0

  /** @param quantile - in (0, 1); 0.99: one value in a hundred is larger */
  constructor(quantile: number) {
    if (!(quantile > 0 && quantile < 1)) throw new RangeError(`a quantile lies between 0 and 1, not at ${quantile}`)
    this.#wanted = [0, quantile / 2, quantile, (1 + quantile) / 2, 1]
  }

  /** How many values were added. */
  get count(): number {
    return this.#count
  }

  /** The estimate; `undefined` before the fifth value. */
  get value(): number | undefined {
    return this.#count < 5 ? undefined : this.#heights[2]
  }

  /** Adds a value. */
  add(value: number): void {
    this.#count++
    if (this.#count <= 5) {
      this.#heights.push(value)
      if (this.#count === 5) this.#heights.sort((a, b) => a - b)
      return
    }
    this.#makeRoom(value)
    for (let marker = 1; marker < 4; marker++) this.#adjust(marker)
  }

  /** Stretches the ends, and moves up every marker above the value. */
  #makeRoom(value: number): void {
    const heights = this.#heights
    const places = this.#places
    heights[0] = Math.min(heights[0]!, value)
    heights[4] = Math.max(heights[4]!, value)
    for (let marker = 1; marker < 4; marker++) if (value < heights[marker]!) places[marker]! += 1
    places[4]! += 1
  }

  #adjust(marker: number): void {
    const heights = this.#heights
    const places = this.#places
    const ideal = 1 + (this.#count - 1) * this.#wanted[marker]!
    const here = places[marker]!
    const before = places[marker - 1]!
    const after = places[marker + 1]!
    const off = ideal - here
    const step = off >= 1 && after - here > 1 ? 1 : off <= -1 && before - here < -1 ? -1 : 0
    if (step === 0) return
    const [low, height, high] = [heights[marker - 1]!, heights[marker]!, heights[marker + 1]!]
    const parabola =
      height +
      (step / (after - before)) *
        (((here - before + step) * (high - height)) / (after - here) +
          ((after - here - step) * (height - low)) / (here - before))
    const [toward, there] = step === 1 ? [high, after] : [low, before]
    const line = height + (step * (toward - height)) / (there - here)
    heights[marker] = low < parabola && parabola < high ? parabola : line
    places[marker] = here + step
  }
}
