import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Interval, wilson } from '../../blame/index.ts'
import { HarvestError, neutralLine } from '../../errors/index.ts'
import { type Patch, type Patched, type FinishedJob, type Job, patchTape, type Spent } from '../../fork/index.ts'
import { pinsOf } from '../../provenance/index.ts'
import { changedQuestions, stepsText } from '../../replay/index.ts'
import { listCases, readPrices } from '../../store/index.ts'
import { type Json, outcomeNotCompared, readTape, requireClosed, type Tape } from '../../tape/index.ts'
import { renderBaseline, traceOf } from '../../trace/index.ts'
import { type CommandSpec, type Given, jsonOption } from '../command.ts'
import { compact, describeOutcome } from '../describe.ts'
import { exit } from '../exit.ts'
import { findTapeFile } from '../find.ts'
import { type JobOutcome, runJobs } from '../jobs.ts'
import {
  describeInterval,
  describeSpent,
  liveOptions,
  type LivePlan,
  readLivePlan,
  refuseOtherCode,
  readWhole,
  spentBy,
} from '../live.ts'
import { usage } from '../parse.ts'
import { neutralLines, type Screen } from '../screen.ts'

/** Changes one recorded input of a run and says whether its outcome survives. */
export const patchCommand: CommandSpec = {
  name: 'patch',
  args: '<tape>',
  about: 'Change one recorded input, replay, and say whether the outcome survives',
  options: [
    { flag: '--step <n>', about: 'The step whose answer is changed (default: the input of the run)' },
    { flag: '--set <path=value>', about: 'What becomes of it, such as result.total=30; may be repeated', many: true },
    { flag: '--agent <name>', about: 'Agent to replay with (default: the one the tape or its case names)' },
    ...liveOptions,
    { flag: '--dir <folder>', about: 'Folder with inbox/ and golden/ (default: recordings)' },
    jsonOption,
  ],
  examples: [
    'patch refund-100x --step 2 --set result.total=30',
    'patch refund-100x --set input.text="Refund A-2." --live --times 5',
  ],
  async run(given, screen) {
    const plan = given.has('live') ? readLivePlan(given, patchCommand) : undefined
    const changes = changesOf(given)
    const recordings = given.value('dir') ?? 'recordings'
    const tape = requireClosed(readTape(findTapeFile(given.args[0] ?? '', recordings)))
    const { text, changed } = patchTape(tape, changes)
    if (plan !== undefined) await refuseOtherCode(pinsOf(tape), given)
    const agent = given.value('agent') ?? agentOf(tape, recordings)
    const ended = await runPatched(text, agent === undefined ? {} : { agent }, recordings, plan, screen)
    const answer = plan === undefined ? replayed(tape, ended[0]) : live(tape, ended)
    if (given.has('json')) screen.json({ tape: tape.source, changed, ...answer })
    else print(tape, changed, answer, screen)
    return answer.survives === null ? exit.divergence : exit.ok
  },
}

/** What became of the recorded outcome. */
interface PatchAnswer {
  /** `null`: nobody can tell. */
  readonly survives: boolean | null
  /** Why nobody can tell, or what came instead. */
  readonly because: string
  readonly outcome?: FinishedJob['outcome']
  readonly trace?: readonly Json[]
  readonly traceChanged?: boolean
  /** Of live runs. */
  readonly rate?: {
    readonly survived: number
    readonly runs: number
    readonly undecided: number
    readonly interval?: Interval
  }
  readonly spent?: Spent
}

function changesOf(given: Given): readonly Patch[] {
  const step = readWhole(given, patchCommand, 'step')
  const sets = given.values('set')
  if (sets.length === 0) throw usage(patchCommand, 'HARVEST_CLI_ARGUMENT', 'patch needs --set <path=value>')
  return sets.map((set) => {
    const at = set.indexOf('=')
    if (at < 1) throw usage(patchCommand, 'HARVEST_CLI_ARGUMENT', `--set is path=value, not ${neutralLine(set, 60)}`)
    const value = jsonOrText(set.slice(at + 1))
    return { path: set.slice(0, at), value, ...(step === undefined ? {} : { step }) }
  })
}

/** `30` is a number, `"30"` and `thirty` are texts. */
function jsonOrText(word: string): Json {
  try {
    return JSON.parse(word) as Json
  } catch {
    // Nobody quotes a word in a shell twice: what is no JSON is meant as text.
    return word
  }
}

/** A case may replay its tape with another agent than the one that was recorded. */
function agentOf(tape: Tape, recordings: string): string | undefined {
  const owner = listCases(recordings).find(
    ({ file, case: loaded }) => loaded !== undefined && resolve(dirname(file), loaded.tape) === resolve(tape.source),
  )
  return owner?.case?.agent
}

async function runPatched(
  text: string,
  job: Pick<Job, 'agent'>,
  recordings: string,
  plan: LivePlan | undefined,
  screen: Screen,
): Promise<readonly JobOutcome[]> {
  const folder = mkdtempSync(join(tmpdir(), 'harvest-patch-'))
  const file = join(folder, 'patched.tape.jsonl')
  try {
    writeFileSync(file, text, { mode: 0o600 })
    if (plan === undefined) return await runJobs([{ tape: file, ...job }])
    const { times, timeoutMs, parallel, limits } = plan
    const prices = readPrices(recordings) ?? {}
    const jobs = Array.from({ length: times }, (): Job => ({ tape: file, ...job, mode: 'live', timeoutMs }))
    return await runJobs(jobs, {
      parallel,
      limits,
      prices,
      onProgress: (n) => screen.progress(`${n} of ${times} runs`),
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function replayed(tape: Tape, run: JobOutcome | undefined): PatchAnswer {
  if (run === undefined || HarvestError.is(run)) throw run ?? new TypeError('the job has no answer')
  // Steps it no longer asks for leave nothing open: it had an answer to all that it asked.
  const problem = run.report.problems.find(({ code }) => code !== 'HARVEST_UNUSED')
  if (problem !== undefined) {
    return {
      survives: null,
      because: `With this change the agent does what is not on the tape; what would have come of it, only its models know.\n\n${problem.message}`,
    }
  }
  const asked = changedQuestions(run.report.drift.filter(({ policy }) => policy === 'unproven'))
  if (asked.length > 0) {
    const parts = asked.map(({ part, steps, words }) => `  ${neutralLine(part)}, ${stepsText(steps)}: ${words}`)
    return {
      survives: null,
      because: `With this change a model is asked something else; what it would answer is not on the tape.\n\n${parts.join('\n')}`,
    }
  }
  return { ...judged(tape, run), outcome: run.outcome, trace: run.trace, traceChanged: isOtherTrace(tape, run) }
}

function judged(tape: Tape, run: FinishedJob): Pick<PatchAnswer, 'survives' | 'because'> {
  const survives = run.report.receipt.outcomeEqual
  if (survives === null)
    return { survives, because: `The outcome is ${outcomeNotCompared}; the run now ${describeEnd(run)}` }
  return { survives, because: survives ? 'The same outcome comes of it.' : `The run now ${describeEnd(run)}` }
}

function live(tape: Tape, ended: readonly JobOutcome[]): PatchAnswer {
  const judgedRuns = ended.flatMap((run) =>
    HarvestError.is(run) || run.report.problems.length > 0 || run.report.receipt.outcomeEqual === null ? [] : [run],
  )
  const survived = judgedRuns.filter((run) => run.report.receipt.outcomeEqual).length
  const runs = judgedRuns.length
  const [failed] = ended.flatMap((run) =>
    HarvestError.is(run) ? [run.message] : run.report.problems.map(({ message }) => message),
  )
  return {
    survives: runs === 0 ? null : survived * 2 >= runs,
    because:
      runs === 0 ? `No live run could be judged.\n\n${failed ?? ''}` : `${survived} of ${runs} live runs end so.`,
    rate: {
      survived,
      runs,
      undecided: ended.length - runs,
      ...(runs === 0 ? {} : { interval: wilson(survived, runs) }),
    },
    spent: spentBy(ended),
  }
}

function isOtherTrace({ events }: Tape, { trace }: FinishedJob): boolean {
  return !isDeepStrictEqual(JSON.parse(JSON.stringify(renderBaseline(traceOf(events)))), trace)
}

function describeEnd({ outcome }: FinishedJob): string {
  const { status, value } = outcome
  return describeOutcome(status === 'returned' ? { status, value } : { status, error: value })
}

function print(tape: Tape, changed: readonly Patched[], answer: PatchAnswer, screen: Screen): void {
  for (const { step, path, before, value } of changed) {
    const place = step === undefined ? neutralLine(path) : `step ${step}, ${neutralLine(path)}`
    screen.line(`${place}: ${before === undefined ? 'nothing' : compact(before)} → ${compact(value)}`)
  }
  const recorded = tape.close === undefined ? 'unknown' : describeOutcome(tape.close.outcome)
  screen.line(`recorded: ${recorded}`)
  const word = answer.survives === null ? 'undecided' : answer.survives ? 'the outcome survives' : 'the outcome is gone'
  screen.line(`\n${screen.paint('bold', word)}`)
  screen.line(neutralLines(answer.because))
  if (answer.traceChanged === true) screen.line(`The tool calls are others: ${compact([...(answer.trace ?? [])], 200)}`)
  if (answer.rate?.interval !== undefined) screen.line(`95 % (Wilson): ${describeInterval(answer.rate.interval)}`)
  if (answer.rate !== undefined && answer.rate.undecided > 0)
    screen.line(`${answer.rate.undecided} runs could not be judged`)
  if (answer.spent !== undefined) screen.line(describeSpent(answer.spent))
  if (answer.survives === null) screen.line('→ to ask the models what comes of it: --live')
}
