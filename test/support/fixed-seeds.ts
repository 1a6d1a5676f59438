import fc, { type RunDetails } from 'fast-check'
import { afterAll } from 'vitest'

/**
 * Gives every property of the tests one fixed seed, so that two runs of `npm test` try the same values. New values are
 * tried by `npm run test:explore`, which sets the seed. What it finds becomes an entry of the property's `examples`.
 */
const seed = Number(process.env['HARVEST_PROPERTY_SEED'] ?? 20_260_304)
if (!Number.isSafeInteger(seed)) throw new RangeError(`HARVEST_PROPERTY_SEED is not a whole number: ${seed}`)

fc.configureGlobal({ seed, reporter: report })

afterAll(() => {
  const { seed: left } = fc.readConfigureGlobal()
  if (left !== seed) throw new Error(`this file left the properties with the seed ${left}, not with ${seed}`)
})

/** The message of fast-check, and the counterexample as it is kept. */
function report(details: RunDetails<unknown>): void {
  if (!details.failed) return
  const { counterexample, errorInstance } = details
  const kept =
    counterexample === null
      ? ''
      : `\n\nTo keep it, in the options of the property:\n  examples: [${fc.stringify(counterexample)}],`
  throw new Error(`${fc.defaultReportMessage(details)}${kept}`, { cause: errorInstance })
}
