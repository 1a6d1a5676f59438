import { neutralLine } from '../../errors/index.ts'
import { inexactParts } from '../../replay/index.ts'
import { requireGrade } from '../../tape/grade.ts'
import { readTape } from '../../tape/index.ts'
import { requireClosed } from '../../tape/closed.ts'
import { cutsOf, partialText } from '../../tape/partial.ts'
import { verifySpec } from '../spec/debug.ts'
import type { Command } from '../command.ts'
import { exit } from '../exit.ts'
import { findReplayed } from '../find.ts'
import { byteReportRows } from '../byte-report.ts'
import { driftLine, messagesOf, remarkLines, verdictLine } from '../report.ts'
import { type Replayed, replay } from '../replaying.ts'
import { neutralLines, table } from '../../report/output.ts'

/** Runs a tape and demands that nothing at all differs. */
export const verifyCommand: Command = {
  ...verifySpec,
  async run(given, screen) {
    const tape = requireClosed(readTape(findReplayed(given.args[0] ?? '', given.value('dir'))))
    requireGrade(tape.header, 'verify')
    screen.progress(`replaying ${neutralLine(tape.header.id)}`)
    const replayed = await replay(tape, given, {
      command: verifyCommand,
      screen,
      options: {},
      output: 'capture',
      isExact: true,
    })
    const { report } = replayed
    const rows = byteReportRows(tape, replayed)
    const isExact = report.verdict.verdict === 'same' && rows.every(({ isEqual }) => isEqual) && isWhole(replayed)
    if (given.has('json')) {
      screen.json({ exact: isExact, rows, ...report, changed: replayed.changed, file: tape.source })
      return isExact ? exit.ok : exit.divergence
    }
    const head = ['', 'recorded', 'replayed', ''].map((cell) => screen.paint('dim', cell))
    const lines = rows.map(({ what, recorded, replayed: live, isEqual }) => [
      what,
      recorded,
      live,
      isEqual ? screen.paint('green', '✓') : screen.paint('red', '✗'),
    ])
    screen.line(table([head, ...lines], [1, 2]))
    if (report.drift.length > 0) screen.line(`\ndrift: ${driftLine(report.drift)}`)
    for (const message of messagesOf(tape, replayed.case, { ...replayed, ...report, named: given.value('agent') }))
      screen.line(`\n${neutralLines(message)}`)
    for (const line of remarkLines(tape.header.id, report)) screen.line(line)
    const cuts = cutsOf(tape)
    if (cuts.length > 0) screen.line(partialText(cuts))
    for (const change of replayed.changed) screen.line(`since it was recorded: ${neutralLine(change)}`)
    screen.line(`\n${verdictLine(tape.header.id, report, [isExact ? 'bit-exact' : 'not bit-exact'])}`)
    return isExact ? exit.ok : exit.divergence
  },
}

/** Nothing differs that has no row, and nothing was left uncompared. The rows say how a program ended. */
function isWhole({ report, isProgram }: Replayed): boolean {
  const { comparison } = report
  return (
    inexactParts(isProgram ? { ...report, comparison: { ...comparison, outcomeEqual: true } } : report).length === 0
  )
}
