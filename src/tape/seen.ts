const pageBits = 4096

/** A set of whole numbers that costs about a bit each while they are dense, as the numbers of a tape are. */
export class SeenNumbers {
  readonly #pages = new Map<number, Uint8Array>()

  /** Adds a number; `false` when it was there already. */
  add(n: number): boolean {
    const page = Math.floor(n / pageBits)
    let bits = this.#pages.get(page)
    if (bits === undefined) {
      bits = new Uint8Array(pageBits / 8)
      this.#pages.set(page, bits)
    }
    const at = n % pageBits
    const mask = 1 << (at & 7)
    const had = (bits[at >> 3]! & mask) !== 0
    bits[at >> 3]! |= mask
    return !had
  }
}
