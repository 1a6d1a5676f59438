import type { AskedChange } from '../replay/accept-request.ts'
import { type CaseResult, type FileLine, isUnproven, reasonOf, worstFirst } from './summary.ts'

/*
 * What the annotations of a workflow of GitHub Actions say.
 *
 * Vitest's own reporter prints one error per red test, at the line of the case, with the whole failure. GitHub keeps ten
 * errors and ten warnings per step and drops the rest without a word. So the lines of the agent are warnings, and the
 * tenth place is for the number of those that are not shown.
 */
const shownPerStep = 9

export interface Annotated {
  readonly results: readonly CaseResult[]
  /** Changed questions that nobody accepted. */
  readonly unproven: readonly AskedChange[]
  /** Those that the config excludes from the verdict. */
  readonly notJudged: readonly AskedChange[]
  /** Whether Vitest's own reporter annotates the lines of the cases. */
  readonly hasErrors: boolean
}

/** Workflow commands, one a line: warnings at the lines of the agent, and errors at those of the cases unless they are there. */
export function annotations({ results, unproven, notJudged, hasErrors }: Annotated): readonly string[] {
  const red = worstFirst(results)
  const errors = red.flatMap((result) => {
    const place = result.failure?.place
    return place === undefined ? [] : [command('error', place, result.name, result.failure?.message ?? '')]
  })
  const warnings = red
    .filter((result) => !isUnproven(result))
    .flatMap((result) => {
      const site = result.failure?.site
      return site === undefined ? [] : [command('warning', site, result.name, reasonOf(result))]
    })
  return [
    ...(hasErrors ? [] : capped('error', errors, red.length)),
    // Errors of Vitest's that GitHub drops are told of here.
    ...capped('warning', warnings, hasErrors ? red.length : warnings.length),
    // One a change, however many cases have it: that is what there is to review.
    ...unproven.slice(0, shownPerStep).map((change) => changeCommand('error', 'Unproven', change, results)),
    ...notJudged.slice(0, shownPerStep).map((change) => changeCommand('warning', 'Not judged', change, results)),
  ]
}

function changeCommand(
  level: string,
  title: string,
  { question, names }: AskedChange,
  results: readonly CaseResult[],
): string {
  const first = results.find(({ name, failure }) => names.includes(name) && failure?.site !== undefined)
  const text = `${title}: ${question.part} (${names.length} case${names.length === 1 ? '' : 's'})`
  const site = first?.failure?.site
  if (site !== undefined) return command(level, site, text, question.words)
  return `::${level} title=${escapeProperty(text)}::${escapeData(question.words)}`
}

/** An annotation of the whole run, for what no line is to blame. */
export function runAnnotation(title: string, message: string): string {
  return `::error title=${escapeProperty(title)}::${escapeData(message)}`
}

function capped(level: string, commands: readonly string[], total: number): readonly string[] {
  const shown = commands.slice(0, shownPerStep)
  if (total <= shownPerStep) return shown
  const more = `and ${total - shown.length} more red cases: the step summary names them`
  return [...shown, `::${level} title=Recordings::${more}`]
}

function command(level: string, { file, line, column }: FileLine, title: string, message: string): string {
  const properties = Object.entries({ file, line, col: column, title })
  const text = properties.map(([key, value]) => `${key}=${escapeProperty(String(value))}`).join(',')
  return `::${level} ${text}::${escapeData(message)}`
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
