import { stripVTControlCharacters } from 'node:util'
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node'
import { loadOwn } from '../own-files.ts'
import { neutralLines } from './neutral-lines.ts'
import { isOwn } from './project.ts'

/**
 * Makes what cases print and throw safe before any other reporter sees it, so it has to be the first one.
 *
 * Our own failures carry neutral text already. What an agent writes to the console, and what it or hooks of the user throw
 * around a case, comes from Vitest as it is: recorded text in it could speak to a terminal or to the runner of a pipeline,
 * and an error carry the request that failed, with its keys.
 */
export class NeutralReporter implements Reporter {
  #vitest: Vitest | undefined

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onUserConsoleLog(log: { content: string; readonly taskId?: string }): void {
    const task = this.#vitest?.state.idMap.get(log.taskId ?? '')
    // What Vitest cannot say the test of may be an agent's.
    if (task === undefined || this.#isCase(task.file)) log.content = neutralText(log.content)
  }

  onTestCaseResult(test: TestCase): void {
    if (isOwn(test.project)) neutralise(test.result().errors)
  }

  onTestModuleEnd(module: TestModule): void {
    if (isOwn(module.project)) neutralise(module.errors())
  }

  onTestRunEnd(_modules: readonly TestModule[], unhandled: readonly object[]): void {
    const cases = new Set(
      this.#vitest?.state
        .getFiles()
        .filter((file) => this.#isCase(file))
        .map(({ filepath }) => filepath),
    )
    neutralise(unhandled.filter((error) => cases.has(String(Reflect.get(error, 'VITEST_TEST_PATH')))))
  }

  #isCase({ projectName }: { readonly projectName?: string | undefined }): boolean {
    return this.#vitest?.projects.some((project) => project.name === projectName && isOwn(project)) ?? false
  }
}

/** Changes the errors in place: every reporter is handed the same ones. Our own failures are redacted already. */
function neutralise(errors: readonly object[] | undefined): void {
  for (const error of errors ?? []) {
    if (!/^HARVEST_/.test(String(Reflect.get(error, 'code')))) redact(error)
    neutraliseOne(error)
  }
}

/** What redacts is loaded when something was thrown: this process has no other use for it. */
function redact(error: object): void {
  const { redactThrown } = loadOwn('vitest/redact-thrown') as typeof import('./redact-thrown.ts')
  redactThrown(error)
}

/** @param seen - causes can lead in circles */
function neutraliseOne(error: object, seen = new Set<object>()): void {
  if (seen.has(error)) return
  seen.add(error)
  for (const key of ['name', 'message', 'stack']) {
    const value: unknown = Reflect.get(error, key)
    if (typeof value === 'string') Reflect.set(error, key, neutralText(value))
  }
  const cause: unknown = Reflect.get(error, 'cause')
  if (typeof cause === 'string') Reflect.set(error, 'cause', neutralText(cause))
  if (typeof cause === 'object' && cause !== null) neutraliseOne(cause, seen)
}

/** Colours are taken out first: as escapes they would bury the text. */
function neutralText(text: string): string {
  return neutralLines(stripVTControlCharacters(text))
}
