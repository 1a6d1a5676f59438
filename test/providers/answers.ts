import fc from 'fast-check'

/** Text cut into pieces, and calls whose arguments are cut into pieces. */
const cuts = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 })
const args = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 })
const call = fc.record({ name: fc.constantFrom('lookup', 'weather', 'refund'), args, cuts })

/** What a model may answer, and how its stream is cut. */
export const answer = fc.record({
  text: fc.string({ unit: 'grapheme', maxLength: 30 }),
  cuts,
  calls: fc.array(call, { maxLength: 4 }),
})

/** A text in pieces of these lengths, over and over. */
export function pieces(text: string, lengths: readonly number[]): readonly string[] {
  const found: string[] = []
  for (let [at, i] = [0, 0]; at < text.length; i++) {
    const length = lengths[i % lengths.length] ?? 1
    found.push(text.slice(at, at + length))
    at += length
  }
  return found
}
