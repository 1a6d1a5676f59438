import { diffSpec } from '../spec/inspect.ts'
import type { Command } from '../command.ts'
import { compareRuns } from '../../report/diff/compare.ts'
import { factRows } from '../../report/diff/facts.ts'
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
    const diff = compareRuns(a.tape, b.tape)
    const isSame = diff.trace.equal && diff.outcome.same !== false
    if (given.has('json')) {
      const { trace, callCounts, ...rest } = diff
      const { differences, first } = trace
      screen.json({
        a: a.tape.source,
        b: b.tape.source,
        same: isSame,
        ...rest,
        trace: { same: trace.equal, calls: callCounts, first: first ?? null, differences },
        facts: factRows(a, b),
      })
    } else {
      printDiff(diff, a, b, { width: terminalWidth(), isFull: given.has('full') }, screen)
    }
    return isSame ? exit.ok : exit.divergence
  },
}
