import { neutralLine } from '../../errors/index.ts'
import { type Drift, driftClasses, type ServeRung, serveRungs } from '../../replay/index.ts'
import { requireGrade } from '../../tape/grade.ts'
import { outcomeNotCompared, readTape, type Tape } from '../../tape/index.ts'
import { type CommandSpec, type Given, jsonOption } from '../command.ts'
import { exit } from '../exit.ts'
import { findTapeFile } from '../find.ts'
import { inputHint, lacksInput } from '../input-hint.ts'
import { usage } from '../parse.ts'
import { countsByKind, remarkLines, verdictLine, verdictMessages } from '../report.ts'
import { exitCodes } from '../receipt.ts'
import { type Replayed, replay, replayOptions } from '../replaying.ts'
import { neutralLines, type Screen } from '../screen.ts'

/** Runs the program or agent of a tape again: every answer it gets is the recorded one. */
export const replayCommand: CommandSpec = {
  name: 'replay',
  args: '<tape>',
  about: 'Run the program or agent of a tape again, from the tape',
  options: [
    ...replayOptions,
    { flag: '--serve <rung>', about: `How far a request may differ: ${serveRungs.join(', ')} (default: reworded)` },
    jsonOption,
  ],
  rest: '[-- <program> [arguments]]',
  examples: [
    'replay recordings/inbox/refund-100x.tape.jsonl',
    'replay refund-100x -- node agent.js --verbose',
    'replay refund-100x --agent ./src/refund-agent.ts#refundAgent',
  ],
  async run(given, screen) {
    const isJson = given.has('json')
    const tape = readTape(findTapeFile(given.args[0] ?? ''))
    requireGrade(tape.header, 'replay')
    const serve = rungOf(given)
    const replayed = await replay(tape, given, {
      command: replayCommand,
      screen,
      options: serve === undefined ? {} : { serve },
      output: isJson ? 'stderr' : 'inherit',
    })
    const held = replayed.report.verdict.verdict === 'same'
    if (isJson)
      screen.json({
        held,
        programExit: replayed.ended.code,
        ...replayed.report,
        changed: replayed.changed,
        file: tape.source,
      })
    else print(tape, replayed, held, screen)
    return held ? exit.ok : exit.divergence
  },
}

function rungOf(given: Given): ServeRung | undefined {
  const value = given.value('serve')
  const rung = serveRungs.find((one) => one === value)
  if (value === undefined || rung !== undefined) return rung
  throw usage(replayCommand, 'HARVEST_CLI_OPTION', `--serve cannot be '${neutralLine(value, 40)}'`, [
    `one of: ${serveRungs.join(', ')}`,
  ])
}

// On stderr: stdout belongs to the program.
function print(tape: Tape, replayed: Replayed, held: boolean, screen: Screen): void {
  const { report } = replayed
  const { served, recorded } = report.receipt
  for (const message of verdictMessages(tape.header.id, report)) screen.note(`\n${neutralLines(message)}`)
  if (!held) screen.note('')
  const drift = driftLine(report.drift)
  const codes = exitCodes(tape, replayed)
  const { imported } = tape.header
  const facts = [
    `${served} of ${recorded} steps served`,
    ...(drift === '' ? [] : [`drift: ${drift}`]),
    ...report.escapes.map(({ kind, target, allowed }) =>
      neutralLine(`escape${allowed ? ' (allowed)' : ''}: ${kind} ${target}`),
    ),
    ...(report.ranForReal.length === 0 ? [] : [`ran for real: ${neutralLine(report.ranForReal.join(', '))}`]),
    ...(report.notCompared.length === 0
      ? []
      : [`not compared: ${countsByKind(report.notCompared.map(({ kind }) => kind))}`]),
    ...(codes === undefined || codes.isEqual ? [] : [`exit code ${codes.replayed}, recorded ${codes.recorded}`]),
    ...report.outcomeDiffers
      .filter((part) => !part.startsWith('exit code'))
      .map((part) => neutralLine(`${part} is not as recorded`)),
    ...(report.receipt.outcomeEqual === null ? [`outcome: ${outcomeNotCompared}`] : []),
    ...(report.receipt.outcomeEqual === null && report.threw !== undefined
      ? [neutralLine(`the agent threw ${report.threw}`, 200)]
      : []),
  ]
  if (imported !== undefined)
    screen.note(neutralLine(`imported from ${imported.format}; not recorded: ${imported.missing.join(', ')}`, 400))
  if (!held && !replayed.isProgram && lacksInput(tape.header))
    screen.note(`the agent was called without an input; ${inputHint}`)
  for (const change of replayed.changed) screen.note(`since it was recorded: ${neutralLine(change)}`)
  for (const line of remarkLines(tape.header.id, report)) screen.note(line)
  screen.note(`harvest: ${verdictLine(tape.header.id, report, facts)}`)
}

/** `3 messages, 1 params`. */
export function driftLine(drift: readonly Drift[]): string {
  return driftClasses
    .map((name) => [name, drift.filter((one) => one.class === name).length] as const)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')
}
