import { here } from '../errors/here.ts'
import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import { type CaseSummary, findCase } from '../recordings/index.ts'
import { neutralLines, type Screen } from '../report/output.ts'
import { program } from './command.ts'

/**
 * Names the cases that are different, with what leads on: a case that cannot be replayed says why, others show what differs.
 *
 * @param said - what follows of it for this command
 */
export function printDifferent(
  names: readonly string[],
  { said, recordings }: { readonly said: string; readonly recordings: string },
  print: Screen['line'],
): void {
  for (const name of names) {
    const found = caseOf(recordings, name)
    if (found?.error === undefined) print(`different: ${neutralLine(name)}: ${said}`)
    else
      print(
        `not replayed: ${neutralLine(name)}: ${said}\n${neutralLines(found.error.message).replace(/^(?=.)/gm, '  ')}`,
      )
    if (found !== undefined && found.error === undefined)
      print(`→ to see the difference: ${program} test ${shellWord(here(found.file))}`)
  }
}

/** Hand-written tests are no cases. */
function caseOf(recordings: string, name: string): CaseSummary | undefined {
  try {
    return findCase(recordings, name)
  } catch (error) {
    if (HarvestError.is(error, 'HARVEST_CASE_MISSING')) return undefined
    throw error
  }
}
