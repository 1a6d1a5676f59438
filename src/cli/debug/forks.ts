// Over 300 lines: what the debugger forks, from the line that asks to the rows that answer.
import { isDeepStrictEqual } from 'node:util'
import { here } from '../../errors/here.ts'
import { HarvestError, neutralLine, withFacts } from '../../errors/index.ts'
import type { Spent } from '../../live/index.ts'
import { withSpent } from '../../live/said-spent.ts'
import { readPrices } from '../../recordings/index.ts'
import type { Tape } from '../../tape/index.ts'
import { requireReplayable } from '../../tape/grade.ts'
import { table } from '../../report/output.ts'
import { roomForAll } from '../budget-step.ts'
import type { Command, CommandInput } from '../command.ts'
import { endedAt, stoppedText } from '../ended-early.ts'
import { readAsk } from '../forking/ask.ts'
import { withControls, apart, type Beside, isAnswered, sharesOf, tellBeside } from '../forking/beside.ts'
import {
  areToolsReal,
  areGraded,
  gradedOk,
  type Hits,
  tellBranches,
  withGrade,
  together,
  type Together,
  type BranchSummary,
} from '../forking/branches.ts'
import { tellChange } from '../forking/changes.ts'
import { controlLine } from '../forking/control.ts'
import { lookAtDecisions, recordedText } from '../forking/decided-calls.ts'
import { graderOf } from '../forking/grading.ts'
import { agentOf, type MadeForks, makeForks, type Parent } from '../forking/make.ts'
import { differenceText, spentLines } from '../forking/print.ts'
import { lookAtNames } from '../forking/names.ts'
import { parentOf, refuseOtherForkCode } from '../forking/parent.ts'
import { Purse } from '../forking/purse.ts'
import { sumSpent } from '../forking/sum-spent.ts'
import { readCall } from '../forking/words.ts'
import { describeInterval, describeRate, readLivePlan, readWhole, saysToPay } from '../live.ts'
import { parse } from '../parse.ts'
import { specs } from '../spec/index.ts'
import { forkSpec } from '../spec/debug.ts'
import { asTyped, type OptionChanges, typedAgain, typedWords } from '../typed-again.ts'
import { asCommand, captured } from './captured.ts'
import { addLive, addTools, exampleChange, type ForkCommand, forkLine, inDebugger, requireModel } from './fork-lines.ts'
import type { Answer, DebugCommand, DebugContext } from './types.ts'
import { changesIn, numberIn, partsOf, wordsIn, wrong } from './words.ts'

/** Options of `debug` that its forks are given as well. */
const handedOn = [
  'live',
  'max-cost',
  'max-tokens',
  'max-calls',
  'dir',
  'ok',
  'bad',
  'timeout',
  'parallel',
  'cross-version',
  'tools',
]

export const forkCommands: Readonly<Record<string, DebugCommand>> = {
  what_if: {
    usage: 'what_if N CHANGE…',
    about: 'a row for each change: how the run ends, with intervals',
    isStoppable: true,
    run: (rest, context) => inDebugger('what_if', context.given, () => whatIf(rest, context)),
  },
  branch: {
    usage: 'branch N CHANGE',
    about: 'change step N, run on from there, and keep the tape',
    isStoppable: true,
    run: (rest, context) => inDebugger('branch', context.given, () => branch(rest, context)),
  },
  compare: {
    usage: 'compare A [B]',
    about: 'how two runs differ [B: this run]',
    run(rest, { found, given, isJson }) {
      const [one, other = found.file, ...more] = wordsIn(rest)
      if (one === undefined || more.length > 0)
        throw wrong('compare takes one tape, or two', ['like this: compare refund-99x'])
      const dir = given.value('dir')
      return captured(['diff', other, one, ...(dir === undefined ? [] : ['--dir', dir])], isJson)
    },
  },
}

async function branch(rest: string, { found, given, isJson, session, budget }: DebugContext): Promise<Answer> {
  const parent = parentInDebugger(session.tape, found, given)
  // The command that keeps the tape forks the agent of the case or tape.
  if (agentOf(parent) !== agentOf({ ...parent, agent: undefined }))
    throw wrong(`branch runs the agent of the tape, not ${neutralLine(agentOf(parent), 40)}`, [
      `to see how that one ends: what_if ${rest}`,
    ])
  const { step, changes, options } = askedFor(rest, 'branch', session)
  const said = changes.filter((change) => isSaid(change))
  if (said.length > 1) throw wrong('a model says one text', [`as one text: branch ${step} "${said.join(' ')}"`])
  for (const change of said) requireModel(session.tape, step, change, 'branch')
  const argv = [
    'fork',
    here(found.file),
    ...changeOptions(step, changes),
    '--save',
    ...handOn(given, options),
    ...options,
  ]
  const typed = typedWords()
  let purse: Purse | undefined
  const run: Command['run'] = async (input, screen) => {
    const { runFork } = await import('../commands/fork.ts')
    const runs = readWhole(input, forkSpec, 'runs') ?? 1
    const prices = readPrices(parent.recordings) ?? {}
    const line = { text: `branch ${rest}`, tape: session.tape, runs: 2 * runs, prices }
    // What is typed again is the debugger.
    const limits = saysToPay(input) ? asTyped(typed, () => budget.within(budget.ofLine(input), line)) : {}
    return runFork(input, screen, { limits, onPurse: (one) => (purse = one) })
  }
  return captured(argv, isJson, run).finally(() => purse && budget.add(purse.spent))
}

/** One change and how the runs ended that were made with it. */
export interface WhatIfRow {
  readonly change: string
  readonly sum: Together
  readonly beside: Beside | undefined
  readonly branches: readonly BranchSummary[]
}

async function whatIf(rest: string, context: DebugContext): Promise<Answer> {
  const paid: Purse[] = []
  const spent = (): Spent => sumSpent(paid.map((purse) => purse.spent))
  // Also what a line paid that ends with an error.
  return ask(rest, context, paid)
    .catch((error: unknown) => {
      throw withSpent(asSameLine(error), spent())
    })
    .finally(() => context.budget.add(spent()))
}

async function ask(rest: string, { session, found, given, budget }: DebugContext, paid: Purse[]): Promise<Answer> {
  const { step, changes, options } = askedFor(rest, 'what_if', session)
  const tape = requireReplayable(session.tape)
  const parent = parentInDebugger(tape, found, given)
  const argvOf = (change: string): readonly string[] => [
    'fork',
    here(found.file),
    ...changeOptions(step, [change]),
    ...handOn(given, options),
    ...options,
  ]
  const asks = await Promise.all(
    changes.map((change) => {
      const argv = argvOf(change)
      if (isSaid(change)) requireModel(tape, step, change, 'what_if')
      return asCommand(argv, () => askIn(argv, change, tape))
    }),
  )
  const input = asks[0]?.input ?? given
  if (input.has('save'))
    throw wrong(
      'what_if keeps no tape',
      changes.map(
        (one) =>
          `to keep it: ${forkLine(
            'branch',
            step,
            [one],
            options.filter((option) => !isOption(option, 'save')),
          )}`,
      ),
    )
  const runs = readWhole(input, forkSpec, 'runs') ?? 1
  const first = readWhole(input, forkSpec, 'seed') ?? 1
  // Of all changes together: what is wrong is typed again with each of them.
  const ofLine = async <T>(run: () => T | Promise<T>): Promise<T> =>
    inDebugger('what_if', given, () => asCommand(argvOf(changes[0] ?? ''), run), changes)
  if (input.has('live')) await ofLine(() => refuseOtherForkCode(parent, input))
  const named: string[] = []
  await ofLine(() => lookAtNames(parent, input, { note: (text) => void named.push(...text.split('\n')) }))
  const { parallel, timeoutMs } = readLivePlan(input, forkSpec)
  const own = budget.ofLine(input)
  const mayPay = saysToPay(input)
  const pairs = withControls(
    asks.flatMap(({ ask }) => Array.from({ length: runs }, (_, n) => ({ ...ask, seed: `${first + n}` }))),
  )
  const prices = readPrices(parent.recordings) ?? {}
  const line = { text: `what_if ${rest}`, tape, runs: pairs.requests.length, prices }
  const purse = new Purse(mayPay ? budget.within(own, line) : {}, prices, mayPay)
  paid.push(purse)
  const grader = await ofLine(() => graderOf(parent, input, purse))
  const forks = await makeForks(parent, pairs.requests, {
    parallel,
    isFresh: input.has('no-cache'),
    together: pairs.together,
    purse,
    timeoutMs,
    onProgress: () => {},
  })
  const { changed, controls } = apart(await tellBranches(tape, forks, grader), pairs.together)
  const rows = asks.map(({ change }, index): WhatIfRow => {
    const mine = <T>(all: readonly T[]): readonly T[] => all.slice(index * runs, (index + 1) * runs)
    const sum = together(mine(changed))
    return { change, sum, beside: tellBeside(sum, mine(controls)), branches: mine(changed) }
  })
  const { differs } = forks.control.data
  const lineWith = (room: OptionChanges): string => {
    const more = Object.entries(room).map(([name, value]) => `--${name}=${String(value)}`)
    return forkLine('what_if', step, changes, [...withoutOptions(options, more), ...more])
  }
  const isLive = input.has('live')
  const isOpen = rows.some(({ sum, beside }) => !isAnswered(sum, beside, isLive))
  const { interrupted } = endedAt(forks, grader)
  // Of what was ended, calls of forks that did not end too.
  const spent = interrupted === undefined ? spentOn(rows) : purse.forks
  return {
    ...(isOpen ? { isOpen } : {}),
    ...(interrupted === undefined ? {} : { isPart: true }),
    lines: [
      ...named,
      ...asks.flatMap(({ notes }) => notes),
      ...forks.anew,
      ...(differs === undefined ? [] : [controlLine(differs)]),
      ...rowLines(rows, isLive, { spent, ...(purse.grading && { grading: purse.grading }) }),
      ...purse.passed,
      ...(interrupted === undefined ? [] : [stoppedText(interrupted, 'forks'), sameLine(forks)]),
      ...lostLines(changed),
      ...toAllRuns([...changed, ...controls], {
        tape,
        purse,
        line: (room) => (budget.binds(own) ? typedAgain(budget.withRoom(line.text, room)) : lineWith(room)),
      }),
    ],
    data: {
      step,
      differs: differs ?? null,
      ...(interrupted === undefined ? {} : { interrupted }),
      spent,
      ...(purse.grading === undefined ? {} : { grading: purse.grading }),
      rows: rows.map(({ change, sum, beside, branches }, index) => ({
        change,
        ...sum,
        notes: asks[index]?.notes ?? [],
        ...(beside === undefined ? {} : { beside }),
        first: branches[0]?.compared?.first ?? null,
        problems: branches.flatMap(({ problems }) => problems),
      })),
    },
  }
}

/** How a line goes on that someone ended; a script and the prompt know which line it is. */
function sameLine({ made }: MadeForks): string {
  const isKept = made.some(({ key }) => key !== undefined)
  return isKept
    ? '→ to go on, as forks that ended are kept: the same line, without --no-cache'
    : '→ to begin again, as no fork is kept here: the same line'
}

/** Of what was ended before its first fork did. */
function asSameLine(error: unknown): unknown {
  if (!HarvestError.is(error, 'HARVEST_CLI_INTERRUPTED')) return error
  const fix = error.facts.fix?.map((step) => step.replace(/: .*/s, ': the same line, without --no-cache'))
  return withFacts(error, fix === undefined ? {} : { fix })
}

/** Said otherwise: what left the tape with what to type, and what was ended by how far it had come. */
const saidApart: ReadonlySet<string> = new Set(['HARVEST_NOT_RECORDED', 'HARVEST_CLI_INTERRUPTED'])

/** Why runs could not be judged. */
function lostLines(branches: readonly BranchSummary[]): readonly string[] {
  const lost = branches.flatMap(({ compared, problems: [problem] }) =>
    compared === undefined && problem !== undefined && !saidApart.has(problem.code) ? [problem] : [],
  )
  const byText = Map.groupBy(lost, ({ code, message }) => `${message.split('\n', 1)[0]} (${code})`)
  return [...byText].map(([text, all]) => neutralLine(`${all.length} not judged: ${text}`, 200))
}

/** The same line with limits that all runs fit into, where one was reached. */
function toAllRuns(
  branches: readonly BranchSummary[],
  {
    tape,
    purse: { limits, prices, mostOfGrade: grading },
    line,
  }: {
    readonly tape: Tape
    readonly purse: Purse
    readonly line: (room: OptionChanges) => string
  },
): readonly string[] {
  const codes = branches.flatMap(({ problems }) => problems.map(({ code }) => code))
  const room = roomForAll({ codes, runs: () => [[tape, branches.length]], grading, limits, prices })
  return Object.keys(room).length === 0 ? [] : [`→ to leave room for all runs: ${line(room)}`]
}

/** The table of `what_if`. Where a model is asked, each rate stands with its interval. */
export function rowLines(
  rows: readonly WhatIfRow[],
  isLive: boolean,
  { spent = spentOn(rows), grading }: { readonly spent?: Spent; readonly grading?: Spent } = {},
): readonly string[] {
  const isGraded = rows.some(({ sum, beside }) => areGraded(sum) || beside?.compares === 'ok')
  // Beside the number that it is compared with.
  const unchanged = (isHere: boolean, cell: string): readonly string[] => (isLive && isHere ? [cell] : [])
  const titles = [
    'change',
    ...(isGraded ? ['ok'] : []),
    ...unchanged(isGraded, 'ok unchanged'),
    'as recorded',
    '95 %',
    ...unchanged(!isGraded, 'unchanged'),
    'first difference',
  ]
  const cells = rows.map(({ change, sum, beside, branches }) => {
    const { judged, asRecorded, interval, grades, forks } = sum
    const open = judged < forks ? `; ${forks - judged} not judged` : ''
    const [first] = branches
    const difference = first?.compared?.first
    const why = first?.compared === undefined ? (first?.problems[0]?.code ?? '') : ''
    return [
      neutralLine(change, 36),
      ...(isGraded ? [isLive ? shareText(gradedOk(sum)) : judged === 0 ? '' : gradesText(grades)] : []),
      ...unchanged(isGraded, besideText(sum, beside)),
      judged === 0 ? 'not judged' : asRecorded === null ? 'not compared' : `${asRecorded} of ${judged}${open}`,
      interval === undefined ? '' : describeInterval(interval),
      ...unchanged(!isGraded, besideText(sum, beside)),
      difference === undefined ? why || 'none' : neutralLine(differenceText(difference), 44),
    ]
  })
  const isOffTape = rows.some(({ branches }) =>
    branches.some(({ problems }) => problems.some(({ code }) => code === 'HARVEST_NOT_RECORDED')),
  )
  const areReal = areToolsReal(rows.flatMap(({ branches }) => branches))
  return [
    ...table([titles, ...cells]).split('\n'),
    ...spentLines(spent, grading, areReal),
    ...(isOffTape
      ? [
          isLive
            ? `→ the tape does not hold what a tool answers then; to run tools for real: ${addTools}`
            : `→ the tape does not hold what the model says then; to ask it: ${addLive}`,
        ]
      : []),
  ]
}

/** All rows together, with the unchanged runs beside them. */
function spentOn(rows: readonly WhatIfRow[]): Spent {
  return sumSpent(rows.flatMap(({ sum, beside }) => [sum.spent, ...(beside === undefined ? [] : [beside.spent])]))
}

function besideText(sum: Together, beside: Beside | undefined): string {
  if (beside === undefined) return ''
  const chance = beside.chance === null ? '' : `, chance ${beside.chance.toPrecision(2)}`
  return `${shareText(sharesOf(sum, beside).unchanged)}${chance}`
}

/** Only where a model is asked does another run end otherwise. */
function shareText(hits: Hits | undefined): string {
  return hits === undefined ? 'undecided' : describeRate(hits.hits, hits.runs, hits.lost)
}

function gradesText(grades: Together['grades'] = {}): string {
  const graded = withGrade({ grades })
  return graded === 0 ? 'no grade' : `${grades.ok ?? 0} of ${graded}`
}

interface Asked {
  readonly step: number
  readonly changes: readonly string[]
  /** Options of `fork` behind the changes. */
  readonly options: readonly string[]
}

function askedFor(
  rest: string,
  command: ForkCommand,
  { at, tape }: Pick<DebugContext['session'], 'at' | 'tape'>,
): Asked {
  const [word = '', ...others] = changesIn(rest)
  if (/^[^\d-]/.test(word)) throw wrong('the number of a step is missing', [`at this step: ${command} ${at} ${rest}`])
  const exampleAt = (step: number, options: readonly string[] = []): string => {
    const change = exampleChange(tape, step)
    return change === undefined ? `${command} N CHANGE` : forkLine(command, step, [change], options)
  }
  const step = numberIn(word, exampleAt(at))
  const { changes, options } = partsOf(others)
  if (changes.length === 0) throw wrong('a change is missing', [`like this: ${exampleAt(step, options)}`])
  return { step, changes, options }
}

/** How a change is written as options of `fork`. */
function changeOptions(step: number, changes: readonly string[]): readonly string[] {
  return ['--step', `${step}`, ...changes.flatMap(changeOption)]
}

/** `path=value`, `refund(amount=10)`, `s/old/new/`; all else is what the model says. */
function changeOption(change: string): readonly string[] {
  if (/^s[^\w\s\\].*/.test(change)) return [`--edit=${change}`]
  if (/^[\w.:/-]+\(.*\)$/s.test(change)) return [`--decide=${change}`]
  if (/^(?:result|error|args|body|status|events|request|response|input)\b[^\s=]*=/.test(change))
    return [`--set=${change}`]
  return [`--say=${change}`]
}

/** Whether a change is what the model says. */
function isSaid(change: string): boolean {
  return changeOption(change)[0]?.startsWith('--say=') === true
}

function isOption(word: string, name: string): boolean {
  return word === `--${name}` || word.startsWith(`--${name}=`)
}

/** Options of a line without those that others set. */
function withoutOptions(options: readonly string[], others: readonly string[]): readonly string[] {
  const names = others.map((word) => word.slice(2).split('=', 1)[0] ?? '')
  return options.filter((word, at) => {
    const isOne = (text: string): boolean => names.some((name) => isOption(text, name))
    const before = options[at - 1]
    return !isOne(word) && !(before !== undefined && isOne(before) && !before.includes('='))
  })
}

/** What a change asks for, and what is to be said about it. */
function askIn(argv: readonly string[], change: string, tape: Tape) {
  const parsed = parse(argv, specs)
  if (parsed.kind !== 'run') throw wrong('help has no place here', ['for its form: help what_if'])
  const input = parsed.given
  const strange = lookAtDecisions(input, tape, forkSpec)
  const ask = readAsk(input, tape, forkSpec)
  const typed = input.values('decide').map((word) => readCall(word, forkSpec).args)
  const completed = (ask.changes ?? []).flatMap((one) => {
    const { after, beside } = tellChange(tape, one)
    if (!('decide' in one) || 'say' in one.decide || beside === undefined) return []
    const isAsTyped = isDeepStrictEqual(
      typed,
      one.decide.calls.map(({ args }) => args),
    )
    const more = recordedText(isAsTyped ? { ...beside, kept: [] } : beside)
    return more === '' ? [] : [neutralLine(`${change}: the model decides ${after}${more}`, 200)]
  })
  return { change, input, ask, notes: [...strange, ...completed] }
}

/** But for those that the line sets itself. */
function handOn(given: CommandInput, options: readonly string[]): readonly string[] {
  const isLive = given.has('live') || options.some((option) => isOption(option, 'live'))
  return handedOn.flatMap((name) =>
    // Who answers tools is asked of live lines alone.
    options.some((option) => isOption(option, name)) || (name === 'tools' && !isLive)
      ? []
      : given.values(name).flatMap((value) => (value === '' ? [`--${name}`] : [`--${name}=${value}`])),
  )
}

/** With the agent that the code is stopped in. */
function parentInDebugger(tape: Tape, found: DebugContext['found'], given: CommandInput): Parent {
  const [agent, module] = [given.value('agent'), given.value('module')]
  if (module !== undefined)
    throw wrong(`forks run an agent of the Vitest config, and this one is ${neutralLine(module, 80)}`, [
      'to fork it: name it in the Vitest config, and debug it with --agent',
    ])
  return { ...parentOf(tape, found, given), ...(agent === undefined ? {} : { agent }) }
}
