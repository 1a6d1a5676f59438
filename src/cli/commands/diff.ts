import { diffSpec } from '../spec/inspect.ts'
import type { Command } from '../command.ts'
import { compareRuns } from '../../report/diff/compare.ts'
import { diffJson } from '../../report/diff/json.ts'
import { printDiff } from '../../report/diff/print.ts'
import { exit } from '../exit.ts'
import { findRun, openTape } from '../find.ts'
import { terminalWidth } from '../../report/fold.ts'

/** Says how two runs differ, the most important first. */
export const diffCommand: Command = {
  ...diffSpec,
  run(given, screen) {
    const [wordA = '', wordB = ''] = given.args
    const recordings = given.value('dir')
    screen.progress('reading')
    const [a, b] = [openTape(findRun(wordA, recordings)), openTape(findRun(wordB, recordings))]
    if (given.has('json')) {
      const answer = diffJson(a, b)
      screen.json(answer)
      return answer.same ? exit.ok : exit.divergence
    }
    const diff = compareRuns(a.tape, b.tape)
    printDiff(diff, a, b, { width: terminalWidth(), isFull: given.has('full') }, screen)
    return diff.trace.equal && diff.outcome.same !== false ? exit.ok : exit.divergence
  },
}
