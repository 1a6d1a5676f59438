import { neutralLine } from '../errors/index.ts'
import { hiddenPart, orderOfSteps, unkeptHeader } from '../match/hidden-part.ts'
import type { CaseReport } from './channel.ts'

/** One case of a run, as Vitest judged it. */
export interface CaseResult {
  /** `golden/refund-100x`. */
  readonly name: string
  readonly state: 'passed' | 'failed' | 'skipped' | 'pending'
  readonly report: CaseReport
  /** Whether its file was rewritten in this run. */
  readonly isUpdated?: boolean
  /** Why it is red; text is neutral. */
  readonly failure?: CaseError
}

/** The error of a red case. */
export interface CaseError {
  /** All of it, several lines. */
  readonly message: string
  /** What an outcome was to be and what it was, line by line: `-` expected, `+` received. */
  readonly diff?: string
  /** In the case file; absolute path and 1-based line. */
  readonly place?: FileLine
  /** In the user's code, where a line of it is known. */
  readonly site?: FileLine
}

/** A line of a file, 1-based. */
export interface FileLine {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** One row of the summary: what it is about, and what there is to say. */
export type SummaryLine = readonly [label: string, text: string]

/** Red cases that are named one by one. */
const namedCases = 9
/** Cases and steps that a line of the totals names. */
const shownCases = 3
const shownSteps = 3

/** What came of the cases that ran, in a few lines. Empty when none did. */
export function totals(results: readonly CaseResult[]): readonly SummaryLine[] {
  const ran = results.filter(({ state }) => state === 'passed' || state === 'failed')
  if (ran.length === 0) return []
  const lines: SummaryLine[] = [['Recordings', counts(ran)]]
  for (const [label, before, countsOf, kind] of counted) {
    const some = ran.filter(({ report }) => Object.keys(countsOf(report) ?? {}).length > 0)
    if (some.length === 0) continue
    const where = casesText(
      some,
      ({ report }) =>
        kind === undefined
          ? []
          : Object.keys(countsOf(report) ?? {}).flatMap((name) => report.steps?.[kind]?.[name] ?? []),
      ({ report }) =>
        kind === 'notCompared' ? Object.keys(countsOf(report) ?? {}).flatMap((name) => report.paths?.[name] ?? []) : [],
    )
    lines.push([label, `${before}${sumOf(some.map(({ report }) => countsOf(report) ?? {}))} (${where})`])
  }
  const moved = ran.filter(({ report }) => (report.pins ?? []).length > 0)
  if (moved.length > 0) lines.push(['Pins', pinLine(moved)])
  const escapes = ran.reduce((sum, { report }) => sum + (report.escapes ?? 0), 0)
  return [...lines, ['Escapes', String(escapes)]]
}

/** What a red case means for its reader, worst first. */
const kinds = ['escaped', 'diverged', 'no longer reproduced', 'failed', 'unproven'] as const

/** By the verdict; without one the case could not be judged, or is red for another reason. */
function kindOf({ report: { code, verdict } }: CaseResult): (typeof kinds)[number] {
  if (code === 'HARVEST_ESCAPE') return 'escaped'
  if (code === 'HARVEST_CASE_NO_LONGER_FAILS') return 'no longer reproduced'
  if (verdict === 'unproven') return 'unproven'
  return verdict === 'different' ? 'diverged' : 'failed'
}

/** Whether a red case only lacks a proof. */
export function isUnproven(result: CaseResult): boolean {
  return result.state === 'failed' && kindOf(result) === 'unproven'
}

/** Red cases, worst first, and by name among equals. */
export function worstFirst(results: readonly CaseResult[]): readonly CaseResult[] {
  const red = results.filter(({ state }) => state === 'failed')
  const rank = (result: CaseResult) => kinds.indexOf(kindOf(result))
  return red.sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1))
}

function counts(ran: readonly CaseResult[]): string {
  const green = ran.filter(({ state }) => state === 'passed')
  const updated = green.filter(({ isUpdated }) => isUpdated === true).length
  const knownBad = green.filter(({ report }) => report.expect === 'fail').length
  // A known-bad case can be updated too.
  const replayed = green.filter(({ isUpdated, report }) => isUpdated !== true && report.expect !== 'fail').length
  const red = Map.groupBy(worstFirst(ran), kindOf)
  const parts = [
    `${replayed} replayed`,
    ...(knownBad > 0 ? [`${knownBad} known bad reproduced`] : []),
    ...kinds.flatMap((kind) => (red.has(kind) ? [`${red.get(kind)?.length} ${kind}`] : [])),
    ...(updated > 0 ? [`${updated} updated`] : []),
  ]
  return parts.join(', ')
}

/**
 * The red cases, worst first: why in one line, and the line of the agent where it is known.
 *
 * @param shown - a path as people read it
 */
export function failures(results: readonly CaseResult[], shown: (file: string) => string): readonly SummaryLine[] {
  // Unproven cases are listed by their changes, see `unprovenLines`.
  const red = worstFirst(results).filter((result) => !isUnproven(result))
  const lines = red.slice(0, namedCases).flatMap((result, at): SummaryLine[] => {
    const site = result.failure?.site
    const { report } = result.report
    // One run writes a limited number: where some have none, which is chance, and the folder is reported once.
    return [
      [at === 0 ? 'Red' : '', `${result.name}  ${reasonOf(result)}`],
      ...(site === undefined ? [] : [['', `  ${placeText(site, shown)}`] as const]),
      ...(report === undefined || red.length > namedCases ? [] : [['', `  report ${report}`] as const]),
    ]
  })
  return red.length > namedCases ? [...lines, ['', `and ${red.length - namedCases} more`]] : lines
}

/** Why a case is red, in one line. */
export function reasonOf({ failure }: CaseResult): string {
  return neutralLine(failure?.message.split('\n', 1)[0] ?? 'no error was reported')
}

/** `src/refund.ts:12:9` */
export function placeText({ file, line, column }: FileLine, shown: (file: string) => string): string {
  return `${shown(file)}:${line}:${column}`
}

type Counts = Readonly<Record<string, number>>

/** What is added up over all cases. */
const counted: readonly (readonly [
  label: string,
  before: string,
  of: (report: CaseReport) => Counts | undefined,
  steps?: 'drift' | 'notCompared',
])[] = [
  ['Drift', '', ({ drift }) => spellingOnly(drift), 'drift'],
  ['Tools', 'code run: ', ({ ran }) => ran],
  ...(['Redacted', 'Contents', 'Headers', 'Order'] as const).map(
    (label) =>
      [
        label,
        'not compared: ',
        ({ notCompared }: CaseReport) => apart(notCompared, (kind) => labelOf(kind) === label),
        'notCompared',
      ] as const,
  ),
]

/** How a summary names what was not compared. */
export function labelOf(kind: string): 'Redacted' | 'Contents' | 'Headers' | 'Order' {
  if (kind === orderOfSteps) return 'Order'
  if (kind === unkeptHeader) return 'Headers'
  return kind === hiddenPart ? 'Contents' : 'Redacted'
}

/** Changed questions have lines of their own; these are the classes that change none. */
function spellingOnly(drift: Counts = {}): Counts {
  return apart(drift, (name) => name === 'encoding' || name === 'bookkeeping')
}

function apart(counts: Counts = {}, isOne: (name: string) => boolean): Counts {
  return Object.fromEntries(Object.entries(counts).filter(([name]) => isOne(name)))
}

function sumOf(parts: readonly Counts[]): string {
  const total = new Map<string, number>()
  for (const part of parts)
    for (const [name, count] of Object.entries(part)) total.set(name, (total.get(name) ?? 0) + count)
  return [...total].map(([name, count]) => `${neutralLine(name)} ${count}`).join(', ')
}

/** All alike (one commit for the whole set) is the usual thing: then the change itself, otherwise only how many. */
function pinLine(moved: readonly CaseResult[]): string {
  const described = new Set(moved.map(({ report }) => (report.pins ?? []).join('; ')))
  const [only] = described
  const what = described.size === 1 && only !== undefined ? neutralLine(only) : 'differ from what was recorded'
  return `${what} (${casesText(moved)})`
}

/** The first cases by name, each with its steps, and how many more there are: `golden/a step 2, golden/b and 5 more cases`. */
function casesText(
  results: readonly CaseResult[],
  stepsIn: (result: CaseResult) => readonly number[] = () => [],
  pathsIn: (result: CaseResult) => readonly string[] = () => [],
): string {
  const shown = results.slice(0, shownCases).map((result) => {
    const steps = [...new Set(stepsIn(result))].sort((one, other) => one - other)
    const some = steps.slice(0, shownSteps).join(', ')
    const more = steps.length > shownSteps ? ` and ${steps.length - shownSteps} more` : ''
    const noun = steps.length === 1 ? 'step' : 'steps'
    const paths = pathsIn(result)
    const others = paths.length > shownSteps ? ` and ${paths.length - shownSteps} more` : ''
    const at = paths.length === 0 ? '' : `: ${neutralLine(paths.slice(0, shownSteps).join(', '), 200)}${others}`
    return neutralLine(result.name, 120) + (steps.length === 0 ? '' : ` ${noun} ${some}${more}`) + at
  })
  const more = results.length - shown.length
  return `${shown.join('; ')}${more > 0 ? `; and ${plural(more, 'more case')}` : ''}`
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
