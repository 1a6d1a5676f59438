import { isMap } from '../json/canonical.ts'
import type { Json, Outcome } from '../tape/index.ts'
import { cutOffText } from '../tape/cut-off.ts'
import type { Screen } from './output.ts'
import { errorText } from './conversation.ts'
import { foldText } from './fold.ts'
import type { Run } from './run.ts'

/** Prints how a run ended, and what is missing on its tape. */
export function printEnd(
  { close, open }: Run,
  { width, isFull }: { readonly width: number; readonly isFull: boolean },
  screen: Screen,
): void {
  const tell = (label: string, text: string, isBad = false, lines = 8): void => {
    const indent = ' '.repeat(10)
    const room = { width: width - indent.length, ...(isFull ? {} : { lines }) }
    const [first = '', ...more] = foldText(text, room).map((row) => (isBad ? screen.paint('red', row) : row))
    screen.line(`${screen.paint(isBad ? 'red' : 'dim', label.padEnd(8))}  ${first}`.trimEnd())
    for (const row of more) screen.line(`${indent}${row}`)
  }
  if (close === undefined) {
    tell('outcome', 'truncated: the process ended before the run did', true)
    const cutOff = cutOffText(open)
    if (cutOff !== undefined) tell('ended', cutOff, true)
    return
  }
  const { outcome, incomplete, unrecorded = [] } = close
  const isBad = outcome.status === 'threw' || (outcome.status === 'exited' && outcome.code !== 0)
  tell('outcome', outcomeText(outcome), isBad)
  if (outcome.status === 'exited') {
    for (const name of ['stdout', 'stderr'] as const) if ((outcome[name] ?? '') !== '') tell(name, outcome[name] ?? '')
  }
  if (incomplete !== undefined) tell('missing', `incomplete: ${incomplete}`, true)
  for (const what of unrecorded) tell('missing', `not recorded: ${what}`, true)
}

/** How a run ended, whole and as recorded. */
export function outcomeText(outcome: Outcome): string {
  switch (outcome.status) {
    case 'returned':
      return outcome.value === undefined ? 'returned' : `returned ${JSON.stringify(outcome.value)}`
    case 'threw':
      return `threw ${thrownText(outcome.error)}`
    case 'exited':
      return outcome.code === null ? `ended by ${outcome.signal ?? 'a signal'}` : `exit code ${outcome.code}`
    case 'unknown':
      return 'unknown: the import did not see how the run ended'
    default:
      return outcome satisfies never
  }
}

/** An error with its causes. */
function thrownText(error: Json): string {
  const text = errorText(error) ?? JSON.stringify(error)
  const cause = isMap(error) ? error['cause'] : undefined
  return cause === undefined || cause === null ? text : `${text}\ncaused by ${thrownText(cause)}`
}
