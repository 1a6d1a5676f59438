import { resolve } from 'node:path'
import type { KnownRun } from '../blame/types.ts'
import { type Case, requireTapeFile } from '../cases/index.ts'
import { HarvestError } from '../errors/index.ts'
import { listCases } from '../recordings/index.ts'
import { typedAgain } from './typed-again.ts'

/** So many runs are looked at. */
const mostKnown = 20

/**
 * Cases of runs of the same agent that pass: graded as another one is, they say what a run can be. A function grades them
 * later, in the process that can load it.
 */
export function knownRuns({ agent }: { readonly agent?: string | undefined }, recordings: string): readonly KnownRun[] {
  const passing = listCases(recordings).flatMap(({ case: kase }): readonly KnownRun[] => {
    if (kase === undefined || kase.agent !== agent || kase.expect !== 'pass') return []
    const file = tapeFileOf(kase)
    return file === undefined ? [] : [{ name: kase.id, file }]
  })
  return passing.slice(0, mostKnown)
}

/** What was typed, with a case of the same agent that passes to answer what its own tape does not. */
export function withReference({ agent, id }: Pick<Case, 'agent' | 'id'>, recordings: string): string {
  const other = knownRuns({ agent }, recordings).find(({ name }) => name !== id)
  return typedAgain({ reference: other?.name ?? '<tape|case>' })
}

/** `undefined` where the tape of a case is gone: such a case is no proposal. */
function tapeFileOf(kase: Case): string | undefined {
  try {
    return resolve(requireTapeFile(kase))
  } catch (error) {
    if (HarvestError.is(error)) return undefined
    throw error
  }
}
