import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Case } from '../../cases/index.ts'
import { here } from '../../errors/here.ts'
import { HarvestError, neutralLine } from '../../errors/index.ts'
import { type Patch, type Patched, patchTape } from '../../fork/index.ts'
import { inPairs } from '../../fork/pair-order.ts'
import { type ControlData, type Job } from '../../jobs/index.ts'
import { pinsOf } from '../../provenance/index.ts'
import { readPrices } from '../../recordings/index.ts'
import { asksModel } from '../../providers/index.ts'
import { type Json, readTape, stepsOf, type Tape } from '../../tape/index.ts'
import { requireReplayable } from '../../tape/grade.ts'
import { patchSpec } from '../spec/debug.ts'
import { stepsToModels } from '../blame/to-models.ts'
import { type LimitedRuns, roomForAll, stepsAfterBudget } from '../budget-step.ts'
import type { Command, CommandInput } from '../command.ts'
import { compact, describeOutcome } from '../../report/describe.ts'
import { endedEarly, stoppedText } from '../ended-early.ts'
import { exit } from '../exit.ts'
import { findTapeFile } from '../find.ts'
import { finerAnswer } from '../finer-answer.ts'
import { apart } from '../forking/beside.ts'
import { typeNotes } from '../forking/changes.ts'
import { controlLine, pinsJson } from '../forking/control.ts'
import { ownerOf } from '../forking/parent.ts'
import { live, type PatchAnswer, replayed, requireControl } from '../forking/patched.ts'
import { type JobOutcome, runJobs } from '../../jobs/run.ts'
import {
  describeInterval,
  describeSpent,
  type LivePlan,
  readLivePlan,
  refuseOtherCode,
  readWhole,
  acrossVersions,
} from '../live.ts'
import { badValue, usage } from '../parse.ts'
import { neutralLines, type Screen } from '../../report/output.ts'
import { printAnswer } from '../next-lines.ts'
import { type NextStep, printSteps } from '../next-steps.ts'
import { type OptionChanges, typedAgain } from '../typed-again.ts'

/** Changes one recorded input of a run and says whether its outcome survives. */
export const patchCommand: Command = {
  ...patchSpec,
  async run(given, screen) {
    const plan = given.has('live') ? readLivePlan(given, patchCommand) : undefined
    const changes = changesOf(given)
    const recordings = given.value('dir') ?? 'recordings'
    const tape = requireReplayable(readTape(findTapeFile(given.args[0] ?? '', recordings)))
    if (plan !== undefined) refuseModels(tape, changes, given)
    const { text, changed } = patchTape(tape, changes)
    for (const note of typeNotes(tape, changes)) screen.note(note)
    const kase = ownerOf(resolve(tape.source), recordings)
    if (plan !== undefined) {
      const agent = given.value('agent') ?? kase?.agent ?? tape.header.agent
      await refuseOtherCode({ ...pinsOf(tape), ...kase?.pins }, given, { tape: tape.source, agent, caseId: kase?.id })
    }
    const steps = changes.flatMap(({ step }) => (step === undefined ? [] : (stepsOf(tape)[step - 1]?.n ?? [])))
    const runs = { ...jobsOf(tape, kase, given), recordings, plan, ...(steps.length === changes.length && { steps }) }
    const { answer, control, ended } = await runBoth(text, runs, screen)
    printAnswer(
      {
        tape: here(tape.source),
        changed,
        ...answer,
        ...pinsJson(tape, control),
        ...(ended && { interrupted: ended.at }),
      },
      (shown) => {
        print(tape, changed, answer, control, shown)
        if (ended !== undefined) return shown.line(stoppedText(ended.at, 'runs'))
        const asked = { tape, given, recordings, plan, isOfModel: changes.some((change) => isOfModel(tape, change)) }
        printSteps(stepsAfterPatch(answer, asked), (text) => shown.line(text))
      },
      { given, spec: patchCommand, screen },
    )
    if (ended !== undefined) return endedEarly(ended.error, screen)
    return answer.survives === null ? exit.divergence : exit.ok
  },
}

function changesOf(given: CommandInput): readonly Patch[] {
  const step = readWhole(given, patchCommand, 'step')
  const sets = given.values('set')
  if (sets.length === 0)
    throw usage(patchCommand, 'HARVEST_CLI_ARGUMENT', 'patch needs --set <path=value>', [
      "to see the values: npx vitest-harvest show '<tape>' --full",
      "with one: --set '<path=value>'",
    ])
  return sets.map((set) => {
    const at = set.indexOf('=')
    if (at < 1) throw badValue(patchCommand, 'set', set, 'path=value')
    const value = jsonOrText(set.slice(at + 1))
    return { path: set.slice(0, at), value, ...(step === undefined ? {} : { step }) }
  })
}

/** A model that is asked for real does not say what was changed: `fork` keeps the steps up to it. */
function refuseModels(tape: Tape, changes: readonly Patch[], given: CommandInput): void {
  const asked = changes.find((change) => isOfModel(tape, change))
  if (asked === undefined) return
  throw usage(patchCommand, 'HARVEST_CLI_ARGUMENT', `with --live a model answers step ${asked.step} itself`, [
    ...(given.has('agent') ? [] : [`to keep the run up to it, with this change: ${asFork({})}`]),
    'to replay the change from the tape: the same command, without --live',
  ])
}

function isOfModel(tape: Tape, { step }: Patch): boolean {
  const event = step === undefined ? undefined : stepsOf(tape)[step - 1]
  return event !== undefined && asksModel(event)
}

/** `30` is a number, `"30"` and `thirty` are texts. */
function jsonOrText(word: string): Json {
  try {
    return JSON.parse(word) as Json
  } catch {
    // A word is rarely quoted twice in a shell: what is not JSON is meant as text.
    return word
  }
}

function jobsOf(
  tape: Tape,
  kase: Case | undefined,
  given: CommandInput,
): { readonly unchanged: Job; readonly about: Omit<Job, 'tape'> } {
  const agent = given.value('agent')
  const about = {
    ...(agent === undefined ? {} : { agent }),
    ...(kase === undefined ? {} : { case: { file: resolve(kase.file), text: readFileSync(kase.file, 'utf8') } }),
  }
  return { unchanged: { tape: resolve(tape.source), ...about }, about }
}

interface Runs {
  readonly unchanged: Job
  readonly about: Omit<Job, 'tape'>
  readonly recordings: string
  readonly plan: LivePlan | undefined
  /** The changed steps, each an `n` of the tape; absent: the input is changed, too, or alone. */
  readonly steps?: readonly number[]
}

interface Both {
  readonly answer: PatchAnswer
  readonly control: ControlData
  /** Someone ended the command: the answer is of the runs that were made by then. */
  readonly ended?: { readonly error: HarvestError; readonly at: { readonly made: number; readonly of: number } }
}

/** Runs the agent with the change, and without: the unchanged replay first, for it may refuse. */
async function runBoth(
  text: string,
  { unchanged, about, recordings, plan, steps }: Runs,
  screen: Screen,
): Promise<Both> {
  const folder = mkdtempSync(join(tmpdir(), 'harvest-patch-'))
  const file = join(folder, 'patched.tape.jsonl')
  try {
    writeFileSync(file, text, { mode: 0o600 })
    const control: Job = { ...unchanged, isControl: true, ...(plan === undefined ? {} : { mode: 'live' }) }
    if (plan === undefined) {
      const [first, second] = await runJobs([control, { tape: file, ...about }])
      const run = requireControl(first)
      return { answer: replayed(second, run), control: run.control }
    }
    const [first] = await runJobs([control])
    const run = requireControl(first)
    const { times, timeoutMs, parallel, limits } = plan
    const pair = [{ tape: file, ...about }, unchanged].map((job): Job => ({ ...job, mode: 'live', timeoutMs }))
    const order = inPairs({ digest: run.control.digest }, 2 * times)
    const ended = await runJobs(
      order.map((at) => pair[at % 2]!),
      {
        parallel,
        limits,
        prices: readPrices(recordings) ?? {},
        keepsEnded: true,
        onProgress: (n) => screen.progress(`${n} of ${2 * times} runs`),
      },
    )
    const all: JobOutcome[] = []
    for (const [nth, at] of order.entries()) all[at] = ended[nth]!
    const isStop = (one: JobOutcome): one is HarvestError => HarvestError.is(one, 'HARVEST_CLI_INTERRUPTED')
    const error = all.find(isStop)
    if (error !== undefined && all.every(isStop)) throw error
    const isMade = (one: JobOutcome): boolean => !isStop(one)
    const { changed, controls } = apart(all, 2)
    const answer = live(changed.filter(isMade), controls.filter(isMade), run, steps)
    if (error === undefined) return { answer, control: run.control }
    const at = { made: all.filter(isMade).length, of: all.length }
    // Of fewer runs than were asked for nothing is decided.
    return { answer: { ...answer, survives: null }, control: run.control, ended: { error, at } }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function print(
  tape: Tape,
  changed: readonly Patched[],
  answer: PatchAnswer,
  { differs }: ControlData,
  screen: Screen,
): void {
  for (const { step, path, before, value } of changed) {
    const place = step === undefined ? neutralLine(path) : `step ${step}, ${neutralLine(path)}`
    screen.line(`${place}: ${before === undefined ? 'nothing' : compact(before)} → ${compact(value)}`)
  }
  const recorded = tape.close === undefined ? 'unknown' : describeOutcome(tape.close.outcome)
  screen.line(`recorded: ${recorded}`)
  if (differs !== undefined) screen.line(controlLine(differs))
  const word = answer.survives === null ? 'undecided' : answer.survives ? 'the outcome survives' : 'the outcome is gone'
  screen.line(`\n${screen.paint('bold', word)}`)
  screen.line(neutralLines(answer.because))
  if (answer.traceChanged === true) screen.line(`The tool calls are others: ${compact([...(answer.trace ?? [])], 200)}`)
  const [withIt, without] = [answer.rate, answer.beside].map((rate) =>
    rate?.interval === undefined ? undefined : describeInterval(rate.interval),
  )
  if (withIt !== undefined)
    screen.line(`95 % (Wilson): ${withIt}${without === undefined ? '' : `; without the change ${without}`}`)
  const undecided = (answer.rate?.undecided ?? 0) + (answer.beside?.undecided ?? 0)
  if (undecided > 0) screen.line(`${undecided} runs could not be judged`)
  if (answer.spent !== undefined) screen.line(describeSpent(answer.spent))
}

interface Asked {
  readonly tape: Tape
  readonly given: CommandInput
  readonly recordings: string
  readonly plan: LivePlan | undefined
  /** It changes what a model answers. */
  readonly isOfModel: boolean
}

/** From what could not be judged to what can be. */
function stepsAfterPatch(
  { survives, rate, lost = [] }: PatchAnswer,
  { tape, given, recordings, plan, isOfModel }: Asked,
): readonly NextStep[] {
  if (survives !== null) return []
  if (plan === undefined || rate === undefined) {
    const options = { live: true, ...acrossVersions(tape) }
    if (isOfModel && given.has('agent')) return []
    return [{ about: 'to continue with live models', command: isOfModel ? asFork(options) : typedAgain(options) }]
  }
  const prices = readPrices(recordings) ?? {}
  const isOffTape = lost.includes('HARVEST_NOT_RECORDED') && !given.has('agent')
  const runs: LimitedRuns = { codes: lost, runs: () => [[tape, 2 * plan.times]], limits: plan.limits, prices }
  const steps = [
    ...stepsToModels(lost, tape),
    ...stepsAfterBudget(runs),
    ...(isOffTape
      ? [
          {
            about: 'to run tools for real, with their side effects',
            command: asFork({ ...roomForAll(runs), tools: 'live' }),
          },
        ]
      : []),
  ]
  if (steps.length > 0) return steps
  return [
    rate.met === 0
      ? { about: 'to keep the run up to it, with this change', command: asFork({}) }
      : finerAnswer(plan.times),
  ]
}

/** `patch` is `fork`, which takes more. */
function asFork(changes: OptionChanges): string {
  return typedAgain(changes).replace(' patch ', ' fork ')
}
