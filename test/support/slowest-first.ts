import { readFileSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Test files that take longest, the longest first: made by `node scripts/slowest-tests.ts`. */
export const slowest = JSON.parse(readFileSync(new URL('./slowest.json', import.meta.url), 'utf8')) as readonly string[]

/**
 * Starts the test files that take longest before all others: one that starts last has the machine to itself while
 * everybody waits. Vitest knows how long files took only where it ran before, which CI never did.
 */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b))
  }
}

function place({ moduleId }: TestSpecification): number {
  const at = slowest.findIndex((file) => moduleId.endsWith(`/${file}`))
  return at === -1 ? slowest.length : at
}
