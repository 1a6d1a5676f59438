import { neutralLine } from '../../errors/index.ts'
import { readTape, stepsOf, type Tape } from '../../tape/index.ts'
import { type CommandSpec, jsonOption } from '../command.ts'
import { compact, describeOutcome, describeStep, duration, type StepSummary } from '../describe.ts'
import { exit } from '../exit.ts'
import { findTapeFile } from '../find.ts'
import { type Screen, table } from '../screen.ts'

/** Prints what a tape holds: where it is from, its steps, how it ended. */
export const showCommand: CommandSpec = {
  name: 'show',
  args: '<tape>',
  about: 'Print what a tape holds: its steps, tool calls and outcome',
  options: [jsonOption],
  examples: ['show recordings/inbox/refund-100x.tape.jsonl', 'show refund-100x --json'],
  run(given, screen) {
    const tape = readTape(findTapeFile(given.args[0] ?? ''))
    const steps = stepsOf(tape).map((step, index) => describeStep(step, index + 1))
    const { source, header, close, digest } = tape
    if (given.has('json')) screen.json({ tape: source, header, steps, close: close ?? null, digest })
    else print(tape, steps, screen)
    return exit.ok
  },
}

function print(tape: Tape, steps: readonly StepSummary[], screen: Screen): void {
  screen.line(table(headRows(tape).map(([label, text]) => [screen.paint('dim', label), text])))
  screen.line()
  if (steps.length === 0) screen.line(screen.paint('dim', 'no steps'))
  else
    screen.line(
      table(
        steps.flatMap((step) => stepRows(step, screen)),
        [0, 1, 2],
      ),
    )
  screen.line()
  for (const line of tailLines(tape)) screen.line(line)
}

function headRows({ source, header, close }: Tape): (readonly [string, string])[] {
  const { id, agent, startedAt, pins, recorder, command, input } = header
  const took = close === undefined ? '' : `, ${duration(close.at)}`
  const packages = Object.entries(pins.packages ?? {}).map(([name, version]) => `${name} ${version}`)
  const commit = `${pins.commit ?? ''}${pins.dirty === true ? ' with uncommitted changes' : ''}`
  return [
    ['tape', neutralLine(id)],
    ['file', source],
    ['agent', neutralLine(agent)],
    ['recorded', neutralLine(`${startedAt}${took}`)],
    ['made by', neutralLine([recorder, `node ${pins.node}`, ...packages].join(', '))],
    ...(pins.commit === undefined ? [] : [['commit', neutralLine(commit)] as const]),
    ...(command === undefined ? [] : [['command', neutralLine(command.argv.join(' '))] as const]),
    ...(input === undefined ? [] : [['input', compact(input)] as const]),
  ]
}

function stepRows(step: StepSummary, { paint }: Screen): string[][] {
  const { number, atMs, tookMs, kind, name, asked, toolCalls, answer, error } = step
  const more = (mark: string, text: string): string[] => ['', '', '', '', `${mark} ${neutralLine(text)}`]
  return [
    [
      `${number}`,
      paint('dim', `+${duration(atMs)}`),
      paint('dim', tookMs === undefined ? '…' : duration(tookMs)),
      kind,
      paint('bold', neutralLine(name)),
    ],
    ...(asked === undefined ? [] : [more('·', asked)]),
    ...toolCalls.map((call) => more('→', call)),
    ...(answer === undefined ? [] : [more('=', answer)]),
    ...(error === undefined ? [] : [more(paint('red', '✗'), error)]),
  ]
}

function tailLines({ close }: Tape): string[] {
  if (close === undefined) return ['truncated: the process ended before the run did']
  const { outcome, incomplete, unrecorded = [] } = close
  return [
    `outcome  ${describeOutcome(outcome)}`,
    ...(incomplete === undefined ? [] : [`incomplete: ${neutralLine(incomplete)}`]),
    ...unrecorded.map((what) => `not recorded: ${neutralLine(what)}`),
  ]
}
