// Over 300 lines: one reporter of Vitest, whose hooks share what they collect.
import { existsSync } from 'node:fs'
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
import { caseResults, casesRun, isCaseModule, namesWithin } from './case-results.ts'
import { acceptReportVariable } from '../replay/accept-request.ts'
import { writeAcceptReport } from './accept-report.ts'
import { folderOfCases, isWithin } from './asked-folder.ts'
import {
  acceptArtifact,
  type CaseAcceptance,
  type CaseStart,
  type CaseReportRequest,
  type CaseListed,
  type CaseUpdate,
  type ListedLine,
  listedArtifact,
  redArtifact,
  reportArtifact,
  startArtifact,
  updateArtifact,
} from './channel.ts'
import { lookAtGoldenSet, type Looked, type Scope } from './golden-set.ts'
import { confinedLine, listedLines } from './listed.ts'
import { namedNotRun } from './named-cases.ts'
import type { Narrowing } from './narrowed-update.ts'
import { neutralLines } from './neutral-lines.ts'
import { toPosix } from './posix.ts'
import { goldenSets, isOwn, runsCasesOf } from './project.ts'
import { type CaseResult, failures, type SummaryLine, totals } from './summary.ts'
import { RedReports } from './red-reports.ts'
import { namedCases, pragmaErrors } from './survey.ts'
import { tapeStepsFromHere } from './steps-from-here.ts'
import { tellGithub } from './tell-github.ts'
import { collectWorkers, type LostCase, RunningCases } from './running-cases.ts'
import { unfollowed } from './unfollowed.ts'
import { type UpdateChoice, unattended } from './update-mode.ts'
import { type QuestionOwner, changesOf, isOpen, proofLines, toRemove, unprovenLines } from './question-lines.ts'
import { recordingsFolders } from './workspace.ts'
import { forgetAcceptances, obsoleteAcceptances, writeAcceptances } from './write-acceptances.ts'
import { textHash, writeUpdates } from './write-updates.ts'

// Every reporter for people extends it. Vitest types it as an export of vitest/node, but it is not one.
const HumanReporter = Object.getPrototypeOf(DefaultReporter) as typeof DefaultReporter

/** What became of the updates of a run before it was summed up; absolute paths. */
interface Settled {
  readonly written: readonly string[]
  /** Their tests failed for another reason. */
  readonly red: readonly string[]
  /** Edited by someone else meanwhile. */
  readonly skipped: readonly string[]
  /** Whether the run reached its end, without errors outside of its tests. */
  readonly isOver: boolean
  /** Why nothing of it was written. */
  readonly refusal?: HarvestError
}

const nothingWritten: Settled = { written: [], red: [], skipped: [], isOver: true }

/**
 * The config process at the end of a run: writes updates, looks for what no single case can notice, and sums up.
 *
 * What it sums up travels with each test, so that `--merge-reports` shows it for all shards.
 */
export class HarvestReporter implements Reporter {
  readonly #choice: UpdateChoice
  /** By the file they rewrite. */
  readonly #updates = new Map<string, { readonly update: CaseUpdate; readonly test: TestCase }>()
  readonly #acceptances: { readonly acceptance: CaseAcceptance; readonly test: TestCase }[] = []
  #vitest: Vitest | undefined
  #scope: Scope = 'all'
  /** Recordings folders that were there before the first run. */
  #folders: ReadonlySet<string> = new Set()
  /** Whether arguments leave out tests by their names or tags. */
  #isFiltered = false
  #isFirstRun = true
  readonly #running = new RunningCases()
  readonly #reports = new RedReports()
  /** What agents did when their cases were over, by the id of the test. */
  readonly #late = new Map<string, readonly ListedLine[]>()
  #unwritten: typeof import('./unwritten-updates.ts') | undefined
  #settled: Settled = nothingWritten
  /** Cases that are to run. */
  #queued: readonly string[] = []

  constructor(about: { readonly choice: UpdateChoice }) {
    this.#choice = about.choice
  }

  onInit(vitest: Vitest): void {
    collectWorkers()
    this.#vitest = vitest
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#updates.clear()
    this.#acceptances.length = 0
    this.#settled = nothingWritten
    if (this.#isFirstRun && this.#vitest !== undefined)
      this.#folders = new Set(
        goldenSets(this.#vitest)
          .map(({ recordings }) => recordings)
          .filter((folder) => existsSync(folder)),
      )
    this.#scope = this.#vitest === undefined ? 'all' : scopeOf(this.#vitest)
    this.#isFiltered = this.#vitest !== undefined && isFiltered(this.#vitest)
    const files = specifications.filter(({ project }) => isOwn(project)).map(({ moduleId }) => moduleId)
    this.#queued = files
    this.#reports.begin()
    this.#running.clear()
    this.#late.clear()
    this.#fail(pragmaErrors(files))
  }

  // Not when the run starts: Vitest 4 names the files of all shards there.
  onTestModuleQueued(module: TestModule): void {
    // Merged reports tell of runs elsewhere, which wrote theirs.
    if (this.#scope !== 'merge' && isOwn(module.project)) this.#reports.forget(module)
  }

  async onTestCaseArtifactRecord(test: TestCase, artifact: { readonly type: string }): Promise<void> {
    // Merged reports tell of runs elsewhere.
    if (isReportRequest(artifact) && this.#scope !== 'merge') await this.#reports.add(test, artifact)
    if (isStart(artifact)) this.#running.start(test, artifact)
    // In watch mode all of them are known.
    const isKnown = this.#scope === 'merge' || this.#vitest?.config.watch === true
    // What is accepted may not be written, and then its test is red.
    const isAccepting = isUpdate(artifact) || isAcceptance(artifact)
    if ((artifact.type === redArtifact || isAccepting) && !isKnown) await this.#knowModule(test)
    // Only a run that accepts something looks for what it may write. Loaded by the time it ends, where it cannot wait.
    if (isAccepting) this.#unwritten ??= await import('./unwritten-updates.ts')
    if (isUpdate(artifact)) this.#updates.set(artifact.file, { update: artifact, test })
    if (isAcceptance(artifact)) this.#acceptances.push({ acceptance: artifact, test })
    if (isListed(artifact)) {
      this.#late.set(test.id, [...(this.#late.get(test.id) ?? []), ...artifact.listed])
      this.#addLate(test)
    }
  }

  /** Vitest hears of a test, and of its report, later than of this, and that replaces what is here. */
  #addLate(test: TestCase): void {
    const late = this.#late.get(test.id)
    if (late === undefined) return
    const meta = test.meta()
    const report = meta.harvest
    const together = (listed: readonly ListedLine[] = []): readonly ListedLine[] => [
      ...listed,
      ...late.filter((one) => !listed.includes(one)),
    ]
    if (report !== undefined) meta.harvest = { ...report, listed: together(report.listed) }
    else if (!isOwn(test.project)) meta.harvestListed = together(meta.harvestListed)
  }

  /** Vitest shows lines of modules it knows, and no others. Of one that is known already nothing is done. */
  async #knowModule({ project, module }: TestCase): Promise<void> {
    try {
      await project.vite.environments.ssr.transformRequest(module.moduleId)
    } catch (error) {
      const why = neutralLine(error instanceof Error ? error.message : String(error), 300)
      this.#vitest?.logger.error(`\n${this.#shown(module.moduleId)}: its lines cannot be shown: ${why}\n`)
    }
  }

  onTestCaseResult(test: TestCase): void {
    this.#running.end(test)
    this.#addLate(test)
    if (this.#isFiltered && isOwn(test.project) && test.result().state === 'skipped') test.meta().harvestFiltered = true
    const report = test.meta().harvest
    if (this.#scope === 'part' && report !== undefined) test.meta().harvest = { ...report, isPart: true }
  }

  async onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[], reason: string): Promise<void> {
    const vitest = this.#vitest
    if (vitest === undefined) return
    const askers = askersOf(modules)
    const { written, lines } = await this.#write(askers)
    const lost = reason === 'interrupted' ? [] : this.#running.lost()
    const updated = this.#scope === 'merge' ? undefined : new Set(written)
    const results = caseResults(modules, updated, lost)
    const shown = (file: string) => this.#shown(file)
    // A re-run has what changed; a run that was stopped had not come to all of it.
    const isWhole = this.#isFirstRun && reason !== 'interrupted'
    const { errors, warnings } = isWhole ? await this.#look(modules, results) : { errors: [], warnings: [] }
    const sums = [
      ...totals(results),
      ...confinedLine(results),
      ...listedLines([...results.map(({ report }) => report.listed), ...listedByHand(modules)]),
    ]
    const proofs = proofLines(askers)
    const reporters = activeReporters(vitest)
    const isForPeople = reporters.some((one) => one instanceof HumanReporter)
    if (isForPeople)
      print(
        [
          ...sums,
          ...proofs,
          ...(isWhole && this.#scope === 'all' ? await this.#obsolete(askers, results) : []),
          ...this.#notRun(modules, lost),
          ...lines,
          ...warnings,
          ...this.#reads(modules),
          ...failures(results, shown),
          ...this.#reports.lines(),
          ...unprovenLines(askers),
        ],
        vitest.logger,
      )
    const { refusal } = this.#settled
    // Reporters for people print it with the tests that it made red.
    const refused = refusal === undefined || isForPeople ? [] : [refusal]
    this.#fail([...lost.map(({ error }) => error), ...refused, ...errors])
    const acceptReport = process.env[acceptReportVariable] ?? ''
    // Without a report its command says what this run printed.
    if (acceptReport !== '' && refusal?.code !== 'HARVEST_UPDATE_PARTIAL') {
      const different = results.filter(({ state, report }) => state === 'failed' && report.verdict !== 'unproven')
      const { refused } = this.#choice
      const nobody = unattended(process.env)
      writeAcceptReport(acceptReport, askers, {
        ran: casesRun(modules),
        different: different.map(({ name }) => name),
        written: written.map(shown),
        ...(refused !== undefined && { refused: refused.because }),
        ...(nobody !== undefined && { unattended: nobody }),
      })
    }
    // Vitest does not export its blob reporter. A blob is merged later, and reported then.
    if (!reporters.some((one) => one?.constructor.name === 'BlobReporter')) {
      const hasErrors = reporters.some((one) => one instanceof GithubActionsReporter)
      const told = {
        totals: [...sums, ...proofs, ...unprovenLines(askers)],
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

  /** Looks at every golden set of the workspace. */
  async #look(modules: readonly TestModule[], results: readonly CaseResult[]): Promise<Looked> {
    const all: Looked[] = []
    const isNamed = this.#vitest !== undefined && namesOf(this.#vitest).length > 0
    const sets = this.#vitest === undefined ? [] : goldenSets(this.#vitest)
    for (const set of sets) {
      const { root, recordings, project } = set
      const others = sets.filter((one) => one !== set).map((one) => one.recordings)
      const { configFile = this.#vitest?.vite.config.configFile } = project.vite.config
      const own = modules.filter((module) => runsCasesOf(module.project, set))
      const shown = (file: string) => this.#shown(file)
      const wasThere = this.#folders.has(recordings)
      const where = { root, recordings, wasThere, configFile, others }
      const run = { scope: this.#scope, modules: own, queued: this.#queued, results, shown, isNamed, ...where }
      const { errors, warnings } = await lookAtGoldenSet(run)
      all.push({ errors: errors.map((error) => tapeStepsFromHere(error, recordings)), warnings })
    }
    const left = this.#vitest === undefined ? [] : this.#namedNotRun(this.#vitest, modules)
    if (left.length > 0) all.push({ errors: [namedCases(left.map((file) => this.#shown(file)))], warnings: [] })
    return { errors: all.flatMap(({ errors }) => errors), warnings: all.flatMap(({ warnings }) => warnings) }
  }

  /** What else chose files of this run may have left out what was named. */
  #namedNotRun(vitest: Vitest, modules: readonly TestModule[]): readonly string[] {
    const names = namesOf(vitest)
    if (names.length === 0 || vitest.config.shard !== undefined || isChosenOtherwise(vitest)) return []
    const folders = recordingsFolders(vitest)
    return namedNotRun({ names, root: vitest.config.root, folders, modules, queued: this.#queued })
  }

  /** Reporters for machines own stdout; what makes the run fail is said on stderr in any case. */
  #fail(errors: readonly HarvestError[]): void {
    for (const error of errors) {
      this.#vitest?.logger.error(`\n${neutralLines(error.message)}\n`)
      process.exitCode = 1
    }
  }

  /** Changes that were accepted for all cases, and that are not asked any more. */
  async #obsolete(askers: readonly QuestionOwner[], results: readonly CaseResult[]): Promise<readonly SummaryLine[]> {
    const sets = this.#vitest === undefined ? [] : goldenSets(this.#vitest)
    const files = [...new Set(sets.map(({ recordings }) => path.join(recordings, acceptedFileName)))]
    const left = await obsoleteAcceptances(askedKeys(askers), files.filter(existsSync))
    if (left.length === 0) return []
    const isRed = results.some(({ state }) => state === 'failed') || askers.some(isOpen)
    return [['Obsolete', `accepted for all cases and no longer asked: ${left.join(', ')}: ${toRemove([], isRed)}`]]
  }

  /** Merged reports tell of runs over other files than those here. */
  #reads(modules: readonly TestModule[]): readonly SummaryLine[] {
    if (this.#vitest === undefined || this.#scope === 'merge') return []
    return goldenSets(this.#vitest).flatMap((set) => {
      const own = modules.filter(({ project }) => runsCasesOf(project, set))
      return unfollowed(set, caseResults(own, undefined))
    })
  }

  /** Cases that were to run in a worker that ended before. */
  #notRun(modules: readonly TestModule[], lost: readonly LostCase[]): readonly SummaryLine[] {
    if (lost.length === 0) return []
    const done = new Set(modules.filter((module) => ['passed', 'failed', 'skipped'].includes(module.state())))
    const ran = new Set([...done, ...lost.map(({ test }) => test.module)].map(({ moduleId }) => moduleId))
    const left = this.#queued.filter((file) => !ran.has(file)).map((file) => this.#shown(file))
    if (left.length === 0) return []
    const more = left.length > 9 ? [['', `and ${left.length - 9} more`] as const] : []
    const named = left.slice(0, 9).map((file, at): SummaryLine => [at === 0 ? 'Not run' : '', file])
    return [...named, ...more, ['', 'they were to run in a worker that ended before']]
  }

  /** Tests whose new behaviour or changed questions this run would write down. */
  #accepting(): readonly TestCase[] {
    const updates = [...this.#updates.values()].filter(
      ({ update, test }) => textHash(update.text) !== update.before && test.result().state === 'passed',
    )
    return [...updates, ...this.#acceptances].map(({ test }) => test)
  }

  /**
   * Writes the updates of cases when a run is over, or makes their tests red: the first reporters call it, so that all others see
   * the same. It does not wait, for they would not wait for it.
   */
  settle(modules: readonly TestModule[], unhandled: readonly unknown[], reason: string): void {
    const accepting = this.#accepting()
    // Merged reports tell of runs elsewhere, over other files than those here.
    if (this.#vitest === undefined || this.#scope === 'merge') return
    const refusal = accepting.length === 0 ? undefined : this.#refusal(modules, accepting, unhandled.length, reason)
    const all = refusal === undefined ? [...this.#updates.values()] : []
    const green = all.filter(({ test }) => test.result().state === 'passed')
    const red = all.filter((one) => !green.includes(one)).map(({ update }) => update.file)
    const { written, skipped } = writeUpdates(green.map(({ update }) => update))
    this.#settled = {
      written,
      red,
      skipped,
      isOver: reason !== 'interrupted' && unhandled.length === 0,
      ...(refusal && { refusal }),
    }
    const edited = green.filter(({ update }) => skipped.includes(update.file)).map(({ test }) => test)
    const notWritten = (tests: readonly TestCase[], error: HarvestError | undefined): void => {
      if (error === undefined || tests.length === 0) return
      process.exitCode = 1
      const updates = [...new Set(tests)].map((test) => ({ test, error, keys: this.#keysOf(test) }))
      if (this.#vitest !== undefined) this.#unwritten?.failUnwritten(this.#vitest, updates)
    }
    notWritten(accepting, refusal)
    notWritten(edited, this.#stopped('its case was edited during the run', edited))
  }

  /** Changes of questions that a test accepted. */
  #keysOf(test: TestCase): ReadonlySet<string> {
    const own = this.#acceptances.filter((one) => one.test.id === test.id)
    return new Set(own.flatMap(({ acceptance }) => acceptance.entries.map(({ key }) => key)))
  }

  #stopped(because: string, tests: readonly TestCase[]): HarvestError | undefined {
    const files = tests.map(({ module }) => module.moduleId)
    return this.#unwritten?.notWritten(because, files, this.#choice, this.#again())
  }

  /** Arguments that the same run needs again. */
  #again(): readonly string[] {
    const vitest = this.#vitest
    return ['root', 'config'].flatMap((name) => {
      const value = vitest && argument(vitest, name)
      return typeof value === 'string' ? [`--${name}`, value] : []
    })
  }

  /** Why nothing of what this run accepts is written. */
  #refusal(
    modules: readonly TestModule[],
    tests: readonly TestCase[],
    unhandled: number,
    reason: string,
  ): HarvestError | undefined {
    const vitest = this.#vitest
    if (vitest === undefined) return undefined
    const accepting = tests.map(({ module }) => module)
    const kinds = [true, false].map((isOfCases) => {
      const files = (of: readonly TestModule[]) =>
        of.filter((module) => isCaseModule(module) === isOfCases).map(({ moduleId }) => moduleId)
      return { ran: files(modules), accepting: files(accepting) }
    })
    const narrowing = { ...narrowingOf(vitest), again: this.#again() }
    const partial = this.#unwritten?.narrowedUpdate(this.#choice, kinds, narrowing)
    if (partial !== undefined) return partial
    if (unhandled > 0) return this.#stopped('the run had errors outside of its tests', tests)
    return reason === 'interrupted' ? this.#stopped('the run was interrupted', tests) : undefined
  }

  /** Writes what is left of what was accepted, and says what became of all of it. */
  async #write(
    askers: readonly QuestionOwner[],
  ): Promise<{ readonly written: readonly string[]; readonly lines: SummaryLine[] }> {
    const { refused, mode } = this.#choice
    const lines: SummaryLine[] = []
    // `-u`, `--update=all`, or the key `u` in watch mode.
    const isSnapshots = this.#vitest?.snapshot.options.updateSnapshot === 'all' && this.#queued.length > 0
    if (isSnapshots && mode !== 'all' && !refused) {
      lines.push(['Update', 'snapshots only: -u and --update leave recordings as they are'])
      lines.push(['', 'to update them: npx vitest-harvest test --update-recordings --reason "…"'])
    }
    if (refused) {
      lines.push(['Update', `--update-recordings=${refused.asked} was not followed: ${refused.because}`])
      lines.push(['', 'to allow it: HARVEST_ALLOW_CI_UPDATE=1'])
    }
    const settled = this.#settled
    const isForgetting = this.#choice.mode === 'all' && this.#scope === 'all' && this.#isFirstRun && settled.isOver
    if (settled.refusal !== undefined || this.#scope === 'merge') return { written: [], lines }
    const accepted = await writeAcceptances(this.#acceptances.map(({ acceptance }) => acceptance))
    const asked = askedKeys(askers)
    const sets = isForgetting && this.#vitest !== undefined ? goldenSets(this.#vitest) : []
    const files = [...new Set(sets.map(({ recordings }) => path.join(recordings, acceptedFileName)))]
    const forgotten = await Promise.all(files.map((file) => forgetAcceptances(asked, file)))
    const written = [...new Set([...settled.written, ...accepted.written, ...forgotten.flatMap((one) => one.written)])]
    const skipped = [...settled.skipped, ...accepted.skipped, ...forgotten.flatMap((one) => one.skipped)]
    for (const file of written.slice(0, 9)) lines.push(['Updated', this.#shown(file)])
    if (written.length > 9) lines.push(['', `and ${written.length - 9} more`])
    for (const file of settled.red)
      lines.push(['Not updated', `${this.#shown(file)}: its test failed for another reason`])
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

/** Keys of all changes that a run met. */
function askedKeys(askers: readonly QuestionOwner[]): ReadonlySet<string> {
  const asked = askers.flatMap(({ questions: { unproven, accepted, proven } }) => [...unproven, ...accepted, ...proven])
  return new Set(asked.map(({ key }) => key))
}

/** Everybody who asked a changed question, or has one to report. */
function askersOf(modules: readonly TestModule[]): readonly QuestionOwner[] {
  const nameOf = namesWithin(modules)
  return modules.flatMap((module) =>
    [...module.children.allTests()].flatMap((test) => {
      const { harvest, harvestReplay } = test.meta()
      const name = nameOf(test)
      const questions = harvest?.questions ?? harvestReplay
      const isDifferent = (harvest ?? harvestReplay)?.verdict === 'different'
      return questions === undefined ? [] : [{ name, questions, isDifferent }]
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
  // In the config, tags hold for every run.
  const lists = [namesOf(vitest), config.project, argument(vitest, 'tagsFilter')]
  const folder = folderOfCases()
  if (folder !== undefined && goldenSets(vitest).some(({ recordings }) => !isWithin(recordings, folder))) return 'part'
  if (isChosenOtherwise(vitest) || lists.some((list) => [list ?? []].flat().length > 0)) return 'part'
  return config.shard ? 'shard' : 'all'
}

/** How this run was narrowed. */
function narrowingOf(vitest: Vitest): Omit<Narrowing, 'again'> {
  const { config } = vitest
  const list = (value: unknown): readonly string[] => [value ?? []].flat().map(String)
  const pattern = vitest.getGlobalTestNamePattern()
  const { shard } = config
  const dir = argument(vitest, 'dir')
  const isChosen = (name: string): boolean => Boolean(argument(vitest, name))
  return {
    names: namesOf(vitest),
    root: config.root,
    ...(typeof dir === 'string' && { dir }),
    chosenBy: [
      ...(pattern === undefined ? [] : [`-t ${pattern.source}`]),
      ...(shard === undefined ? [] : [`--shard=${shard.index}/${shard.count}`]),
      ...(config.changed ? [typeof config.changed === 'string' ? `--changed=${config.changed}` : '--changed'] : []),
      // What `--changed` makes of it.
      ...(config.changed
        ? []
        : list(config.related)
            .slice(0, 1)
            .map(() => 'related')),
      ...(isChosen('lastFailed') ? ['--last-failed'] : []),
      ...list(argument(vitest, 'tagsFilter')).map((tags) => `--tags-filter=${tags}`),
      ...list(argument(vitest, 'cliExclude')).map((glob) => `--exclude=${glob}`),
      // One project by its name is named as a folder is.
      ...list(config.project)
        .filter((name) => /[*!]/.test(name))
        .map((name) => `--project=${name}`),
    ],
  }
}

/** Whether files are chosen by something other than their names, projects and tags. */
function isChosenOtherwise(vitest: Vitest): boolean {
  const { config } = vitest
  const switches = [config.changed, config.standalone, argument(vitest, 'lastFailed')]
  // Types only, or benchmarks only.
  const others = [
    config.typecheck?.only,
    Reflect.get(config, 'mode') === 'benchmark',
    argument(vitest, 'benchmarkOnly'),
  ]
  return [...switches, ...others].some(Boolean) || [config.related ?? []].flat().length > 0
}

/** Whether arguments of this run skip tests. What the config says holds for every run, and leaves cases out for ever. */
function isFiltered(vitest: Vitest): boolean {
  const names = [argument(vitest, 'testNamePattern'), argument(vitest, 'tagsFilter')]
  return names.some((one) => one !== undefined) || namesOf(vitest).some((name) => /:\d+$/.test(name))
}

/** The files that were asked for, by parts of their paths; not in Vitest's types. */
function namesOf(vitest: Vitest): readonly string[] {
  const names: unknown = Reflect.get(vitest, 'filenamePattern')
  return Array.isArray(names) ? names.map(String) : []
}

/** What stands on the command line, apart from the config. Vitest 4 keeps it elsewhere. */
function argument(vitest: Vitest, name: string): unknown {
  const options: unknown = Reflect.get(vitest.config, 'cliOptions') ?? Reflect.get(vitest, '_cliOptions')
  return typeof options === 'object' && options !== null ? Reflect.get(options, name) : undefined
}

function isAcceptance(artifact: { readonly type: string }): artifact is CaseAcceptance {
  return artifact.type === acceptArtifact
}

function isReportRequest(artifact: { readonly type: string }): artifact is CaseReportRequest {
  return artifact.type === reportArtifact
}

function isStart(artifact: { readonly type: string }): artifact is CaseStart {
  return artifact.type === startArtifact
}

function isListed(artifact: { readonly type: string }): artifact is CaseListed {
  return artifact.type === listedArtifact
}

function isUpdate(artifact: { readonly type: string }): artifact is CaseUpdate {
  return artifact.type === updateArtifact
}

/** What agents did around the seam in hand-written tests. */
function listedByHand(modules: readonly TestModule[]): readonly (readonly ListedLine[] | undefined)[] {
  return modules.flatMap((module) => [...module.children.allTests()].map((test) => test.meta().harvestListed))
}
