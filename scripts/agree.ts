// Whether the recorder and `check` find the same secrets: random bodies through a real recorder.
//
//     node scripts/agree.ts [bodies, default 10000] [seed, default 1]
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { disagreements } from '../test/privacy/agree.ts'
import { arbitraryBody } from '../test/privacy/arbitrary.ts'

const [count = 10_000, seed = 1] = process.argv.slice(2).map(Number)
if (![count, seed].every(Number.isSafeInteger)) throw new RangeError('expected whole numbers')
const dir = mkdtempSync(join(tmpdir(), 'harvest-agree-'))
try {
  const found = await disagreements(dir, fc.sample(arbitraryBody, { seed, numRuns: count }))
  for (const line of found.slice(0, 20)) console.log(line)
  console.log(`${count} bodies, seed ${seed}: ${found.length} on which they do not agree`)
  process.exitCode = found.length === 0 ? 0 : 1
} finally {
  rmSync(dir, { recursive: true, force: true })
}
