import path from 'node:path'
import {
  DefaultReporter,
  GithubActionsReporter,
  type Reporter,
  type TestCase,
  type TestModule,
  type TestSpecification,
  type Vitest,
} from 'vitest/node'
import { acceptedFileName } from '../cases/accepted-name.ts'
import { type HarvestError, neutralLine } from '../errors/index.ts'
import { caseResults } from './case-results.ts'
import { acceptReportVariable } from '../replay/accept-request.ts'
import { writeAcceptReport } from './accept-report.ts'
import { acceptArtifact, type CaseAcceptance, type CaseUpdate, updateArtifact } from './channel.ts'
import { lookAtGoldenSet, type Looked, type Scope } from './golden-set.ts'
import { neutralLines } from './neutral-lines.ts'
import { toPosix } from './options.ts'
import { projectName } from './project.ts'
import { failures, type SummaryLine, totals } from './summary.ts'
import { pragmaErrors } from './survey.ts'
import { tellGithub } from './tell-github.ts'
import { type UpdateChoice, unattended } from './update-mode.ts'
import { type Asker, changesOf, proofLines, unprovenLines } from './question-lines.ts'
import { forgetAcceptances, writeAcceptances } from './write-acceptances.ts'
import { writeUpdates } from './write-updates.ts'

// Every reporter for people extends it. Vitest types it as an export of vitest/node, but it is none.
const HumanReporter = Object.getPrototypeOf(DefaultReporter) as typeof DefaultReporter

/**
 * The config process at the end of a run: writes updates, looks for what no single case can notice, and sums up.
 *
 * What it sums up travels with each test, so that `--merge-reports` shows it for all shards.
 */
export class HarvestReporter implements Reporter {
  readonly #recordings: string
  readonly #acceptedFile: string
  readonly #choice: UpdateChoice
  /** By the file they rewrite. */
  readonly #updates = new Map<string, { readonly update: CaseUpdate; readonly test: TestCase }>()
  readonly #acceptances: CaseAcceptance[] = []
  #vitest: Vitest | undefined
  #scope: Scope = 'all'
  #isFirstRun = true

  constructor(about: { readonly recordings: string; readonly choice: UpdateChoice }) {
    this.#recordings = about.recordings
    this.#acceptedFile = path.join(about.recordings, acceptedFileName)
    this.#choice = about.choice
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#updates.clear()
    this.#acceptances.length = 0
    this.#scope = this.#vitest === undefined ? 'all' : scopeOf(this.#vitest)
    const files = specifications.filter(({ project }) => project.name === projectName).map(({ moduleId }) => moduleId)
    this.#fail(pragmaErrors(files))
  }

  onTestCaseArtifactRecord(test: TestCase, artifact: { readonly type: string }): void {
    if (isUpdate(artifact)) this.#updates.set(artifact.file, { update: artifact, test })
    if (isAcceptance(artifact)) this.#acceptances.push(artifact)
  }

  onTestCaseResult(test: TestCase): void {
    const report = test.meta().harvest
    if (this.#scope === 'part' && report !== undefined) test.meta().harvest = { ...report, isPart: true }
  }

  async onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[], reason: string): Promise<void> {
    const vitest = this.#vitest
    if (vitest === undefined) return
    const askers = askersOf(modules)
    const { written, lines } = await this.#write(reason, unhandled.length, askers)
    const results = caseResults(modules, this.#scope === 'merge' ? undefined : new Set(written))
    const shown = (file: string) => this.#shown(file)
    const { root } = vitest.config
    const run = { scope: this.#scope, modules, results, root, recordings: this.#recordings, shown }
    // A re-run has what changed; a run that was stopped had not come to all of it.
    const isWhole = this.#isFirstRun && reason !== 'interrupted'
    const { errors, warnings }: Looked = isWhole ? await lookAtGoldenSet(run) : { errors: [], warnings: [] }
    const sums = totals(results)
    const reporters = activeReporters(vitest)
    if (reporters.some((one) => one instanceof HumanReporter))
      print(
        [...sums, ...proofLines(askers), ...lines, ...warnings, ...failures(results, shown), ...unprovenLines(askers)],
        vitest.logger,
      )
    this.#fail(errors)
    const acceptReport = process.env[acceptReportVariable] ?? ''
    if (acceptReport !== '') {
      const different = results.filter(({ state, report }) => state === 'failed' && report.verdict !== 'unproven')
      const { refused } = this.#choice
      const nobody = unattended(process.env)
      writeAcceptReport(acceptReport, askers, {
        different: different.map(({ name }) => name),
        written: written.map(shown),
        ...(refused !== undefined && { refused: refused.because }),
        ...(nobody !== undefined && { unattended: nobody }),
      })
    }
    // Vitest does not export its blob reporter. A blob is merged later, and told of then.
    if (!reporters.some((one) => one?.constructor.name === 'BlobReporter')) {
      const hasErrors = reporters.some((one) => one instanceof GithubActionsReporter)
      const told = {
        totals: [...sums, ...proofLines(askers), ...unprovenLines(askers)],
        results,
        errors,
        hasErrors,
        shown,
        unproven: changesOf(askers, 'unproven'),
        notJudged: changesOf(askers, 'notJudged'),
      }
      tellGithub(told, process.env, (line) => vitest.logger.error(line))
    }
    this.#isFirstRun = false
  }

  /** Reporters for machines own stdout; what makes the run fail is said on stderr in any case. */
  #fail(errors: readonly HarvestError[]): void {
    for (const error of errors) {
      this.#vitest?.logger.error(`\n${neutralLines(error.message)}\n`)
      process.exitCode = 1
    }
  }

  /** Writes what was accepted. An update that was promised and is not written makes the run red: its test is green. */
  async #write(
    reason: string,
    unhandled: number,
    askers: readonly Asker[],
  ): Promise<{ readonly written: readonly string[]; readonly lines: SummaryLine[] }> {
    const { refused } = this.#choice
    const lines: SummaryLine[] = []
    if (refused) {
      lines.push(['Update', `--update-recordings=${refused.asked} was not followed: ${refused.because}`])
      lines.push(['', 'to allow it: HARVEST_ALLOW_CI_UPDATE=1'])
    }
    // Merged reports tell of runs elsewhere, over other files than those here.
    const isForgetting = this.#choice.mode === 'all' && this.#scope === 'all' && this.#isFirstRun
    const isNothing = this.#updates.size === 0 && this.#acceptances.length === 0 && !isForgetting
    if (isNothing || this.#scope === 'merge') return { written: [], lines }
    if (reason === 'interrupted' || unhandled > 0) {
      process.exitCode = 1
      const why = unhandled > 0 ? 'the run had errors outside of its tests' : 'the run was interrupted'
      return { written: [], lines: [...lines, ['Update', `nothing was written: ${why}`]] }
    }
    const all = [...this.#updates.values()]
    const red = all.filter(({ test }) => test.result().state !== 'passed').map(({ update }) => update.file)
    const updated = writeUpdates(all.map(({ update }) => update).filter(({ file }) => !red.includes(file)))
    const accepted = await writeAcceptances(this.#acceptances, this.#acceptedFile)
    const asked = new Set(
      askers.flatMap(({ questions: { unproven, accepted: keys } }) => [...unproven, ...keys].map(({ key }) => key)),
    )
    const forgotten = isForgetting ? await forgetAcceptances(asked, this.#acceptedFile) : { written: [], skipped: [] }
    const written = [...new Set([...updated.written, ...accepted.written, ...forgotten.written])]
    const skipped = [...updated.skipped, ...accepted.skipped, ...forgotten.skipped]
    for (const file of written.slice(0, 9)) lines.push(['Updated', this.#shown(file)])
    if (written.length > 9) lines.push(['', `and ${written.length - 9} more`])
    for (const file of red) lines.push(['Not updated', `${this.#shown(file)}: its test failed for another reason`])
    for (const file of skipped) lines.push(['Not updated', `${this.#shown(file)}: it was edited during the run`])
    if (skipped.length > 0) process.exitCode = 1
    return { written, lines }
  }

  #shown(file: string): string {
    return neutralLine(toPosix(path.relative(this.#vitest?.config.root ?? '', file)), 300)
  }
}

function print(lines: readonly SummaryLine[], logger: { log(text: string): void }): void {
  for (const [label, text] of lines) logger.log(`${label.padStart(11)}  ${text}`)
}

/** Everybody who asked a changed question, or has one to report. */
function askersOf(modules: readonly TestModule[]): readonly Asker[] {
  return modules.flatMap((module) =>
    [...module.children.allTests()].flatMap((test) => {
      const { harvest, harvestReplay } = test.meta()
      const name = harvest === undefined || test.parent.type !== 'suite' ? test.fullName : test.parent.name
      const questions = harvest?.questions ?? harvestReplay
      return questions === undefined ? [] : [{ name, questions }]
    }),
  )
}

/** The reporters as they were made; not in Vitest's types. */
function activeReporters(vitest: Vitest): readonly (object | undefined)[] {
  const reporters: unknown = Reflect.get(vitest, 'reporters')
  return Array.isArray(reporters) ? reporters : []
}

function scopeOf(vitest: Vitest): Scope {
  const { config } = vitest
  if (config.mergeReports) return 'merge'
  const lists = [Reflect.get(vitest, 'filenamePattern'), config.project, config.related, config.tagsFilter]
  const switches = [config.changed, config.standalone, Reflect.get(config.cliOptions ?? {}, 'lastFailed')]
  if (lists.some((list) => Array.isArray(list) && list.length > 0) || switches.some(Boolean)) return 'part'
  return config.shard ? 'shard' : 'all'
}

function isAcceptance(artifact: { readonly type: string }): artifact is CaseAcceptance {
  return artifact.type === acceptArtifact
}

function isUpdate(artifact: { readonly type: string }): artifact is CaseUpdate {
  return artifact.type === updateArtifact
}
