import path from 'node:path'
import {
  DefaultReporter,
  type Reporter,
  type TestCase,
  type TestModule,
  type TestSpecification,
  type Vitest,
} from 'vitest/node'
import { type HarvestError, neutralLine } from '../errors/index.ts'
import { type CaseUpdate, updateArtifact } from './channel.ts'
import { toPosix } from './options.ts'
import { projectName } from './project.ts'
import { type CaseResult, summarise } from './summary.ts'
import { duplicateErrors, noCasesCollected, obsoleteTapes, pragmaErrors, surveyRecordings } from './survey.ts'
import { type UpdateChoice, unattended } from './update-mode.ts'
import { writeUpdates } from './write-updates.ts'

// Every reporter for people extends it. Vitest types it as an export of vitest/node, but it is none.
const HumanReporter = Object.getPrototypeOf(DefaultReporter) as typeof DefaultReporter

/**
 * The config process at the end of a run: writes updates, looks for what no single case can notice, and sums up.
 *
 * What it sums up travels in the meta of each test, so that `--merge-reports` shows it for all shards.
 */
export class HarvestReporter implements Reporter {
  readonly #recordings: string
  readonly #choice: UpdateChoice
  readonly #updates = new Map<string, CaseUpdate>()
  #vitest: Vitest | undefined
  #isFiltered = false
  #isFirstRun = true

  constructor(about: { readonly recordings: string; readonly choice: UpdateChoice }) {
    this.#recordings = about.recordings
    this.#choice = about.choice
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#updates.clear()
    this.#isFiltered = this.#vitest !== undefined && isFiltered(this.#vitest)
    const files = specifications.filter(({ project }) => project.name === projectName).map(({ moduleId }) => moduleId)
    this.#fail(pragmaErrors(files))
  }

  onTestCaseArtifactRecord(_test: TestCase, artifact: { readonly type: string }): void {
    if (isUpdate(artifact)) this.#updates.set(artifact.file, artifact)
  }

  async onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[], reason: string): Promise<void> {
    const vitest = this.#vitest
    if (vitest === undefined) return
    const results = caseResults(modules)
    const lines = summarise(results)
    const isHuman = activeReporters(vitest).some((reporter) => reporter instanceof HumanReporter)
    const tell = (label: string, text: string) => isHuman && vitest.logger.log(`${label.padStart(11)}  ${text}`)
    for (const [label, text] of lines) tell(label, text)
    this.#write(tell, reason, unhandled.length)
    this.#fail(await this.#problems(modules, tell))
    this.#isFirstRun = false
  }

  /** Reporters for machines own stdout; what makes the run fail is said on stderr in any case. */
  #fail(errors: readonly HarvestError[]): void {
    for (const error of errors) {
      this.#vitest?.logger.error(`\n${error.message}\n`)
      process.exitCode = 1
    }
  }

  #write(tell: (label: string, text: string) => void, reason: string, unhandled: number): void {
    const { refused } = this.#choice
    if (refused) {
      tell('Update', `--update-recordings=${refused.asked} was not followed: ${refused.because}`)
      tell('', 'to allow it: HARVEST_ALLOW_CI_UPDATE=1')
    }
    // Merged reports tell of runs elsewhere, over other files than those here.
    if (this.#updates.size === 0 || this.#vitest?.config.mergeReports !== undefined) return
    if (reason === 'interrupted' || unhandled > 0) {
      const why = unhandled > 0 ? 'the run had errors outside of its tests' : 'the run was interrupted'
      tell('Update', `nothing was written: ${why}`)
      return
    }
    const { written, skipped } = writeUpdates(this.#updates.values())
    for (const file of written.slice(0, 9)) tell('Updated', this.#shown(file))
    if (written.length > 9) tell('', `and ${written.length - 9} more`)
    for (const file of skipped) tell('Not updated', `${this.#shown(file)}: it was edited during the run`)
  }

  async #problems(
    modules: readonly TestModule[],
    tell: (label: string, text: string) => void,
  ): Promise<readonly HarvestError[]> {
    const ran = modules.some(({ project }) => project.name === projectName)
    // A filtered run may rightly have no case; a re-run has what changed.
    if (!this.#isFirstRun || (!ran && this.#isFiltered)) return []
    const survey = surveyRecordings(this.#recordings)
    const folder = this.#shown(this.#recordings)
    if (!ran && survey.isEmpty) return []
    const duplicates = await duplicateErrors(survey, this.#recordings)
    const problems = [...duplicates, ...(ran ? [] : [noCasesCollected(survey, folder)])]
    if (survey.obsolete.length === 0) return problems
    const obsolete = obsoleteTapes(survey.obsolete, folder)
    if (unattended(process.env) !== undefined) return [...problems, obsolete]
    tell('Obsolete', `${survey.obsolete.length} tape(s) without a case; CI fails on them`)
    return problems
  }

  #shown(file: string): string {
    return neutralLine(toPosix(path.relative(this.#vitest?.config.root ?? '', file)))
  }
}

/** The reporters as they were made; not in Vitest's types. */
function activeReporters(vitest: Vitest): readonly unknown[] {
  const reporters: unknown = Reflect.get(vitest, 'reporters')
  return Array.isArray(reporters) ? reporters : []
}

function caseResults(modules: readonly TestModule[]): readonly CaseResult[] {
  const results: CaseResult[] = []
  for (const module of modules) {
    if (module.project.name !== projectName) continue
    for (const test of module.children.allTests()) {
      const report = test.meta().harvest
      if (report) results.push({ state: test.result().state, report })
    }
  }
  return results
}

/** Whether the run was asked for a part of the tests only. */
function isFiltered(vitest: Vitest): boolean {
  const { config } = vitest
  const lists = [Reflect.get(vitest, 'filenamePattern'), config.project, config.related, config.tagsFilter]
  const switches = [
    config.changed,
    config.shard,
    config.mergeReports,
    config.standalone,
    Reflect.get(config.cliOptions ?? {}, 'lastFailed'),
  ]
  return lists.some((list) => Array.isArray(list) && list.length > 0) || switches.some(Boolean)
}

function isUpdate(artifact: { readonly type: string }): artifact is CaseUpdate {
  return artifact.type === updateArtifact
}
