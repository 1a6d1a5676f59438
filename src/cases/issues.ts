import { type ErrorCode, HarvestError, neutralLine, shellWord } from '../errors/index.ts'

/** One thing wrong in a case file. */
export interface CaseIssue {
  /** One code per cause, such as `HARVEST_CASE_UNKNOWN_KEY`. */
  readonly code: ErrorCode
  /** Character of the file where it is. */
  readonly offset: number
  /** Where it is in the data, such as `match.tools.search`; empty for the whole file. */
  readonly path: string
  readonly expected: string
  readonly found: string
  /** What was probably meant, or how to write it. */
  readonly hint?: string
}

/** More than this many are counted, not shown. */
const shown = 20

/**
 * Throws every mistake of a file as one error, in file order, each with line and column.
 *
 * Its code is theirs when they share one, else HARVEST_CASE_INVALID. Does nothing without one.
 */
export function refuseIssues(issues: readonly CaseIssue[], text: string, file: string): void {
  const inOrder = [...issues].sort((a, b) => a.offset - b.offset)
  const first = inOrder[0]
  if (first === undefined) return
  const lineStarts = lineStartsOf(text)
  const more = inOrder.length - shown
  throw new HarvestError(inOrder.every(({ code }) => code === first.code) ? first.code : 'HARVEST_CASE_INVALID', {
    what: inOrder.length === 1 ? 'The case file has an issue' : `The case file has ${inOrder.length} issues`,
    where: { case: `${file}:${place(first.offset, lineStarts)}` },
    detail: [
      ...inOrder.slice(0, shown).map((issue) => describe(issue, lineStarts)),
      ...(more > 0 ? [`  … and ${more} more`] : []),
    ].join('\n'),
    fix: [`to see what was edited: git diff -- ${shellWord(file)}`],
  })
}

/**
 * The place an error of this room points at, if it points at one: for the first line of a stack trace.
 *
 * Lines and columns are 1-based.
 */
export function caseErrorPlace(error: HarvestError): { file: string; line: number; column: number } | undefined {
  const parts = /^(.+):(\d+):(\d+)$/s.exec(error.facts.where?.['case'] ?? '')
  if (parts === null) return undefined
  const [, file = '', line, column] = parts
  return { file, line: Number(line), column: Number(column) }
}

function describe({ offset, path, expected, found, hint }: CaseIssue, lineStarts: readonly number[]): string {
  const rows = [
    `  ${place(offset, lineStarts)}${path === '' ? '' : `  ${path}`}`,
    `    expected  ${expected}`,
    `    found     ${found}`,
  ]
  if (hint !== undefined) rows.push(`    → ${hint}`)
  return rows.join('\n')
}

/** Where each line of a text begins. */
export function lineStartsOf(text: string): readonly number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** The 1-based line of a character. */
export function lineAt(offset: number, lineStarts: readonly number[]): number {
  let low = 0
  let high = lineStarts.length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((lineStarts[middle] ?? 0) <= offset) low = middle
    else high = middle
  }
  return low + 1
}

function place(offset: number, lineStarts: readonly number[]): string {
  const line = lineAt(offset, lineStarts)
  return `${line}:${offset - (lineStarts[line - 1] ?? 0) + 1}`
}

/** Text of the file as a message may show it. */
export function quoted(text: string): string {
  return `"${neutralLine(text, 60)}"`
}
