// Over 300 lines: two questions about one run, which step decided and which layer, share what is asked and said before.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { typedExpectations } from '../../blame/expectation.ts'
import { isOfSameQuestion } from '../../blame/other-tape.ts'
import type { KnownRun } from '../../blame/types.ts'
import { type Names, requireKnownNames } from '../../blame/known-names.ts'
import { changedPaths, formerFiles, keptForks } from '../../blame/fork-cache.ts'
import type { GoodRun } from '../../blame/known-good.ts'
import type { OffTapeRisk } from '../../blame/off-tape.ts'
import type { BlamedRun, BlameEstimate } from '../../blame/run-blame.ts'
import type { BlameRequest } from '../../blame/task.ts'
import { usualParallel } from '../../blame/usual-parallel.ts'
import { HarvestError, neutralLine } from '../../errors/index.ts'
import { counted } from '../../errors/words.ts'
import type { UncomparedHeaders } from '../../fork/index.ts'
import { acceptedPins, codeFiles, codeState, digestOfCode, pinsOf, topFolder } from '../../provenance/index.ts'
import { type Json, readTape, type Tape } from '../../tape/index.ts'
import { requireClosed } from '../../tape/closed.ts'
import { requireReplayable } from '../../tape/grade.ts'
import { cutsOf, partialText } from '../../tape/partial.ts'
import { forksFolder, keepAnswer, readPrices } from '../../recordings/index.ts'
import { askYesNo, canAsk } from '../ask.ts'
import { printBlame } from '../blame/print.ts'
import { stepsToModels } from '../blame/to-models.ts'
import { Foretold, foreseenLayers, foreseenOffTape, requireGoodAnswers } from '../blame/foreseen.ts'
import { printEstimate } from '../blame/estimate.ts'
import { printIsolated, printIsolationEstimate, stepsAfterIsolate } from '../blame/isolated.ts'
import type { IsolatedRun, IsolationEstimate } from '../../isolate/index.ts'
import type { Judging } from '../../blame/oracle.ts'
import { chooseJudging } from '../../blame/choose-oracle.ts'
import { blameSpec } from '../spec/explain.ts'
import type { Command, CommandInput } from '../command.ts'
import { exit } from '../exit.ts'
import { notComparedText } from '../forking/anew.ts'
import { findRun, type FoundRun } from '../find.ts'
import { alikeCodes } from '../other-code.ts'
import { printSteps, stepAfterEstimate, stepAfterLimit, stepsAfterBlame } from '../next-steps.ts'
import { runTask } from '../../jobs/run.ts'
import { printAnswer } from '../next-lines.ts'
import { readDuration, readNumber, readWhole, refuseOtherCode, runTimeMs, toConfirm } from '../live.ts'
import { knownRuns } from '../known-runs.ts'
import { readOracle } from '../live-grading.ts'
import { badValue } from '../parse.ts'
import { typedAgain } from '../typed-again.ts'
import type { Screen } from '../../report/output.ts'

/** Says which step of a bad run decided how it ended, how sure that is, and what it cost to find out. */
export const blameCommand: Command = {
  ...blameSpec,
  run: (given, screen) => (given.has('isolate') ? isolate(given, screen) : blame(given, screen)),
}

async function blame(given: CommandInput, screen: Screen): Promise<number> {
  const { found, tape, recordings, request, before, foretold } = await prepare(given, screen)
  if (request.isDryRun !== true) await requireConsent(given, request, screen)
  const known = new Known(request.cacheFile ?? '')
  if (request.oracle !== undefined) screen.progress(`grading by ${neutralLine(request.oracle.name, 60)}`)
  const answer = await runIn({ found, recordings, given }, { name: 'blame', request }, (progress) => {
    const told = progress as unknown as Told | ForeseenRisk | Unmet | SetAside | Regraded | Uncompared | Rechecked
    if ('foreseen' in told) foretold.tell(before.offTape(told))
    else if ('unmet' in told) foretold.tell(told.unmet.map(unmetText))
    else if ('setAside' in told) foretold.tell(setAsideTexts(told))
    else if ('regraded' in told) foretold.tell(regradedTexts(told))
    else if ('notCompared' in told) foretold.tell(uncomparedTexts(told))
    else if ('rechecked' in told) screen.progress(recheckedText(told))
    else screen.progress(progressLine(known.told(told)))
  }).catch((error: unknown) => {
    if (HarvestError.is(error, 'HARVEST_CLI_INTERRUPTED')) screen.note(known.text)
    throw error
  })
  if (request.isDryRun === true)
    return estimated(answer as unknown as BlameEstimate, printEstimate, { given, screen, foretold })
  const at = new Date().toISOString()
  keepAnswer(recordings, tape, 'blame', { at, key: 'blame', answer })
  return blamed(answer as unknown as BlamedRun, { found, tape }, { given, screen, foretold })
}

/** Says which layer triggers a failure, with the command that looks into it. */
export async function isolate(given: CommandInput, screen: Screen): Promise<number> {
  const { found, tape, recordings, request, before, foretold } = await prepare(given, screen)
  foretold.tell(foreseenLayers(tape, request.tools ?? 'tape'))
  if (request.isDryRun !== true) await requireConsent(given, request, screen)
  const known = new Known(request.cacheFile ?? '')
  const answer = await runIn({ found, recordings, given }, { name: 'isolate', request }, (progress) => {
    const told = progress as unknown as
      | { readonly phase: string }
      | ForeseenRisk
      | Unmet
      | SetAside
      | Regraded
      | Uncompared
      | Rechecked
    if ('foreseen' in told) foretold.tell(before.offTape(told))
    else if ('unmet' in told) foretold.tell(told.unmet.map(unmetText))
    else if ('setAside' in told) foretold.tell(setAsideTexts(told))
    else if ('regraded' in told) foretold.tell(regradedTexts(told))
    else if ('notCompared' in told) foretold.tell(uncomparedTexts(told))
    else if ('rechecked' in told) screen.progress(recheckedText(told))
    else screen.progress(told.phase)
  }).catch((error: unknown) => {
    if (HarvestError.is(error, 'HARVEST_CLI_INTERRUPTED')) screen.note(known.text)
    throw error
  })
  if (request.isDryRun === true)
    return estimated(answer as unknown as IsolationEstimate, printIsolationEstimate, { given, screen, foretold })
  const isolated = answer as unknown as IsolatedRun
  say(isolated, { given, screen, foretold }, (shown) => {
    printIsolated(isolated, shown)
    printSteps(stepsAfterIsolate(isolated, { found, tape }, given), (text) => shown.line(text))
  })
  return isolated.verdict.kind === 'found' ? exit.ok : exit.divergence
}

interface Prepared {
  readonly found: FoundRun
  readonly tape: Tape
  readonly recordings: string
  readonly request: BlameRequest
  /** What can be said before anything is spent. */
  readonly before: Foreseen
  readonly foretold: Foretold
}

interface Asked {
  readonly given: CommandInput
  readonly screen: Screen
  readonly foretold: Foretold
}

/** Finds the run and reads what is asked of it. */
async function prepare(given: CommandInput, screen: Screen): Promise<Prepared> {
  const recordings = given.value('dir') ?? 'recordings'
  const found = findRun(given.args[0] ?? '', recordings)
  const tape = requireReplayable(readTape(found.file))
  const cuts = cutsOf(tape)
  if (cuts.length > 0) screen.note(`${partialText(cuts)}; a run that needs what was cut fails there`)
  const request = await requestOf(given, found, tape, recordings)
  const known = knownRuns(request, recordings, tape)
  const before = await foreseen(request, { tape, found, known })
  const foretold = new Foretold(given.has('json') ? undefined : screen)
  foretold.tell(before.warnings)
  return { found, tape, recordings, request: { ...request, known }, before, foretold }
}

/** Why what grades may grade no run good. */
interface Unmet {
  readonly unmet: readonly string[]
}

function unmetText(text: string): string {
  return `${text}; without a good fork nothing is claimed`
}

interface SetAside {
  readonly setAside: number
  readonly unchecked: number
  readonly keyless: number
  readonly ofOtherModels: number
}

/** Forks of earlier sessions that do not count, and why. */
function setAsideTexts({ setAside, unchecked, keyless, ofOtherModels }: SetAside): readonly string[] {
  const texts = [
    [setAside, 'ran other code or read other data'],
    [unchecked, 'cannot be replayed (an earlier version, or a time limit)'],
    [keyless, 'cannot be compared, for the key of their header digests is gone'],
    [ofOtherModels, 'were answered by other models'],
  ] as const
  return texts.flatMap(([forks, why]) =>
    forks === 0
      ? []
      : [`${counted(forks, 'fork')} of earlier sessions ${why}, and ${forks === 1 ? 'does' : 'do'} not count.`],
  )
}

interface Regraded {
  readonly regraded: number
  readonly gradedThen: number
}

/** Forks of earlier sessions whose grades may not be those of today. */
function regradedTexts({ regraded, gradedThen }: Regraded): readonly string[] {
  const of = (forks: number): string => `${counted(forks, 'fork')} of earlier sessions`
  return [
    ...(regraded === 0
      ? []
      : [
          `${of(regraded)} ${regraded === 1 ? 'has' : 'have'} another grade today: the oracle's answer of today counts.`,
        ]),
    ...(gradedThen === 0
      ? []
      : [
          `${of(gradedThen)} ${gradedThen === 1 ? 'keeps the grade it' : 'keep the grades they'} got: the oracle asks a service, and is not asked again.`,
          `→ if what it reads is not as it was: ${typedAgain({ 'no-cache': true })}`,
        ]),
  ]
}

interface Uncompared {
  readonly notCompared: UncomparedHeaders
}

/** Another key, or a header that routes, may lead to other answers: only runs of today can tell. */
function uncomparedTexts({ notCompared }: Uncompared): readonly string[] {
  return [notComparedText(notCompared), `→ if one of them leads to other answers: ${typedAgain({ 'no-cache': true })}`]
}

interface Rechecked {
  readonly rechecked: number
  readonly of: number
}

function recheckedText({ rechecked, of }: Rechecked): string {
  return `${rechecked} of ${counted(of, 'fork')} of earlier sessions replayed, to see whether they still count`
}

function runIn(
  { found, recordings, given }: Pick<Prepared, 'found' | 'recordings'> & { readonly given: CommandInput },
  { name, request }: { readonly name: 'blame' | 'isolate'; readonly request: BlameRequest },
  onReport: (progress: Json) => void,
): Promise<Json> {
  return runTask(
    {
      tape: found.file,
      agent: request.agent,
      timeoutMs: readDuration(given, blameCommand, 'timeout') ?? runTimeMs,
      ...(found.case === undefined ? {} : { case: caseOf(found.case.file) }),
      task: { name, options: JSON.parse(JSON.stringify(request)) as Json },
    },
    {
      parallel: readWhole(given, blameCommand, 'parallel') ?? usualParallel,
      prices: readPrices(recordings) ?? {},
      onReport,
    },
  )
}

function estimated<T extends BlameEstimate | IsolationEstimate>(
  answer: T,
  print: (answer: T, screen: Screen) => void,
  asked: Asked,
): number {
  say(answer, asked, (shown) => {
    print(answer, shown)
    printSteps([stepAfterEstimate(answer, asked.given)], (text) => shown.line(text))
  })
  return exit.ok
}

function say(answer: object, { given, screen, foretold }: Asked, print: (shown: Screen) => void): void {
  printAnswer(answer, print, { given, spec: blameCommand, screen, said: foretold.lines })
}

/** A verdict is an answer no matter what it says; without one the question is still open. */
function blamed(answer: BlamedRun, { found, tape }: Pick<Prepared, 'found' | 'tape'>, asked: Asked): number {
  const { given } = asked
  const { verdict, mutations, repairs } = answer
  const { kind } = verdict ?? mutations?.verdict ?? { kind: 'unresolved' }
  const isOpen = [kind, repairs?.outcome].includes('unresolved')
  const isMet = kind !== 'never' || answer.neverSeen === undefined
  const isAnswered = isMet && !['diffuse', 'unresolved', 'undecidable', 'unsure'].includes(kind)
  say(answer, asked, (shown) => {
    printBlame(answer, shown)
    const needed = verdict?.kind === 'unresolved' ? verdict.forksNeeded : undefined
    const because = answer.unclear.map((one) => one.because)
    const steps = [
      ...stepsToModels(because, tape),
      ...(isOpen ? stepAfterLimit(answer, given, needed) : []),
      ...(isAnswered ? stepsAfterBlame(found, { recorded: answer.recorded, close: tape.close }, given) : []),
    ]
    printSteps(steps, (text) => shown.line(text))
  })
  return isAnswered ? exit.ok : exit.divergence
}

function caseOf(file: string): { readonly file: string; readonly text: string } {
  return { file: resolve(file), text: readFileSync(file, 'utf8') }
}

/** A number between two bounds that are no values of it. */
function readShare(given: CommandInput, name: 'confidence' | 'min-effect', above: number): number | undefined {
  const value = readNumber(given, blameCommand, name, above, 1)
  if (value === undefined || (value > above && value < 1)) return value
  throw badValue(blameCommand, name, given.value(name) ?? '', `a number above ${above} and below 1`)
}

async function requestOf(given: CommandInput, found: FoundRun, tape: Tape, recordings: string): Promise<BlameRequest> {
  // What was typed wrong is reported first, before anything is run or refused for it.
  const [ok, bad, oracle] = [given.values('ok'), given.values('bad'), readOracle(given, found.case, blameCommand)]
  if (oracle === undefined) judgingOf({ ok, bad }, tape, found)
  const reference = given.value('reference')
  const confidence = readShare(given, 'confidence', 0.5)
  const delta = confidence === undefined ? undefined : Number((1 - confidence).toFixed(12))
  const tau = readShare(given, 'min-effect', 0)
  const typed = {
    ...limitsOf(given),
    ...(oracle === undefined ? {} : { oracle }),
    tools: toolsOf(given),
    ...(reference === undefined ? {} : { reference: findRun(reference, recordings).file }),
    ...(delta === undefined ? {} : { delta }),
    ...(tau === undefined ? {} : { tau }),
  }
  const pins = found.case?.pins ?? pinsOf(tape)
  const agent = given.value('agent') ?? found.case?.agent ?? tape.header.agent
  await refuseOtherCode(pins, given, { tape: resolve(found.file), agent, caseId: found.case?.id })
  const { commit } = (await codeState(process.cwd(), acceptedPins(pins).commit)) ?? {}
  const files = await codeFiles(process.cwd())
  const cacheFile = resolve(join(forksFolder(recordings, found.file), 'blame.jsonl'))
  const code = files === undefined ? undefined : digestOfCode(files)
  const former = code === undefined || given.has('no-cache') ? [] : formerFiles(cacheFile, code)
  const changed = new Map(former.map((one) => [one.code, changedPaths(one.files, files ?? {})]))
  const subject = { tape: resolve(found.file), agent, isTyped: given.value('agent') !== undefined }
  const top = former.length === 0 ? undefined : await topFolder(process.cwd())
  // What a function that grades depends on may have changed: it grades the forks again.
  const alike = top === undefined ? undefined : await alikeCodes(changed, subject, top)
  return {
    agent,
    ok,
    bad,
    ...typed,
    cacheFile,
    isAnyName: given.has('any-name'),
    isFlakyOracle: given.has('flaky-oracle'),
    isFresh: given.has('no-cache'),
    isCrossVersion: given.has('cross-version'),
    isDryRun: given.has('dry-run'),
    repairs: given.has('repairs'),
    mutate: given.has('mutate'),
    ran: {
      ...(commit === undefined ? {} : { commit }),
      ...(files === undefined || code === undefined ? {} : { code, files }),
      ...(alike === undefined ? {} : { alike: Object.fromEntries(alike) }),
    },
  }
}

/** US dollars, unless another amount is named. */
const defaultUsd = 5

function limitsOf(given: CommandInput): Pick<BlameRequest, 'limits' | 'costUsdIfPriced'> {
  const forks = readWhole(given, blameCommand, 'max-runs')
  const dollars = readNumber(given, blameCommand, 'max-cost', 0)
  const timeMs = readDuration(given, blameCommand, 'max-time')
  const timed = timeMs === undefined ? {} : { timeMs }
  // Without a price dollars cannot be counted: the number of forks is the limit then, if the user named one.
  if (dollars === undefined && forks !== undefined) return { limits: { forks, ...timed }, costUsdIfPriced: defaultUsd }
  return {
    limits: { ...(forks === undefined ? {} : { forks }), costUsd: dollars ?? defaultUsd, ...timed },
  }
}

function toolsOf(given: CommandInput): 'tape' | 'live' {
  const word = given.value('tools') ?? 'tape'
  if (word === 'tape' || word === 'live') return word
  throw badValue(blameCommand, 'tools', word, 'tape or live')
}

/** Blame calls live models, which costs money: `--live` is consent, and so is a yes at a terminal. */
async function requireConsent(given: CommandInput, request: BlameRequest, screen: Screen): Promise<void> {
  if (given.has('live')) return
  if (canAsk()) {
    screen.note(`Blame asks the models for real, ${mostText(request)}.`)
    if (request.tools === 'live') screen.note('Tools and services run for real in every run, with all they do.')
    if (await askYesNo('Go on?')) return
  }
  throw new HarvestError('HARVEST_LIVE_CONSENT', {
    what: 'Blame calls live models, which costs money: confirm with --live',
    fix: [...toConfirm(given, defaultUsd), 'to estimate the cost, for free: --dry-run'],
  })
}

/** What a session may use in all. */
function mostText({ limits = {}, costUsdIfPriced }: BlameRequest): string {
  const { forks, costUsd } = limits
  const most = [
    ...(forks === undefined ? [] : [counted(forks, 'fork')]),
    ...(costUsd === undefined ? [] : [`$${costUsd.toFixed(2)}`]),
    ...(costUsdIfPriced === undefined ? [] : [`$${costUsdIfPriced.toFixed(2)} where the price is known`]),
  ]
  return `for at most ${most.join(' and ')}`
}

/** How far the task is, as it says it. */
interface Told {
  readonly phase: string
  readonly forks: number
  readonly reused: number
  readonly costUsd?: number
  readonly steps?: string
}

/** What a session that is ended by someone knows by then. Forks end between two reports, too: the ledger has them all. */
class Known {
  readonly #file: string
  readonly #before: number
  #last: Told | undefined
  #steps: string | undefined

  constructor(file: string) {
    this.#file = file
    this.#before = keptForks(file).length
  }

  told(progress: Told): Told {
    this.#last = progress
    this.#steps = progress.steps ?? this.#steps
    return progress
  }

  get text(): string {
    const kept = keptForks(this.#file).slice(this.#before)
    const { forks: all = 0, reused = 0 } = this.#last ?? {}
    const forks = Math.max(all - reused, kept.length)
    if (forks === 0) return 'No run had ended yet, and nothing is known.'
    const where =
      this.#steps === undefined ? '' : `; if one step decided: ${neutralLine(this.#steps, 60)} (90 % credible range)`
    // What they cost stands in the error, with that of the calls of runs that did not end.
    return `Until then: ${counted(forks, 'fork')} in this session${where}. Nothing is certified.`
  }
}

interface ForeseenRisk {
  readonly foreseen: OffTapeRisk
  /** A run that is good, and whose answers may help. */
  readonly good?: GoodRun
}

interface Foreseen {
  readonly warnings: readonly string[]
  /** The result of free replays of other decisions, and what to do about it. */
  offTape(risk: ForeseenRisk): readonly string[]
}

/** What can be seen before anything is spent; expectations that cannot hold are refused before anything is run. */
async function foreseen(
  request: BlameRequest,
  { tape, found, known }: { readonly tape: Tape; readonly found: FoundRun; readonly known: readonly KnownRun[] },
): Promise<Foreseen> {
  const { ok, bad, oracle, reference, tools = 'tape', isAnyName, repairs = false } = request
  const expectations = typedExpectations({ ok, bad }).all
  const tapes = reference === undefined ? [tape] : [tape, requireClosed(readTape(reference))]
  const { outcome } = found.case ?? {}
  const names = { tapes, ...(outcome === undefined ? {} : { outcome }) }
  const warnings = isAnyName === true ? [] : requireKnownNames(expectations, names)
  // A function grades in the process that can load it, and the run of --reference stands for the good ones.
  const judging = oracle === undefined && reference === undefined ? judgingOf(request, tape, found) : undefined
  const subject = judging === undefined ? undefined : { tape, judging }
  const runs = subject === undefined ? undefined : await goodRuns(known, subject)
  const good = repairs ? await runs?.answers() : undefined
  const isSaid = subject !== undefined && runs !== undefined && expectations.length > 0
  const unmet = isSaid && !(await runs.hasSame()) ? await runs.unmet(names) : []
  const question = { tape, tools, hasReference: reference !== undefined, repairs } as const
  requireGoodAnswers({ ...question, ...(good === undefined ? {} : { good }) })
  return {
    warnings: [...warnings, ...unmet.filter((text) => !warnings.includes(text)).map(unmetText)],
    offTape: ({ foreseen: risk, good: graded }) =>
      foreseenOffTape(risk, { ...question, ...(graded === undefined ? {} : { good: graded }) }),
  }
}

/** What grades where no function does. */
function judgingOf({ ok, bad }: Pick<BlameRequest, 'ok' | 'bad'>, tape: Tape, { case: kase }: FoundRun): Judging {
  return chooseJudging(tape, { ok, bad, ...(kase === undefined ? {} : { case: kase }) })
}

/** Known runs, by what this one is judged by. What grades is most of the program: loaded where there is something to grade. */
async function goodRuns(
  known: readonly KnownRun[],
  { tape, judging }: { readonly tape: Tape; readonly judging: Judging },
): Promise<{
  /** A good one with other answers. */
  answers(): Promise<GoodRun | undefined>
  /** Whether one of the same question is good. */
  hasSame(): Promise<boolean>
  /** Why no run may meet the conditions, where no run of the same question is good; see `neverMet`. */
  unmet(names: Names): Promise<readonly string[]>
}> {
  const { KnownRuns, neverMet, ...tests } = await import('../../blame/known-good.ts')
  const { createOracle } = await import('../../blame/oracle.ts')
  const runs = new KnownRuns(known, tape, createOracle(judging))
  return {
    answers: () =>
      runs.good(
        (one) => tests.hasOtherAnswers(one, tape),
        (one) => tests.hasOtherAnswersToSame(one, tape),
      ),
    hasSame: async () => (await runs.good(() => true)) !== undefined,
    async unmet(names) {
      const any = await runs.good(
        () => true,
        () => true,
      )
      const isGood = any === undefined ? undefined : 'another question'
      const contrary = await runs.bad((one) => isOfSameQuestion(one, tape))
      const contradictedBy = contrary === undefined ? {} : { contradictedBy: contrary.name }
      return neverMet(judging, names, { isGood, hasKnown: runs.first !== undefined, ...contradictedBy })
    },
  }
}

function progressLine({ phase, forks, costUsd, steps }: Told): string {
  const cost = costUsd === undefined ? '' : `, $${costUsd.toFixed(2)}`
  return `${phase}: ${forks} forks${cost}${steps === undefined ? '' : `, suspected: ${neutralLine(steps, 60)}`}`
}
