import { createHash } from 'node:crypto'
import { outcomeNotCompared, type Tape } from '../tape/index.ts'
import { cutsOf } from '../tape/partial.ts'
import type { Compared } from '../replay/index.ts'
import type { Replayed } from './replaying.ts'

/** One line of a byte comparison: what was compared, and both sides of it. */
export interface ByteReportRow {
  readonly what: string
  readonly recorded: string
  readonly replayed: string
  readonly isEqual: boolean
}

/** The bit-exact comparison of a run with its tape: everything that can be counted or hashed. */
export function byteReportRows(tape: Tape, replayed: Replayed): readonly ByteReportRow[] {
  const { comparison, escapes, problems, unused, notCompared } = replayed.report
  const { recorded, served, covered, identical, relaxed, drawsServed, drawsMissed } = comparison
  const cuts = cutsOf(tape)
  const draws = drawsServed + drawsMissed
  return [
    row('steps served', recorded, served + covered),
    row('request bodies and arguments, byte for byte', served, identical),
    row('steps never asked for', 0, unused.length),
    row('clock, random and id reads', draws, drawsServed),
    row('answers out of recorded order', 0, relaxed),
    row('escapes', 0, escapes.length),
    row('problems', 0, problems.length),
    row('values not compared', 0, notCompared.length),
    ...(cuts.length === 0 ? [] : [row('bodies and values cut by the recorder', 0, cuts.length)]),
    ...announced('messages between agents', comparison.messages),
    ...announced('marks', comparison.marks),
    ...announced('states', comparison.states),
    ...(replayed.isProgram ? programRows(tape, replayed) : [outcomeRow(comparison.outcomeEqual)]),
  ]
}

/** Nothing to compare is no row. */
function announced(what: string, compared: Compared | undefined): readonly ByteReportRow[] {
  if (compared === undefined || compared.recorded + compared.other === 0) return []
  const { recorded, same, other } = compared
  const replayed = other > 0 ? `${same}, ${other} other` : `${same}`
  return [{ what, recorded: `${recorded}`, replayed, isEqual: same === recorded && other === 0 }]
}

/** Exit codes of a program's tape and of its replay; `undefined` when the tape holds none. */
export function exitCodes(tape: Tape, { ended, isProgram }: Replayed): ByteReportRow | undefined {
  const outcome = tape.close?.outcome
  if (!isProgram || outcome?.status !== 'exited') return undefined
  return row('exit code', outcome.code ?? outcome.signal ?? 'none', ended.signal ?? ended.code)
}

function programRows(tape: Tape, replayed: Replayed): ByteReportRow[] {
  const outcome = tape.close?.outcome
  const codes = exitCodes(tape, replayed)
  if (outcome?.status === 'unknown') return [outcomeRow(null)]
  if (outcome?.status !== 'exited' || codes === undefined) return [sameRow('end of the program', false)]
  const { outcomeDiffers } = replayed.report
  return [
    codes,
    ...(['stdout', 'stderr'] as const).map((name) =>
      outputRow(name, outcome[name] ?? '', !outcomeDiffers.includes(name)),
    ),
  ]
}

/** The program itself compared its output, as it was before secrets were taken out. */
function outputRow(what: string, recorded: string, isEqual: boolean): ByteReportRow {
  const digest = sha256(recorded)
  return { what, recorded: digest, replayed: isEqual ? digest : 'another', isEqual }
}

/** What was not compared is not equal: a comparison that demands everything must not pass over it. */
function outcomeRow(isEqual: boolean | null): ByteReportRow {
  if (isEqual !== null) return sameRow('answer of the agent', isEqual)
  return { what: 'outcome', recorded: 'unknown', replayed: outcomeNotCompared, isEqual: false }
}

function sameRow(what: string, isEqual: boolean): ByteReportRow {
  return { what, recorded: 'recorded', replayed: isEqual ? 'recorded' : 'another', isEqual }
}

function row(what: string, recorded: string | number, replayed: string | number): ByteReportRow {
  return { what, recorded: `${recorded}`, replayed: `${replayed}`, isEqual: recorded === replayed }
}

function sha256(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
}
