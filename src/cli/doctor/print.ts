import { neutral, neutralLine, page, shellWord } from '../../errors/index.ts'
import type { Reading } from '../../doctor/probe/index.ts'
import type { DoctorReport } from './examine.ts'
import { neutralLines, type Screen } from '../../report/output.ts'
import type { Check } from './set-up.ts'
import {
  type Finding,
  type FoundSource,
  isCode,
  isInRepository,
  isOpen,
  isUnseen,
  openVariables,
} from '../../doctor/findings.ts'
import type { Examination } from '../../doctor/index.ts'
import { counted } from '../../errors/words.ts'

/** Prints the report for people: what is wrong on stdout, with the line first. */
export function printDoctor(report: DoctorReport, isVerbose: boolean, screen: Screen): void {
  const { checks, findings, diagnoses, untreated } = report
  for (const check of checks) screen.line(checkLine(check, screen))
  if (checks.length > 0) screen.line()
  for (const finding of findings) printFinding(finding, screen)
  for (const { name, error } of untreated) {
    screen.line(`Cannot examine ${neutralLine(name)}`)
    screen.line(indent(neutralLines(error.message)))
    screen.line()
  }
  if (isVerbose) printHarmless(report, screen)
  for (const { tape, examination } of diagnoses) {
    if (examination.held) continue
    const isSteady = !findings.some(({ tapes }) => tapes.includes(tape))
    screen.line(
      isSteady
        ? `${neutralLine(tape)} replays the same each time, but not as recorded`
        : `${neutralLine(tape)} also differs from its recording`,
    )
    printUnseen(examination, report.isVersioned, screen)
    screen.line(`→ to see the difference: npx vitest-harvest show ${shellWord(tape)} --replay`)
  }
  for (const { tape, examination } of diagnoses) printNotVaried(tape, examination, { screen, isVerbose })
  const open = openVariables(diagnoses)
  screen.line(summary(report, open.length))
  printOpen(open, report, { screen, isVerbose })
  if (diagnoses.length > 0 || untreated.length > 0) return
  for (const step of report.above) screen.line(`→ ${step}`)
  screen.line(
    report.newest === undefined
      ? `→ to record a first run: ${page('recording')}`
      : `→ to make a case of the newest tape: npx vitest-harvest promote ${report.newest} --as '<id>'`,
  )
}

/** What was not looked at, and what may be why. */
function printUnseen(
  { threw, leftTape, missing }: Examination,
  isVersioned: DoctorReport['isVersioned'],
  screen: Screen,
): void {
  for (const reading of missing) {
    const isInside = reading.path !== undefined && isInRepository(reading.path, isVersioned)
    screen.line(
      `  not there: ${lineOf(reading)}\n  → if the recorded run had it: put it back${isInside ? ', or commit it' : ''}`,
    )
  }
  if (leftTape !== undefined) screen.line(`  it left its tape: ${neutralLine(leftTape, 200)}`)
  if (threw !== undefined)
    screen.line(`  it threw ${neutralLine(threw, 200)}; what the recorded run did behind that was not looked at`)
  if (leftTape !== undefined)
    screen.line('  → if that is right, after value() or tool() was put in: record the run again')
}

/** What stood behind an answer that changed the process for good. */
function printNotVaried(
  tape: string,
  { notVaried }: Examination,
  { screen, isVerbose }: { readonly screen: Screen; readonly isVerbose: boolean },
): void {
  if (notVaried.length === 0) return
  screen.line(`${neutralLine(tape)}: the process is no longer as it was, so that these were not varied`)
  printSome(notVaried.map(lineOf), { screen, isVerbose })
  screen.line('→ to examine these too, once that is changed: the same command')
}

/** The first lines of a list, or all. */
function printSome(
  lines: readonly string[],
  { screen, isVerbose }: { readonly screen: Screen; readonly isVerbose: boolean },
): void {
  const shownLines = isVerbose ? lines : lines.slice(0, 5)
  for (const line of shownLines) screen.line(`  ${line}`)
  if (shownLines.length < lines.length) screen.line(`  … and ${lines.length - 5} more, listed with --verbose`)
}

function checkLine({ state, says, fix }: Check, screen: Screen): string {
  const mark = { ok: screen.paint('green', '✓'), note: screen.paint('yellow', '!'), wrong: screen.paint('red', '✗') }[
    state
  ]
  return `${mark} ${neutralLine(says)}${fix === undefined ? '' : `\n  → ${neutralLine(fix, 1_000)}`}`
}

function printFinding({ site, sources, tapes }: Finding, screen: Screen): void {
  const place = site === undefined ? `${neutralLine(tapes[0] ?? '')}: line of the agent unknown` : neutralLine(site)
  screen.line(screen.paint('bold', place))
  for (const source of sources) printSource(source, screen)
  screen.line(screen.paint('dim', `  on ${tapes.length === 1 ? 'tape' : `${tapes.length} tapes:`} ${listOf(tapes)}`))
  screen.line()
}

function printSource({ kind, name, via, varied, change, fix }: FoundSource, screen: Screen): void {
  const through = via === undefined ? '' : `, asked by ${neutralLine(via)}`
  screen.line(`  ${screen.paint('red', kind)}: ${neutralLine(name, 100)}${through}`)
  const where = change.path === '' ? '' : `, ${neutralLine(change.path)}`
  screen.line(`  changes ${neutralLine(change.what, 120)}${where}`)
  screen.line(`    was     ${shown(change.before)}`)
  screen.line(`    became  ${shown(change.after)}  (${neutralLine(varied)})`)
  for (const line of fix) screen.line(`  → ${neutral(line)}`)
}

function shown(text: string): string {
  return neutralLine(text.replaceAll('\n', '⏎'), 110)
}

function printHarmless({ diagnoses, isVersioned }: DoctorReport, screen: Screen): void {
  const read = diagnoses.flatMap(({ examination: { found, harmless } }) => [
    ...harmless,
    ...found.flatMap(({ reading }) => (isCode(reading, isVersioned) ? [reading] : [])),
  ])
  const list = (head: string, lines: readonly string[]): void => {
    if (lines.length === 0) return
    screen.line(head)
    for (const line of [...new Set(lines)].sort()) screen.line(`  ${line}`)
    screen.line()
  }
  list(
    'read past the recorder, and the run does not depend on it:',
    read.filter((one) => !isOpen(one)).map((one) => lineOf(one)),
  )
  // Those that a reader can try are listed at the end, with the command.
  const named = new Set(openVariables(diagnoses).map(openLine))
  const others = read.filter(isOpen).map(openLine)
  list(
    'read past the recorder, and not known to matter:',
    others.filter((line) => !named.has(line)),
  )
}

/** Variables that may matter all the same, and how to try another value. */
function printOpen(
  open: readonly Reading[],
  { diagnoses }: DoctorReport,
  { screen, isVerbose }: { readonly screen: Screen; readonly isVerbose: boolean },
): void {
  const [first] = open
  if (first === undefined) return
  screen.line('read, and not known to matter: with another value the run may be another one')
  printSome(open.map(openLine), { screen, isVerbose })
  const variable = first.name.split('.').at(-1) ?? ''
  const tape = diagnoses.find(({ examination }) => examination.harmless.includes(first))?.tape
  if (tape !== undefined && /^\w+$/.test(variable))
    screen.line(
      `→ to see the run with a value of yours: ${variable}='<value>' npx vitest-harvest show ${shellWord(tape)} --replay`,
    )
}

function openLine(reading: Reading): string {
  const { ways } = reading
  return `${lineOf(reading)}${ways.length === 0 ? '' : `: tried ${neutralLine(ways.join(', '), 160)}`}`
}

function lineOf({ kind, name, site, via, ways }: Reading): string {
  const where = site === undefined ? '' : ` at ${neutralLine(site)}`
  const through = via === undefined ? '' : ` by ${neutralLine(via)}`
  return `${kind}: ${neutralLine(name, 100)}${where}${through}${ways.length === 0 ? ' (not varied)' : ''}`
}

function summary({ findings, diagnoses, untreated, checks }: DoctorReport, open: number): string {
  const replays = diagnoses.reduce((sum, { examination }) => sum + examination.replays, 0)
  const looked = `${diagnoses.length} tape${diagnoses.length === 1 ? '' : 's'}, ${replays} replays`
  const unseen = diagnoses.filter(isUnseen).length
  const wrong = checks.filter(({ state }) => state === 'wrong').length
  return [
    diagnoses.length === 0 && untreated.length === 0
      ? 'no case to examine'
      : `${looked}: ${findings.length === 0 ? 'nothing found' : `${findings.length === 1 ? '1 place makes' : `${findings.length} places make`} runs irreproducible`}`,
    ...(open === 0 ? [] : [`${counted(open, 'variable')} not known to matter`]),
    ...(unseen === 0 ? [] : [`${counted(unseen, 'tape')} not examined to the end`]),
    ...(untreated.length === 0 ? [] : [`${untreated.length} not examined`]),
    ...(wrong === 0 ? [] : [`${wrong} thing${wrong === 1 ? '' : 's'} wrong with the project`]),
  ].join('; ')
}

function listOf(tapes: readonly string[]): string {
  const shownTapes = tapes.slice(0, 5).map((tape) => neutralLine(tape, 60))
  return [...shownTapes, ...(tapes.length > 5 ? [`and ${tapes.length - 5} more`] : [])].join(', ')
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ')
}
