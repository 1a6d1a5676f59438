import { readFileSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Test files that take longest, the longest first: made by `node scripts/slowest-tests.ts`. */
export const slowest = JSON.parse(readFileSync(new URL('./slowest.json', import.meta.url), 'utf8')) as readonly string[]

/**
 * Starts the test files that take longest before all others: one that starts last has the machine to itself while
 * everybody waits. Vitest knows how long files took only where it ran before, which CI never did. Before those that are
 * isolated come those that share workers: Vitest ends a worker, with all it has loaded, when the next file in the queue is
 * of another project.
 */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = (await super.sort(files)).toSorted((a, b) => place(a) - place(b))
    return [...Map.groupBy(sorted, ({ project }) => project)]
      .toSorted(([a], [b]) => Number(a.config.isolate) - Number(b.config.isolate))
      .flatMap(([, some]) => some)
  }
}

function place({ moduleId }: TestSpecification): number {
  const at = slowest.findIndex((file) => moduleId.endsWith(`/${file}`))
  return at === -1 ? slowest.length : at
}
