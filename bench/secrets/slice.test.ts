import { expect, test } from 'vitest'
import { scan } from '../../src/privacy/index.ts'
import { alikeKinds, lookAlikes, secrets } from './corpus.ts'
import { ours } from './ours.ts'
import { places } from './places.ts'
import { score } from './score.ts'

/** A share of all cells that meets every place and, over the seeds, every kind. */
const every = 9

test('the corpus is as large as it says', () => {
  expect(secrets(1).length).toBeGreaterThanOrEqual(200)
  expect(places.length).toBeGreaterThanOrEqual(15)
  expect(alikeKinds).toBeGreaterThanOrEqual(400)
})

test.each([1, 2, 3])(
  'secrets of all kinds are found in all places, and nothing else is touched: seed %i',
  async (seed) => {
    const { places: byPlace, all, alike, changed, broken, unstable } = await score(() => ours('now'), seed, every)
    const poor = [...byPlace].filter(([, { found, put }]) => found / put < 0.98).map(([id]) => id)
    expect(poor).toEqual([])
    expect(all.found / all.put).toBeGreaterThanOrEqual(0.98)
    expect(changed.length / alike).toBeLessThanOrEqual(0.01)
    expect(broken).toEqual([])
    expect(unstable).toEqual([])
  },
)

test('a search finds something exactly where a recorder would replace something, and nothing in what it leaves', () => {
  const texts = [
    ...secrets(4).flatMap(({ name, text }, at) => {
      const written = places[at % places.length]!.write(name, text)
      return typeof written === 'string' ? [written] : []
    }),
    ...lookAlikes(4).flatMap(({ text }, at) => (at % 3 === 0 ? [text] : [])),
  ]
  for (const text of texts) {
    const redacted = String(ours('now').text(text))
    expect(scan(text).length > 0, text).toBe(redacted !== text)
    expect(scan(redacted), redacted).toEqual([])
  }
})
