import fc from 'fast-check'
import { fateOf, type Mutant, mutants } from '../test/importers/mutations.ts'

/**
 * Imports many recordings with mistakes in them. Each has to become tapes that can be read, or be refused with a typed
 * error that says where. Prints how many came to which end, by format, and the one that took longest; what breaks the
 * promise is thrown with its seed.
 *
 *     node scripts/import-mutants.ts [runs, default 100000] [seed]
 */
const [runs = '100000', seed = String(Date.now() % 2 ** 31)] = process.argv.slice(2)
const numRuns = Number(runs)
if (!Number.isInteger(numRuns) || numRuns < 1) throw new RangeError(`runs are a whole number from 1 on, not ${runs}`)

const ends = new Map<string, number>()
const formats = new Map<string, number>()
let slowest: { readonly ms: number; readonly mutant?: Mutant } = { ms: 0 }

fc.assert(
  fc.property(mutants, (mutant) => {
    const begun = process.cpuUsage()
    const end = fateOf(mutant)
    const { user, system } = process.cpuUsage(begun)
    const ms = (user + system) / 1000
    if (ms > slowest.ms) slowest = { ms, mutant }
    ends.set(end, (ends.get(end) ?? 0) + 1)
    formats.set(mutant.sample, (formats.get(mutant.sample) ?? 0) + 1)
  }),
  { numRuns, seed: Number(seed) },
)

console.log(`${numRuns} mutants, seed ${seed}: none broke the promise`)
for (const [end, count] of [...ends].sort((a, b) => b[1] - a[1])) console.log(`${String(count).padStart(8)}  ${end}`)
console.log([...formats].map(([format, count]) => `${format} ${count}`).join(', '))
console.log(`the slowest took ${slowest.ms.toFixed(0)} ms of processor time (${slowest.mutant?.sample ?? ''})`)
