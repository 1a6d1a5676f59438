/** A larger file is refused before it is read. */
export const fileCap = 256 * 1024 * 1024

/** One document or list item of YAML is at most this long: its parser needs some thirty times as much memory. */
export const yamlCap = 24 * 1024 * 1024

/** Parts of one document or list item of YAML; of 400 real recordings the largest has 13,200 as a whole. */
export const yamlTokenCap = 75_000

/** So many parts of YAML have two characters each, or more; those of 500 real recordings have three or more each. */
export const yamlDense = { parts: 15_000, characters: 2 }

/** Lines of one document or list item of YAML: what 24 MiB have where a long text is folded at sixty characters. */
export const yamlLineCap = 400_000

/** Aliases of one document or list item of YAML; recorders write one for each set of headers that two requests share. */
export const aliasCountCap = 5_000

/** Parts of one JSON document: commas, for that is what can be counted before anything is built. Real recordings have forty bytes a part, or more. */
export const partCap = 3_000_000

/** So many parts of JSON have four bytes each, or more. */
export const jsonDense = { parts: 1_000_000, characters: 4 }

/** Names in one map of JSON, those that stand in it twice counted twice. */
export const nameCap = 100_000

/** Digits of one number. The largest number JavaScript has is written with 309; to make a whole one of millions takes seconds. */
export const digitCap = 400

/** What aliases may add to a document; recorders share a set of headers now and then, bombs share everything. */
export const aliasCap = 50_000

/** Characters that aliases may repeat, together. */
export const aliasTextCap = 8 * 1024 * 1024

/** Deeper nesting is refused: code that walks a value by recursion would overflow the stack. */
export const depthCap = 128

/** Calls of one recording. */
export const callCap = 100_000

/** What a body may grow to when it is decompressed. */
export const bodyCap = 64 * 1024 * 1024

/** What all bodies of one recording may grow to, together. */
export const bodiesCap = 512 * 1024 * 1024

/** What a body may grow to no matter what it is compressed from. */
const smallBody = 128 * 1024

/** Text of models and APIs is compressed to a tenth; a thousandth is what bombs are made of. */
const ratioCap = 100

/** What compressed bodies of one recording may grow to together, no matter what they are compressed from. */
const smallBodies = 2 * 1024 * 1024

/** What was compressed many times over in one body is less so in all of them. */
const bodiesRatioCap = 20

/** How many bytes may come out of so many compressed ones. */
export function decompressedCap(compressed: number): number {
  return Math.min(bodyCap, Math.max(smallBody, compressed * ratioCap))
}

/** How many bytes may come out of all compressed bodies of a recording, together. */
export function decompressedBodiesCap(compressed: number): number {
  return Math.max(smallBodies, compressed * bodiesRatioCap)
}
