import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { CaseLesson } from '../cases/index.ts'
import { type HarvestError, neutral, neutralLine } from '../errors/index.ts'
import { redactorForMessages } from '../match/redact-message.ts'
import type { Tape } from '../tape/index.ts'
import { neutralLines } from './neutral-lines.ts'

/** A place in a file, 1-based. */
export interface SourceLocation {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** What a red case shows. */
export interface FailureFacts {
  readonly error: HarvestError
  /** Where in the case file. */
  readonly place: SourceLocation
  readonly title?: string
  readonly lesson?: CaseLesson
  /** For the diff Vitest prints. */
  readonly expected?: string
  readonly actual?: string
  /** Whose rules say what of a thrown error is secret. Default: the built-in ones. */
  readonly tape?: Tape
}

/**
 * The error Vitest shows for a red case: the message of the cause, a frame in the user's code where one is known, a
 * frame in the case file, and the lesson. The first frame is what reporters show and GitHub annotates: the line to fix.
 *
 * Reporters serialise every own property of an error, hidden ones too, so it carries text and nothing else: no tape, no
 * request, no response.
 */
export class CaseFailure extends Error {
  /** JUnit takes the type of a failure from it: an unproven case is distinguished from a different one without its text. */
  override readonly name: 'HarvestError' | 'HarvestUnproven'
  readonly code: string
  readonly stacks: readonly (SourceLocation & { readonly method: string })[]
  readonly expected?: string
  readonly actual?: string
  readonly showDiff?: boolean
  /** Printed by Vitest instead of frames with the lines of the file around them. */
  readonly frame?: string

  constructor({ error, place, title, lesson, expected, actual, tape }: FailureFacts) {
    super(neutralLines(error.message) + describeLesson(title, lesson), causeOf(error, tape))
    this.name = error.code === 'HARVEST_UNPROVEN' ? 'HarvestUnproven' : 'HarvestError'
    const frames = [...userFrame(error), place]
    this.code = error.code
    // Both: Vitest takes `stacks` as they are, reporters for machines print `stack`.
    this.stacks = frames.map((frame) => ({ ...frame, method: '' }))
    const lines = frames.map(({ file, line, column }) => `    at ${file}:${line}:${column}`)
    this.stack = [`${this.name}: ${this.message}`, ...lines].join('\n')
    // Vitest would print the lines around the first frame as they are.
    if (frames.some(({ file }) => !isSafeToQuote(file)))
      this.frame = lines.map((line) => line.replace('    at', ' ❯')).join('\n')
    if (expected === undefined || actual === undefined) return
    this.expected = neutralLines(expected)
    this.actual = neutralLines(actual)
    this.showDiff = true
  }
}

/** Whether the lines of a file can be shown as they are: a case may come from anybody who opens a pull request. */
function isSafeToQuote(file: string): boolean {
  if (!existsSync(file)) return true
  const lines = readFileSync(file, 'utf8').split(/\r?\n|\t/)
  return lines.every((line) => neutral(line) === line)
}

/** What the case is there for: a reader of a red build has not read its file. */
function describeLesson(title: string | undefined, { wrong, right }: CaseLesson = {}): string {
  const rows = Object.entries({ wrong, right }).filter(([, text]) => text !== undefined && text.trim() !== '')
  if (title === undefined && rows.length === 0) return ''
  const heading = title === undefined ? 'The lesson of this case' : neutralLine(title.trim())
  const lines = rows.map(([label, text]) => `  ${label}  ${indent(text?.trim() ?? '')}`)
  return `\n\n${[neutralLines(heading), ...lines].join('\n')}`
}

function indent(text: string): string {
  return neutralLines(text).replaceAll('\n', `\n${' '.repeat(9)}`)
}

/** The line in the user's code that the message names, as a frame an editor can open. */
function userFrame(error: HarvestError): readonly SourceLocation[] {
  const found = /^(.+):(\d+):(\d+)$/.exec(error.facts.where?.['at'] ?? '')
  if (!found) return []
  const file = path.resolve(found[1] ?? '')
  // A line of a recorded run may lie in a build that is not here, or be no path at all.
  if (!existsSync(file) || neutral(file) !== file) return []
  return [{ file, line: Number(found[2]), column: Number(found[3]) }]
}

/** Name, message and stack of the cause, redacted; an SDK's error has the whole request on it. */
function causeOf(error: HarvestError, tape?: Tape): { readonly cause?: Error } {
  if (!(error.cause instanceof Error)) return {}
  const { name, message, stack } = error.cause
  const redactMessage = redactorForMessages(tape)
  const cause = new Error(neutralLines(redactMessage(message)))
  cause.name = neutralLine(redactMessage(name))
  cause.stack = neutralLines(redactMessage(stack ?? `${name}: ${message}`))
  return { cause }
}
