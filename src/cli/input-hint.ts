import type { TapeHeader } from '../tape/index.ts'

/** Whether it is unknown what the run of a tape was started with, as of most imports. */
export function lacksInput({ imported, input }: TapeHeader): boolean {
  return input === undefined && imported?.missing.includes('input') === true
}

/** What to do then. */
export const inputHint =
  "import it again with what the run was started with: npx vitest-harvest import '<file>' --as '<name>' --input '<json>'"
