import { neutralLine } from '../../errors/index.ts'
import { inexactParts } from '../../replay/index.ts'
import { requireGrade } from '../../tape/grade.ts'
import { cutsOf, partialText, readTape, requireClosed } from '../../tape/index.ts'
import { type CommandSpec, jsonOption } from '../command.ts'
import { exit } from '../exit.ts'
import { findTapeFile } from '../find.ts'
import { receiptRows } from '../receipt.ts'
import { remarkLines, verdictLine, verdictMessages } from '../report.ts'
import { type Replayed, replay, replayOptions } from '../replaying.ts'
import { neutralLines, table } from '../screen.ts'
import { driftLine } from './replay.ts'

/** Runs a tape and demands that nothing at all differs. */
export const verifyCommand: CommandSpec = {
  name: 'verify',
  args: '<tape>',
  about: 'Run a tape and demand that every byte, read, answer and exit code is the recorded one',
  options: [...replayOptions, jsonOption],
  rest: '[-- <program> [arguments]]',
  examples: [
    'verify recordings/inbox/refund-100x.tape.jsonl',
    'verify refund-100x --agent ./src/refund-agent.ts#refundAgent',
  ],
  async run(given, screen) {
    const tape = requireClosed(readTape(findTapeFile(given.args[0] ?? '')))
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
    const rows = receiptRows(tape, replayed)
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
    for (const message of verdictMessages(tape.header.id, report)) screen.line(`\n${neutralLines(message)}`)
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
  const { receipt } = report
  return inexactParts(isProgram ? { ...report, receipt: { ...receipt, outcomeEqual: true } } : report).length === 0
}
