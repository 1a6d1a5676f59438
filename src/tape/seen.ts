const pageBits = 4096
const wordBits = 32

/** A set of whole numbers that costs two bits each while they are dense, as the numbers of a tape are. */
export class SeenNumbers {
  // Lists and no typed arrays: a small tape has one page, and making 512 bytes outside the heap takes longer than reading a line.
  readonly #pages = new Map<number, number[]>()

  /** Adds a number; `false` when it was there already. */
  add(n: number): boolean {
    const page = Math.floor(n / pageBits)
    let words = this.#pages.get(page)
    if (words === undefined) {
      words = new Array<number>(pageBits / wordBits).fill(0)
      this.#pages.set(page, words)
    }
    const at = n % pageBits
    const word = Math.floor(at / wordBits)
    const mask = 1 << (at % wordBits)
    const before = words[word]!
    words[word] = before | mask
    return (before & mask) === 0
  }
}
