import { neutralLine } from '../errors/index.ts'
import { neutralLines } from './neutral-lines.ts'
import { type CaseResult, placeText, type SummaryLine, worstFirst } from './summary.ts'

/** What GitHub shows of a step; of a longer summary it shows nothing. */
export const maxSummaryBytes = 1024 * 1024

/** One failure that is longer than this is read in the log. */
const maxMessageLength = 20_000

export interface StepSummary {
  readonly totals: readonly SummaryLine[]
  readonly results: readonly CaseResult[]
  /** What is wrong with the golden set as a whole. */
  readonly problems: readonly string[]
  /** A path as people read it. */
  readonly shown: (file: string) => string
}

/**
 * The page GitHub shows for a step, to be appended to what is there: counts, then every red case with its whole message.
 *
 * Text from tapes and cases stands in code, where it makes no link, image, mention or element.
 *
 * @param room - bytes it may have; what does not fit is left out, and a line says so
 */
export function stepSummary({ totals, results, problems, shown }: StepSummary, room: number): string {
  const red = worstFirst(results)
  const head = `\n## Recordings\n${fenced(totals.map(([label, text]) => `${label.padEnd(10)}  ${text}`).join('\n'))}`
  const blocks = [...problems.map((problem) => fenced(problem)), ...red.map((result) => block(result, shown))]
  const more = (count: number) =>
    `\n${count} more are left out: GitHub shows at most 1 MiB of summary a step. The log names them.\n`
  let page = head
  for (const [at, text] of blocks.entries()) {
    const left = more(blocks.length - at)
    if (bytes(page) + bytes(text) + bytes(left) > room) return bytes(page) + bytes(left) > room ? '' : page + left
    page += text
  }
  return page
}

function block(result: CaseResult, shown: (file: string) => string): string {
  const { name, failure } = result
  const left = result.report.report
  const places = [failure?.place, failure?.site].flatMap((place) => (place ? [inline(placeText(place, shown))] : []))
  return `\n### ${inline(name)}\n\n${places.join(', ')}\n${left === undefined ? '' : `\nreport: ${inline(left)}\n`}${fenced(failure?.message ?? '')}${failure?.diff === undefined ? '' : fenced(failure.diff, 'diff')}`
}

/** A block of code whose fence is longer than every run of backticks in it. */
function fenced(text: string, language = ''): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1))
  return `\n${fence}${language}\n${neutralLines(cut(text))}\n${fence}\n`
}

/** Code in a line; a blank at both ends keeps backticks apart. */
function inline(text: string): string {
  const line = neutralLine(text, 300)
  const tick = '`'.repeat(longestRun(line) + 1)
  return tick === '`' ? `\`${line}\`` : `${tick} ${line} ${tick}`
}

function longestRun(text: string): number {
  return Math.max(0, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length))
}

function cut(text: string): string {
  return text.length <= maxMessageLength
    ? text
    : `${text.slice(0, maxMessageLength)}\n… cut here: the log has all of it`
}

function bytes(text: string): number {
  return Buffer.byteLength(text)
}
