/** A larger file is refused before it is read. */
export const fileCap = 256 * 1024 * 1024

/** One document or list item of YAML is at most this long: its parser needs some thirty times as much memory. */
export const yamlCap = 24 * 1024 * 1024

/** Parts of one document or list item of YAML; of 400 real recordings the largest has 13,200 as a whole. */
export const yamlTokenCap = 250_000

/** What aliases may add to a document; recorders share a set of headers now and then, bombs share everything. */
export const aliasCap = 50_000

/** Deeper nesting is refused: code that walks a value by recursion would overflow the stack. */
export const depthCap = 128

/** Calls of one recording. */
export const callCap = 100_000

/** What a body may grow to when it is decompressed. */
export const bodyCap = 64 * 1024 * 1024

/** What all bodies of one recording may grow to, together. */
export const bodiesCap = 512 * 1024 * 1024

/** What a body may grow to whatever it is compressed from. */
const smallBody = 1024 * 1024

/** Text of models and APIs is compressed to a tenth; a thousandth is what bombs are made of. */
const ratioCap = 100

/** How many bytes may come out of so many compressed ones. */
export function decompressedCap(compressed: number): number {
  return Math.min(bodyCap, Math.max(smallBody, compressed * ratioCap))
}
