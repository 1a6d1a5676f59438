/**
 * A number in [0, 1) that belongs to a name: the same name gives the same number in every process and in every order of
 * asking. Runs made of such numbers need no generator whose state someone would have to carry.
 *
 * FNV-1a over the characters, then the finalizer of MurmurHash3, which spreads neighbouring names.
 */
export function chanceOf(...name: readonly (string | number)[]): number {
  let hash = 0x811c9dc5
  for (const character of name.join('/')) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 0x1_0000_0000
}

/** A whole number, `from` ≤ it < `to`, that belongs to a name. */
export function pickOf(from: number, to: number, ...name: readonly (string | number)[]): number {
  return from + Math.floor(chanceOf(...name) * (to - from))
}
