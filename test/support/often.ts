/** How many times as often `npm run test:explore` tries what {@link often} counts. */
const times = Number(process.env['HARVEST_PROPERTY_TIMES'] ?? 1)
if (!Number.isSafeInteger(times) || times < 1)
  throw new RangeError(`HARVEST_PROPERTY_TIMES is not a whole number from 1: ${times}`)

/**
 * How many values a property tries that takes seconds: with a fixed seed, `npm test` tries the same ones each time, so a
 * few are enough to see broken code. `npm run test:explore`, where every seed is another, tries five times as many.
 */
export function often(runs: number): number {
  return runs * times
}
