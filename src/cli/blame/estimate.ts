import type { ExpectedUse } from '../../blame/index.ts'
import type { BlameEstimate } from '../../blame/run-blame.ts'
import { neutralLine } from '../../errors/index.ts'
import { counted } from '../../errors/words.ts'
import { type Screen, table } from '../../report/output.ts'
import { controlLine } from '../forking/control.ts'
import { gradingText, roundsText } from './print.ts'

/** What was graded: the tape, or today's code where another one was accepted. */
export function gradedLine({ tape, recorded, gradedBy, differs }: Graded): string {
  const by = `graded ${recorded} (by ${neutralLine(gradedBy, 200)})`
  return differs === undefined
    ? `${neutralLine(tape)} replays byte for byte and is ${by}`
    : `${neutralLine(tape)} is ${controlLine(differs)}; unchanged, that code is ${by}`
}

type Graded = Pick<BlameEstimate, 'differs' | 'gradedBy' | 'recorded' | 'tape'>

/** Prints what blaming a run is expected to cost. */
export function printEstimate(estimate: BlameEstimate, screen: Screen): void {
  const { positions, low, likely, high, deterministic, reused, grading } = estimate
  const steps = positions.reduce((count, { steps: own }) => count + own.length, 0)
  screen.line(`${gradedLine(estimate)}; ${counted(steps, 'step')} in ${counted(positions.length, 'place')}`)
  screen.line()
  const head = ['expected', 'forks', 'model calls', 'cost'].map((cell) => screen.paint('dim', cell))
  const rows = [
    row('one clear cause', low),
    row('likely', likely),
    row('at most', high),
    row('if the same comes out each time', deterministic),
  ]
  screen.line(table([head, ...rows], [1, 2, 3]))
  screen.line()
  for (const line of roundsText()) screen.line(line)
  if (reused > 0)
    screen.line(`${reused} forks of earlier sessions are there: those that are asked for again are counted`)
  screen.line(grading === undefined ? 'nothing was spent' : `spent: ${gradingText(grading)}`)
}

function row(name: string, { forks, modelCalls, costUsd }: ExpectedUse): readonly string[] {
  return [name, `${forks}`, `${modelCalls}`, costUsd === undefined ? 'unknown' : `$${costUsd.toFixed(2)}`]
}
