import { diffSpec } from '../spec/inspect.ts'
import type { Command } from '../command.ts'
import { compareOpened } from '../../report/diff/json.ts'
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
    const foundA = findRun(wordA, recordings, { beside: wordB })
    const [a, b] = [openTape(foundA), openTape(findRun(wordB, recordings, { beside: wordA }))]
    const compared = compareOpened(a, b)
    const { answer } = compared
    if (given.has('json')) screen.json(answer)
    else printDiff(compared, a, b, { width: terminalWidth(), isFull: given.has('full') }, screen)
    return answer.same ? exit.ok : exit.divergence
  },
}
