/** The four words of a generator; who seeds it changes them between two draws. */
export interface Sfc32 {
  a: number
  b: number
  c: number
  d: number
}

/** A generator before it is seeded. */
export function sfc32(): Sfc32 {
  return { a: 0x9e3779b9, b: 0x243f6a88, c: 0xb7e15162, d: 1 }
}

/**
 * The next 32 bits: 128 bits of state, and fast without 64-bit numbers. Good for models; no secret may hang on them.
 *
 * @see sfc32 of Chris Doty-Humphrey's PractRand
 */
export function draw(state: Sfc32): number {
  const { a, b, c, d } = state
  const t = (((a + b) | 0) + d) | 0
  state.d = (d + 1) | 0
  state.a = b ^ (b >>> 9)
  state.b = (c + (c << 3)) | 0
  state.c = (((c << 21) | (c >>> 11)) + t) | 0
  return t >>> 0
}
