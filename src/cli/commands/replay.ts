import { neutralLine } from '../../errors/index.ts'
import { type MatchLevel, matchLevels } from '../../replay/index.ts'
import { requireReplayable } from '../../tape/grade.ts'
import { outcomeNotCompared, readTape, type Tape } from '../../tape/index.ts'
import { replaySpec } from '../spec/debug.ts'
import type { Command, CommandInput } from '../command.ts'
import { choose } from '../choose.ts'
import { exit } from '../exit.ts'
import { findReplayed } from '../find.ts'
import { inputHint, lacksInput } from '../input-hint.ts'
import { countsByKind, driftLine, messagesOf, remarkLines, verdictLine } from '../report.ts'
import { exitCodes } from '../byte-report.ts'
import { type Replayed, replay } from '../replaying.ts'
import { neutralLines, type Screen } from '../../report/output.ts'

/** Runs the program or agent of a tape again: every answer it gets is the recorded one. */
export const replayCommand: Command = {
  ...replaySpec,
  async run(given, screen) {
    if (given.has('exact')) return (await import('./verify.ts')).verifyCommand.run(given, screen)
    const isJson = given.has('json')
    const tape = requireReplayable(readTape(findReplayed(given.args[0] ?? '', given.value('dir'))))
    const serve = levelOf(given)
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
        ...(replayed.isAsCase === true ? { asCase: true } : {}),
        changed: replayed.changed,
        file: tape.source,
      })
    else print(tape, replayed, { given, held, screen })
    return held ? exit.ok : exit.divergence
  },
}

function levelOf(given: CommandInput): MatchLevel | undefined {
  return choose(given, 'match', matchLevels, replayCommand)
}

// On stderr: stdout belongs to the program.
function print(
  tape: Tape,
  replayed: Replayed,
  { given, held, screen }: { readonly given: CommandInput; readonly held: boolean; readonly screen: Screen },
): void {
  const { report } = replayed
  const { served, recorded } = report.comparison
  for (const message of messagesOf(tape, replayed.case, { ...replayed, ...report, named: given.value('agent') }))
    screen.note(`\n${neutralLines(message)}`)
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
    ...(replayed.isAsCase === true ? ['as its case says'] : []),
    ...(report.comparison.outcomeEqual === null ? [`outcome: ${outcomeNotCompared}`] : []),
    ...(report.comparison.outcomeEqual === null && report.threw !== undefined
      ? [neutralLine(`the agent threw ${report.threw}`, 200)]
      : []),
  ]
  if (imported !== undefined)
    screen.note(neutralLine(`imported from ${imported.format}; not recorded: ${imported.missing.join(', ')}`, 400))
  if (!held && !replayed.isProgram && lacksInput(tape.header))
    screen.note(`the agent was called without an input; ${inputHint}`)
  for (const change of replayed.changed) screen.note(`since it was recorded: ${neutralLine(change)}`)
  const id = replayed.case?.id ?? tape.header.id
  for (const line of remarkLines(id, report)) screen.note(line)
  screen.note(`harvest: ${verdictLine(id, report, facts)}`)
}
