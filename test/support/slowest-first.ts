import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Test files that take longest, the longest first. */
const slow = [
  'docs/pages',
  'docs/tarball',
  'store/kill',
  'fidelity/order',
  'cli/examples',
  'host/updates',
  'host/running',
  'fidelity/concurrent',
  'cli/hostile',
  'host/projects',
  'cli/secrets',
  'doctor/doctor',
  'cli/fork',
  'host/ci',
  'host/obsolete',
  'cli/promote',
  'host/watch',
  'cli/rerun',
  'host/hostile',
  'tape/kill',
  'store/disk',
  'cli/patch',
  'story/year',
  'cli/init',
]

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
  const at = slow.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`))
  return at === -1 ? slow.length : at
}
