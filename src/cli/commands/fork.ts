import { dirname, resolve } from 'node:path'
import type { Case } from '../../cases/index.ts'
import { pinsOf } from '../../provenance/index.ts'
import { listCases } from '../../store/index.ts'
import { readTape, requireClosed, type Tape } from '../../tape/index.ts'
import { type CommandSpec, type Given, jsonOption } from '../command.ts'
import { exit } from '../exit.ts'
import { findRun, type FoundRun } from '../find.ts'
import { changeOptions, type ForkAsk, readAsk, readTail } from '../forking/ask.ts'
import { tellBranches, together, type Together, type ToldBranch } from '../forking/branches.ts'
import { tellChange, type ToldChange } from '../forking/changes.ts'
import { alternativesOf, decisionsOf, printDecisions, reportDecisions } from '../forking/critical.ts'
import { gradeOptions, type Grader, graderOf } from '../forking/grading.ts'
import { makeForks, type MakeOptions, type Parent } from '../forking/make.ts'
import { printAsk, printBranches } from '../forking/print.ts'
import { saveBranches } from '../forking/save.ts'
import { liveOptions, readLivePlan, readWhole, refuseOtherCode } from '../live.ts'
import { usage } from '../parse.ts'
import type { Screen } from '../screen.ts'

const timesOption = { flag: '--times <n>', about: 'Forks, each with another seed (default: 1)' }

/** Replays a run up to a step, changes something there, and lets the agent run on. */
export const forkCommand: CommandSpec = {
  name: 'fork',
  args: '<tape|case>',
  about: 'Replay a run to a step, change something there, and let the agent run on: what comes of it',
  options: [
    ...changeOptions,
    ...gradeOptions,
    { flag: '--critical', about: 'Try other decisions at every model step: which of them change the outcome' },
    { flag: '--save', about: 'Keep each branch as a tape of the inbox' },
    { flag: '--fresh', about: 'Run anew what the same code was asked before' },
    ...liveOptions.map((option) => (option.flag.startsWith('--times') ? timesOption : option)),
    { flag: '--dir <folder>', about: 'Folder with inbox/ and golden/ (default: recordings)' },
    jsonOption,
  ],
  examples: [
    'fork refund-100x --step 5 --say "I refunded nothing."',
    'fork refund-100x --step 3 --decide "refund(order_id=A-100, amount=10)" --live --tools live',
    'fork refund-100x --critical',
  ],
  async run(given, screen) {
    const parent = readParent(given)
    return given.has('critical') ? critical(parent, given, screen) : fork(parent, given, screen)
  },
}

async function fork(parent: Parent, given: Given, screen: Screen): Promise<number> {
  const ask = readAsk(given, parent.tape, forkCommand)
  const grader = await graderOf(parent, given)
  const changes = (ask.changes ?? []).map((change) => tellChange(parent.tape, change))
  const first = readWhole(given, forkCommand, 'seed') ?? 1
  const times = readWhole(given, forkCommand, 'times') ?? 1
  if (given.has('live')) await refuseOtherCode(pinsOf(parent.tape), given)
  const requests = Array.from({ length: times }, (_, n) => ({ ...ask, seed: `${first + n}` }))
  const made = await makeForks(parent, requests, makeOptions(given, screen))
  const told = await tellBranches(parent.tape, made, grader)
  const branches = given.has('save') ? saveBranches(parent, told) : told
  const sum = together(branches)
  if (given.has('json')) screen.json(asJson(parent.tape, ask, changes, branches, sum, grader))
  else {
    printAsk(parent, ask, changes, screen)
    printBranches(branches, sum, grader, screen)
    const isOffTape = branches.some(({ problems }) => problems.some(({ code }) => code === 'HARVEST_OFF_TAPE'))
    // Nobody recorded what a tool answers to a call that nobody made.
    const isNewCall = given.values('decide').length > 0
    if (isOffTape && !given.has('live') && isNewCall)
      screen.line('→ to run its tools for real, side effects and all, and ask the models: --live --tools live')
    else if (isOffTape && !given.has('live')) screen.line('→ to ask the models what comes of it: --live')
    else if (isOffTape) screen.line('→ to run tools for real, side effects and all: --tools live')
  }
  return sum.judged === 0 ? exit.divergence : exit.ok
}

async function critical(parent: Parent, given: Given, screen: Screen): Promise<number> {
  const [other] = changeOptions.filter(
    ({ flag }) => given.has(nameOf(flag)) && !['tail', 'tools', 'model-server'].includes(nameOf(flag)),
  )
  if (other !== undefined)
    throw usage(
      forkCommand,
      'HARVEST_CLI_ARGUMENT',
      `--critical chooses what changes itself: leave --${nameOf(other.flag)} out`,
    )
  const tail = readTail(given, forkCommand)
  const grader = await graderOf(parent, given)
  const donor = tail.from === 'donor' ? requireClosed(readTape(tail.file)) : undefined
  const times = readWhole(given, forkCommand, 'times') ?? 1
  if (given.has('live')) await refuseOtherCode(pinsOf(parent.tape), given)
  const alternatives = alternativesOf(parent.tape, tail, donor, times)
  const requests = alternatives.map(({ request }) => request)
  const made = await makeForks(parent, requests, makeOptions(given, screen))
  const branches = await tellBranches(parent.tape, made, grader)
  const decisions = reportDecisions(decisionsOf(parent.tape), alternatives, branches, grader?.recorded)
  const graded = { gradedBy: grader?.by ?? null, recorded: grader?.recorded ?? null }
  if (given.has('json'))
    screen.json({ tape: parent.tape.source, tail, ...graded, decisions, spent: together(branches).spent })
  else if (decisions.length === 0) screen.line('No model decides anything in this run.')
  else printDecisions(decisions, { isLive: tail.from === 'live', grader }, screen)
  return exit.ok
}

function nameOf(flag: string): string {
  return (flag.split(' ', 1)[0] ?? flag).slice(2)
}

function makeOptions(given: Given, screen: Screen): MakeOptions {
  const { parallel, timeoutMs, limits } = readLivePlan(given, forkCommand)
  const isTimed = given.has('live') || given.has('timeout')
  return {
    parallel,
    isFresh: given.has('fresh'),
    ...(given.has('live') ? { limits } : {}),
    ...(isTimed ? { timeoutMs } : {}),
    onProgress: (made, of) => screen.progress(`${made} of ${of} forks`),
  }
}

function readParent(given: Given): Parent {
  const recordings = given.value('dir') ?? 'recordings'
  const found = findRun(given.args[0] ?? '', given.value('dir'), { isExact: given.has('save') })
  const tape = requireClosed(readTape(found.file))
  const kase = caseOf(found, recordings)
  return { tape, file: resolve(found.file), recordings, ...(kase === undefined ? {} : { case: kase }) }
}

/** A case may replay its tape with another agent than the one that was recorded. */
function caseOf(found: FoundRun, recordings: string): Case | undefined {
  if (found.case !== undefined) return found.case
  const file = resolve(found.file)
  const owner = listCases(recordings).find(
    (one) => one.case !== undefined && resolve(dirname(one.file), one.case.tape) === file,
  )
  return owner?.case
}

function asJson(
  tape: Tape,
  { keep, tail }: ForkAsk,
  changed: readonly ToldChange[],
  branches: readonly ToldBranch[],
  sum: Together,
  grader: Grader | undefined,
) {
  return {
    tape: tape.source,
    keep,
    changed,
    tail,
    gradedBy: grader?.by ?? null,
    recorded: grader?.recorded ?? null,
    branches: branches.map(({ seed, fork, compared, grade, problems, isReused, saved }) => ({
      seed,
      judged: compared !== undefined,
      outcome: fork?.outcome ?? null,
      grade: grade ?? null,
      differs: compared ?? null,
      problems,
      prefix: fork?.prefix ?? null,
      spent: fork?.spent ?? null,
      inert: fork?.isInert ?? null,
      fingerprint: fork?.fingerprint ?? null,
      reused: isReused,
      madeAt: fork?.madeAt ?? null,
      saved: saved ?? null,
    })),
    ...sum,
  }
}
