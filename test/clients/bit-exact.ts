import type { ByteComparison } from '../../src/match/types.ts'

/** Every recorded step was served for a byte-identical request; what a served tool did inside it was not needed. */
export function isBitExact({ recorded, served, covered, identical }: ByteComparison): boolean {
  return recorded > 0 && served + covered === recorded && identical === served
}
