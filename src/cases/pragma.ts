import type { CaseIssue } from './issues.ts'

/**
 * What Vitest looks for in the text of a test file before it runs it, wherever it stands: `@vitest-environment` and
 * `@jest-environment` change where the test runs, broken options after them stop the whole run, `@module-tag` tags it.
 * A case is a test file, and an agent that writes code will have such text in its answers.
 */
const pragma = /@(?:vitest-|jest-environment|module-tag)[\w-]*/g

/** Adds every piece of text that Vitest would obey. */
export function refusePragmas(text: string, issues: CaseIssue[]): void {
  for (const { 0: found, index: offset } of text.matchAll(pragma)) {
    issues.push({
      code: 'HARVEST_CASE_PRAGMA',
      offset,
      path: '',
      expected: 'no text that Vitest obeys when it stands in a test file',
      found,
      hint: `in double quotes it is written "\\x40${found.slice(1)}", in a comment it has no place`,
    })
  }
}

/** Whether a text holds something Vitest would obey. */
export function hasPragma(text: string): boolean {
  pragma.lastIndex = 0
  return pragma.test(text)
}

/** Writes such text so that YAML reads the same and Vitest sees nothing; all of it must stand in double quotes. */
export function escapePragmas(yaml: string): string {
  return yaml.replace(pragma, (found) => `\\x40${found.slice(1)}`)
}
