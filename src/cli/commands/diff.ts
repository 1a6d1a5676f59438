import { type CommandSpec, jsonOption } from '../command.ts'
import { compareRuns } from '../diff/compare.ts'
import { factRows } from '../diff/facts.ts'
import { printDiff } from '../diff/print.ts'
import { exit } from '../exit.ts'
import { findRun, openTape } from '../find.ts'
import { terminalWidth } from '../reading/fold.ts'

/** Says how two runs differ, the most important first. */
export const diffCommand: CommandSpec = {
  name: 'diff',
  args: '<a> <b>',
  about: 'Say how two runs differ: outcome, tool calls, steps, prompts, cost (two tapes, two cases, or one of each)',
  options: [
    { flag: '--full', about: 'Every step, call and text, however many there are' },
    { flag: '--dir <folder>', about: 'Folder with inbox/ and golden/ (default: recordings)' },
    jsonOption,
  ],
  examples: ['diff refund-100x latest', 'diff refund-100x latest --json'],
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
