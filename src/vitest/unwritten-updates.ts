import type { TestError } from 'vitest'
import type { TestCase, Vitest } from 'vitest/node'
import { HarvestError } from '../errors/index.ts'
import type { VerdictName } from '../replay/index.ts'
import { CaseFailure } from './case-failure.ts'
import type { QuestionCounts } from './channel.ts'
import { listed, updateCommand } from './narrowed-update.ts'
import { questionAnnotations } from './question-annotations.ts'
import { mostFiles, type UpdateChoice } from './update-mode.ts'

export { narrowedUpdate } from './narrowed-update.ts'

/** A test that passed by an update of this run, which is not written. */
export interface UnwrittenUpdate {
  readonly test: TestCase
  readonly error: HarvestError
  /** Keys of the changed questions that it accepted. */
  readonly keys: ReadonlySet<string>
}

/**
 * Why an update that nothing else stands against is not written.
 *
 * @param because - what happened to the run
 */
export function notWritten(
  because: string,
  files: readonly string[],
  choice: UpdateChoice,
  again: readonly string[],
): HarvestError {
  const all = [...new Set(files)].sort()
  return new HarvestError('HARVEST_UPDATE_STOPPED', {
    what: `The update was not written: ${because}`,
    where: { 'to be written': listed(all) },
    fix: [`once that is fixed: ${updateCommand(choice, all.length > mostFiles ? [] : all, again)}`],
  })
}

/**
 * What was accepted is not written, so its test is as red as before: in what Vitest knows of it, which every reporter reads when
 * the run ends.
 */
export function failUnwritten(vitest: Vitest, updates: readonly UnwrittenUpdate[]): void {
  for (const { test, error, keys } of updates) {
    const task = vitest.state.idMap.get(test.id)
    if (task?.type !== 'test') continue
    const { state, errors } = task.result ?? {}
    // What made it red by itself says more.
    const isRed = state === 'fail' && errors !== undefined
    const { verdict, questions } = correct(test.meta(), keys, isRed ? undefined : error.code)
    if (isRed) continue
    const about = { ...(verdict && { verdict }), ...(questions && { questions }) }
    task.annotations.push(...questionAnnotations(about).map(([message, type]) => ({ message, type })))
    const name = verdict === 'unproven' ? 'HarvestUnproven' : 'HarvestError'
    const failed = { state: 'fail' as const, errors: [failureOf(error, name, test.module.moduleId)] }
    // Vitest 5 prints the errors of attempts.
    const attempts = task.result?.attempts?.map((one, at, { length }) =>
      at === length - 1 ? { ...one, ...failed } : one,
    )
    task.result = { ...task.result, ...failed, ...(attempts && { attempts }) }
    for (const suite of [task.suite, task.file]) if (suite?.result !== undefined) suite.result.state = 'fail'
  }
}

/** What is reported about the test, without the update. */
function correct(
  meta: ReturnType<TestCase['meta']>,
  keys: ReadonlySet<string>,
  code: string | undefined,
): { readonly verdict?: VerdictName; readonly questions?: QuestionCounts } {
  const { harvest, harvestReplay } = meta
  if (harvest !== undefined) {
    const { updated: _, verdictBefore: verdict = 'different', ...report } = harvest
    const questions = report.questions && withoutAcceptances(report.questions, keys)
    meta.harvest = { ...report, verdict, ...(questions && { questions }), ...(code !== undefined && { code }) }
    return meta.harvest
  }
  if (harvestReplay === undefined) return {}
  const questions = withoutAcceptances(harvestReplay, keys)
  meta.harvestReplay = { ...questions, verdict: 'unproven' }
  return { verdict: 'unproven', questions }
}

function failureOf(error: HarvestError, name: CaseFailure['name'], file: string): TestError {
  const { message, code, stacks, frame } = new CaseFailure({ error, place: { file, line: 1, column: 1 } })
  // Without the place in its text it is one failure of all tests, which Vitest prints once.
  const stack = `${name}: ${message}`
  return { name, message, code, stacks: [...stacks], stack, ...(frame !== undefined && { frame }) }
}

/** Questions that a run accepted and did not write are as open as before. */
function withoutAcceptances<T extends QuestionCounts>(questions: T, keys: ReadonlySet<string>): T {
  const open = questions.accepted
    .filter(({ key }) => keys.has(key))
    .map(({ reason: _, by: __, at: ___, ...one }) => one)
  return {
    ...questions,
    unproven: [...questions.unproven, ...open],
    accepted: questions.accepted.filter(({ key }) => !keys.has(key)),
  }
}
