import type { AskedChange } from '../replay/accept-request.ts'
import { type CaseResult, type FileLine, worstFirst } from './summary.ts'

/*
 * What the annotations of a workflow of GitHub Actions say.
 *
 * One error per red case, at the line of the agent where one is known, else at that of the case. Vitest's own reporter
 * prints it with the whole failure; where it is left out, we do. GitHub keeps ten errors and ten warnings per step and drops
 * the rest silently, so the tenth place names the number of those that are not shown.
 */
const shownPerStep = 9

export interface Annotated {
  readonly results: readonly CaseResult[]
  /** Changed questions that were not accepted. */
  readonly unproven: readonly AskedChange[]
  /** Those that the config excludes from the verdict. */
  readonly notJudged: readonly AskedChange[]
  /** Whether Vitest's own reporter annotates red cases. */
  readonly hasErrors: boolean
}

/** Workflow commands, one a line. */
export function annotations({ results, unproven, notJudged, hasErrors }: Annotated): readonly string[] {
  const red = worstFirst(results)
  const errors = red.flatMap((result) => {
    const place = result.failure?.site ?? result.failure?.place
    return place === undefined ? [] : [command('error', place, result.name, result.failure?.message ?? '')]
  })
  return [
    // Errors of Vitest's reporter that GitHub drops are counted here.
    ...(hasErrors ? moreThanShown('warning', red.length) : capped('error', errors, red.length)),
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
  return [...(total <= shownPerStep ? commands : shown), ...moreThanShown(level, total)]
}

function moreThanShown(level: string, total: number): readonly string[] {
  if (total <= shownPerStep) return []
  return [`::${level} title=Recordings::and ${total - shownPerStep} more red cases: the step summary names them`]
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
