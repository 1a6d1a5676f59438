import { resolve } from 'node:path'
import { printedPath } from './here.ts'
import { shellWord } from './neutral.ts'

/** A case that a next step is about. */
export interface CaseOfStep {
  readonly file: string
  /** Folder that it is in the golden set of. */
  readonly recordings: string
  /** Whether packages beside these recordings may have a case of this name. */
  readonly hasPackages: boolean
}

/**
 * The command of a next step as it works where it is printed. Commands look for a case in `./recordings`, and Vitest for parts of
 * paths: the file of a case is one file.
 *
 * @param step - text with `npx vitest-harvest <command> <case>`
 * @param name - of the case there
 */
export function caseStepFromHere(step: string, name: string, { file, recordings, hasPackages }: CaseOfStep): string {
  const test = `npx vitest-harvest test ${shellWord(name)}`
  const isHere = isRecordingsHere(recordings)
  if (!step.includes(test) || step.includes('--prove')) return isHere ? step : inFolder(step, recordings)
  return isHere && !hasPackages
    ? step
    : step.replace(test, () => `npx vitest-harvest test ${shellWord(printedPath(file))}`)
}

/** Whether commands look there without an option. */
export function isRecordingsHere(recordings: string): boolean {
  return resolve('recordings') === resolve(recordings)
}

export function inFolder(step: string, recordings: string): string {
  return `${step} --dir ${shellWord(printedPath(recordings))}`
}
