import { inject, recordArtifact, type RunnerTestCase } from 'vitest'
import type { AcceptedChange } from '../cases/index.ts'
import { recordingsAround } from '../errors/above.ts'
import { HarvestError, neutralLine, withFacts } from '../errors/index.ts'
import { checkOption, oneOf, type OptionsOf } from '../errors/options.ts'
import { toUpdate } from '../errors/usual-steps.ts'
import {
  replayTape,
  type JudgedReplay,
  type RunVerdict,
  unprovenError,
  type VerdictName,
  verdictFrom,
  verdictOf,
  withQuestions,
  type GreenSteps,
} from '../replay/index.ts'
import type { ReplayOptions, ReplayResult } from '../match/types.ts'
import { redactorForMessages } from '../match/redact-message.ts'
import { readTape, type Tape } from '../tape/index.ts'
import { requireClosed } from '../tape/closed.ts'
import { heedModules, inWork, type UninstrumentedIo } from '../seam/intercept/index.ts'
import { agentModules } from './agent-modules.ts'
import { acceptancesFor, type Acceptances, acceptedBy, withAll } from './accept-questions.ts'
import { questionsOf } from './case-report.ts'
import { CaseWork, withWork } from './case-work.ts'
import {
  acceptArtifact,
  type HarvestProvided,
  listedArtifact,
  type TestReplayReport,
  type UncomparedValue,
} from './channel.ts'
import { printableListed } from './listed.ts'
import { tapeStepsFromHere } from './steps-from-here.ts'
import { neverAnswered } from './never-answered.ts'
import { tapePlace } from './tape-place.ts'
import { timeOfReplay } from './test-time.ts'
import { startTimeLimit, type TimeLimit } from './time-limit.ts'
import { tellReporter } from './unheard.ts'
import { currentTest, noteCollected, untilAwaited } from './under-way.ts'

export interface HandReplayOptions extends ReplayOptions {
  /**
   * `throw` (default): what makes the verdict `different` or `unproven` is thrown, the worst first: a problem of the replay,
   * another ending or outcome, a changed question to a model. `collect`: the result says it all, and the test has to look.
   */
  readonly problems?: 'throw' | 'collect'
  /**
   * `compare` (default): an agent that returns something else than when it was recorded is an error. `ignore`: the test
   * says itself what the outcome has to be.
   */
  readonly outcome?: 'compare' | 'ignore'
}

/**
 * Replays a tape in a hand-written test.
 *
 * ```ts
 * const run = await replay('recordings/golden/refund-100x.tape.jsonl', (input) => refundAgent(input))
 * expect(run).toCall('refund', { amount: 25 })
 * ```
 *
 * What `harvest()` in the config says about drift, escapes and serving holds here too; `options` go first.
 *
 * A test that ends before its replay does is red (`HARVEST_TEST_OVER`). So is one that passes although it caught what the replay
 * threw, unless it expects that error by `expect()`.
 *
 * @param tape - a tape, or the path of one, from the root of the test's project or else from the folder Vitest runs in
 * @param agent - called with the recorded input
 * @throws HarvestError why the verdict is not `same`, unless `problems: 'collect'`: the first problem, or
 *   `HARVEST_OUTCOME_KIND`, `HARVEST_OUTCOME`, `HARVEST_UNPROVEN`
 */
export function replay<T>(
  tape: string | Tape,
  agent: (input: unknown) => T | PromiseLike<T>,
  options: HandReplayOptions = {},
): Promise<JudgedReplay<T>> {
  return untilAwaited('replay()', () => replayJudged(tape, agent, options), true)
}

async function replayJudged<T>(
  tape: string | Tape,
  agent: (input: unknown) => T | PromiseLike<T>,
  options: HandReplayOptions,
): Promise<JudgedReplay<T>> {
  const { problems: policy = 'throw', outcome = 'compare', ...own } = options
  checkOption(replayOptions, 'problems', policy, oneOf(['throw', 'collect']))
  checkOption(replayOptions, 'outcome', outcome, oneOf(['compare', 'ignore']))
  const test = currentTest()
  const whole = opened(tape)
  const settings = { ...provided()?.settings.replay, ...own, late: true } as ReplayOptions
  const root = provided()?.root ?? process.cwd()
  const listLate = (one: UninstrumentedIo): void => {
    if (test !== undefined) tellReporter(test.id, { type: listedArtifact, listed: printableListed([one], root) })
  }
  const work = new CaseWork(whole.header.id, settings.allow ?? [], listLate, redactorForMessages(whole))
  using limit = limitOf(test, settings.signal)
  const limited = { ...settings, ...(limit && { signal: limit.signal }) }
  const replayed = await inWork(work, () => replayTape(whole, agent, limited))
  const run = withWork(limit?.isOver ? withTimeUp(replayed) : replayed, work)
  if (test !== undefined && run.listed.length > 0)
    test.meta.harvestListed = [...(test.meta.harvestListed ?? []), ...printableListed(run.listed, root)]
  // It put its own back over mocks.
  heedModules(agentModules)
  const around = provided()
  const acceptances = around === undefined ? none : acceptancesFor(whole.header, around)
  const judged = { ...run, verdict: judge(run, outcome, acceptances.green) }
  results.add(judged)
  if (policy === 'throw') await requireSame(judged, acceptances, around, test)
  else noteWhatDiffers(judged)
  return judged
}

function limitOf(test: RunnerTestCase | undefined, given: AbortSignal | undefined): TimeLimit | undefined {
  const limitMs = timeOfReplay(test)
  return limitMs === undefined ? undefined : startTimeLimit(limitMs, given ?? new AbortController().signal)
}

/** What the limit of the test cut off is an agent that does not answer, as in a case. */
function withTimeUp<T>(run: ReplayResult<T>): ReplayResult<T> {
  const { id } = run.tape.header
  const isCutOff = ({ code }: HarvestError): boolean => code === 'HARVEST_RUN_ABORTED'
  const moreTime = 'the last argument of the test, in milliseconds: test(name, run, 20_000)'
  const problems = run.problems.map((problem) =>
    isCutOff(problem) ? neverAnswered({ tape: id }, problem.facts.where ?? {}, moreTime) : problem,
  )
  return { ...run, problems }
}

function opened(tape: string | Tape): Tape {
  try {
    return requireClosed(typeof tape === 'string' ? readTape(tapePlace(tape)) : tape)
  } catch (error) {
    throw HarvestError.is(error) ? stepsOfTape(error, typeof tape === 'string' ? tape : tape.source) : error
  }
}

function stepsOfTape(error: HarvestError, source: string, names: readonly string[] = []): HarvestError {
  const recordings = recordingsAround(source)
  return recordings === undefined ? error : tapeStepsFromHere(error, recordings, names)
}

const replayOptions: OptionsOf = { owner: 'replay', code: 'HARVEST_REPLAY_OPTION' }
const results = new WeakSet<object>()

/** Whether a value came from {@link replay}. */
export function isReplayResult(value: unknown): value is ReplayResult {
  return typeof value === 'object' && value !== null && results.has(value)
}

function judge(run: ReplayResult, outcome: 'compare' | 'ignore', green: GreenSteps): RunVerdict {
  const judged = verdictOf(run, green)
  if (outcome === 'compare') return judged
  const differences = judged.differences.filter(({ code }) => code !== 'HARVEST_OUTCOME')
  return verdictFrom(run, differences, green)
}

/** Throws why a replay is not the same as its tape. Changed questions that this run of Vitest accepts go to the reporter. */
async function requireSame(
  run: JudgedReplay,
  { green, entries, expired }: Acceptances,
  around: HarvestProvided | undefined,
  test: RunnerTestCase | undefined,
): Promise<void> {
  const { differences, ...proof } = run.verdict
  const before = test?.meta.harvestReplay
  const tell = (now: Omit<RunVerdict, 'differences'>, taken: readonly AcceptedChange[]): void => {
    const questions = questionsOf({}, run, now, taken)
    const report = { verdict: now.verdict, ...questions, notCompared: run.notCompared.map(uncompared) }
    if (test !== undefined) test.meta.harvestReplay = together(before, report)
  }
  tell(proof, entries)
  const { header, source } = run.tape
  const fromHere = (error: HarvestError) => stepsOfTape(error, source, [header.id])
  const [difference] = differences
  if (difference !== undefined) throw thrownBy(run, fromHere(withQuestions(withoutUpdate(difference), proof.unproven)))
  if (proof.unproven.length === 0) return
  const accepted = around === undefined ? [] : acceptedBy(around, proof.unproven, run)
  if (accepted.length > 0 && test !== undefined) {
    await recordArtifact(test, {
      type: acceptArtifact,
      name: run.tape.header.id,
      entries: accepted,
      acceptedFile: around?.acceptedFile ?? '',
    })
    const covered = withAll(green, accepted)
    tell(verdictFrom(run, [], covered), [...entries, ...accepted])
  }
  const open = proof.unproven.filter(({ key }) => !accepted.some((entry) => entry.key === key))
  if (open.length > 0) throw fromHere(unprovenError(open, { tape: header.id, expired }))
}

/** A test that looks at the verdict and fails may pass when it is tried again. */
function noteWhatDiffers({ verdict, tape }: JudgedReplay): void {
  const { differences, unproven } = verdict
  if (differences[0] !== undefined) noteCollected('replay()', differences[0])
  else if (unproven.length > 0) noteCollected('replay()', unprovenError(unproven, { tape: tape.header.id }))
}

/** A hand-written test has no case that an update could renew. */
function withoutUpdate(error: HarvestError): HarvestError {
  const { fix = [] } = error.facts
  const general = toUpdate('behaviour')
  const again = 'if the new behaviour is right: record the run again'
  return fix.includes(general) ? withFacts(error, { fix: fix.map((step) => (step === general ? again : step)) }) : error
}

function uncompared({ kind, stepNumber, path }: ReplayResult['notCompared'][number]): UncomparedValue {
  return { kind: neutralLine(kind), path: neutralLine(path, 80), ...(stepNumber !== undefined && { step: stepNumber }) }
}

/** A test may replay several tapes. */
function together(before: TestReplayReport | undefined, now: TestReplayReport): TestReplayReport {
  return {
    verdict: worst(before?.verdict ?? 'same', now.verdict),
    unproven: [...(before?.unproven ?? []), ...now.unproven],
    accepted: [...(before?.accepted ?? []), ...now.accepted],
    proven: [...(before?.proven ?? []), ...now.proven],
    notJudged: [...(before?.notJudged ?? []), ...now.notJudged],
    obsolete: now.obsolete,
    notCompared: [...(before?.notCompared ?? []), ...(now.notCompared ?? [])],
  }
}

function worst(one: VerdictName, other: VerdictName): VerdictName {
  const found = (['different', 'unproven'] as const).find((name) => one === name || other === name)
  return found ?? 'same'
}

const none: Acceptances = { green: new Map(), entries: [], expired: new Map() }

/** An agent that throws where it returned: its own error says most. */
function thrownBy({ outcome }: ReplayResult, difference: HarvestError): unknown {
  return difference.code === 'HARVEST_OUTCOME_KIND' && outcome.status === 'threw' ? outcome.error : difference
}

/** Absent in a project that does not have the plugin. */
function provided(): HarvestProvided | undefined {
  return inject('vitest-harvest') as HarvestProvided | undefined
}
