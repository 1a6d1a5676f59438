import path from 'node:path'
import { printedPath } from '../errors/here.ts'
import { type HarvestError, shellWord, withFacts } from '../errors/index.ts'
import type { Case } from '../cases/index.ts'
import type { Tape } from '../tape/index.ts'

/**
 * The next steps of a red case, as they work where the run was started: commands look for a case in `./recordings`, and the
 * run of a workspace has cases in the folders of its packages.
 *
 * @param recordings - absolute folder of the case
 */
export function stepsFromHere(error: HarvestError, { id, file }: Case, recordings: string, tape?: Tape): HarvestError {
  const { fix } = error.facts
  if (fix === undefined || path.resolve('recordings') === recordings) return error
  const words = [id, ...(tape === undefined ? [] : [tape.header.id])].map(shellWord)
  const steps = fix.map((step) => {
    const [whole, command, word] = /npx vitest-harvest (\S+) (\S+)/.exec(step) ?? []
    if (whole === undefined || word === undefined || !words.includes(word)) return step
    // Vitest looks for parts of paths, and other packages may have a case of this name.
    if (command === 'test' && !step.includes('--prove'))
      return step.replace(whole, () => `npx vitest-harvest test ${shellWord(printedPath(file))}`)
    return `${step} --dir ${shellWord(printedPath(recordings))}`
  })
  return withFacts(error, { fix: steps })
}
