import path from 'node:path'
import { packagesWith } from '../errors/above.ts'
import { caseStepFromHere, inFolder, isRecordingsHere } from '../errors/case-steps.ts'
import { type HarvestError, shellWord, withFacts } from '../errors/index.ts'
import type { Case } from '../cases/index.ts'
import { configNames } from '../jobs/index.ts'
import type { Tape } from '../tape/index.ts'

/**
 * The next steps of a red case, as they work where the run was started: commands look for a case in `./recordings`, and the
 * run of a workspace has cases in the folders of its packages.
 *
 * @param recordings - absolute folder of the case
 */
export function stepsFromHere(error: HarvestError, { id, file }: Case, recordings: string, tape?: Tape): HarvestError {
  const names = [id, ...(tape === undefined ? [] : [tape.header.id])]
  const hasPackages = packagesWith([...configNames, path.basename(recordings)]).length > 0
  // Without packages beside them the name is enough.
  if (isRecordingsHere(recordings) && !hasPackages) return error
  return withSteps(error, (step) => {
    const [, word] = /npx vitest-harvest \S+ (\S+)/.exec(step) ?? []
    const name = names.find((one) => shellWord(one) === word)
    return name === undefined ? step : caseStepFromHere(step, name, { file, recordings, hasPackages })
  })
}

/**
 * The same for an error that is about no case: of the golden set, or of a tape in a hand-written test. What is left for the
 * reader to fill in has its place in the same recordings.
 *
 * @param names - names of tapes that steps are about
 */
export function tapeStepsFromHere(
  error: HarvestError,
  recordings: string,
  names: readonly string[] = [],
): HarvestError {
  const known = [...names.map(shellWord), "'<tape>'", "'<id>'"]
  if (isRecordingsHere(recordings)) return error
  return withSteps(error, (step) => {
    const [, command, word = ''] = /npx vitest-harvest (\S+)(?: (\S+))?/.exec(step) ?? []
    return command === 'ls' || known.includes(word) ? inFolder(step, recordings) : step
  })
}

function withSteps(error: HarvestError, change: (step: string) => string): HarvestError {
  const { fix } = error.facts
  if (fix === undefined) return error
  return withFacts(error, { fix: fix.map(change) })
}
