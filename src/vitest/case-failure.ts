import path from 'node:path'
import { type HarvestError, neutral, neutralLine } from '../errors/index.ts'
import type { CaseLesson } from '../cases/index.ts'

/** A place in a file, 1-based. */
export interface Place {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** What a red case shows. */
export interface FailureFacts {
  readonly error: HarvestError
  /** Where in the case file; the first thing a reader sees. */
  readonly place: Place
  readonly title?: string
  readonly lesson?: CaseLesson
  /** For the diff Vitest prints. */
  readonly expected?: string
  readonly actual?: string
}

/**
 * The error Vitest shows for a red case: the message of the cause, a frame in the case file, a frame in the user's code
 * where one is known, and the lesson.
 *
 * Reporters serialise every own property of an error, hidden ones too, so it carries text and nothing else: no tape, no
 * request, no response.
 */
export class CaseFailure extends Error {
  override readonly name = 'HarvestError'
  readonly code: string
  readonly stacks: readonly (Place & { readonly method: string })[]
  readonly expected?: string
  readonly actual?: string
  readonly showDiff?: boolean

  constructor({ error, place, title, lesson, expected, actual }: FailureFacts) {
    super(eachLine(error.message) + describeLesson(title, lesson), causeOf(error))
    const frames = [place, ...userFrame(error)]
    this.code = error.code
    // Both: Vitest takes `stacks` as they are, reporters for machines print `stack`.
    this.stacks = frames.map((frame) => ({ ...frame, method: '' }))
    const lines = frames.map(({ file, line, column }) => `    at ${file}:${line}:${column}`)
    this.stack = [`${this.name}: ${this.message}`, ...lines].join('\n')
    if (expected === undefined || actual === undefined) return
    this.expected = eachLine(expected)
    this.actual = eachLine(actual)
    this.showDiff = true
  }
}

/** Text from a tape in a CI log must not be taken for a command of the runner. */
function eachLine(text: string): string {
  return text.split('\n').map(neutral).join('\n')
}

/** What the case is there for: a reader of a red build has not read its file. */
function describeLesson(title: string | undefined, { wrong, right }: CaseLesson = {}): string {
  const rows = Object.entries({ wrong, right }).filter(([, text]) => text !== undefined && text.trim() !== '')
  if (title === undefined && rows.length === 0) return ''
  const heading = title === undefined ? 'The lesson of this case' : neutralLine(title.trim())
  const lines = rows.map(([label, text]) => `  ${label}  ${indent(text?.trim() ?? '')}`)
  return `\n\n${[heading, ...lines].join('\n')}`
}

function indent(text: string): string {
  return eachLine(text).replaceAll('\n', `\n${' '.repeat(9)}`)
}

/** The line in the user's code that the message names, as a frame an editor can open. */
function userFrame(error: HarvestError): readonly Place[] {
  const found = /^(.+):(\d+):(\d+)$/.exec(error.facts.where?.['at'] ?? '')
  if (!found) return []
  return [{ file: path.resolve(found[1] ?? ''), line: Number(found[2]), column: Number(found[3]) }]
}

/** Name, message and stack of the cause; an SDK's error has the whole request on it. */
function causeOf(error: HarvestError): { readonly cause?: Error } {
  if (!(error.cause instanceof Error)) return {}
  const { name, message, stack } = error.cause
  const cause = new Error(eachLine(message))
  cause.name = name
  cause.stack = eachLine(stack ?? `${name}: ${message}`)
  return { cause }
}
