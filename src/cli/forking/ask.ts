import { resolve } from 'node:path'
import { HarvestError, nearestWord, neutralLine, shellWord } from '../../errors/index.ts'
import type { ChangeRequest, ForkRequest, TailRequest } from '../../fork/index.ts'
import { stepsOf, type Tape } from '../../tape/index.ts'
import type { CommandSpec, CommandInput } from '../command.ts'
import { findRun } from '../find.ts'
import { readWhole } from '../live.ts'
import { requireModule } from '../live-grading.ts'
import { badValue, usage } from '../parse.ts'
import { changesOf } from './changes.ts'
import { toNameStep } from './step-hint.ts'
import { readClock, readModes } from './words.ts'

/** What all forks of one command have in common; a seed makes a fork of it. */
export type ForkAsk = Omit<ForkRequest, 'seed'>

/**
 * Reads the options that say what a fork is.
 *
 * @throws HarvestError `HARVEST_CLI_ARGUMENT`, `HARVEST_FORK_STEP`, `HARVEST_FORK_MARK`, and those of the changes
 */
export function readAsk(given: CommandInput, tape: Tape, command: CommandSpec): ForkAsk {
  const step = readStep(given, tape, command)
  const changes = changesOf(given, step, tape, command)
  const modes = readModes(given.value('mode'), command)
  const clockOffsetMs = readClock(given.value('clock'), command)
  const agent = given.value('continue-with')
  const tail = readTail(given, command)
  if (modes !== undefined && tail.from !== 'live' && Object.values(modes).includes('live'))
    throw needsLive('a live step', '--mode', command)
  return {
    keep: keepOf(changes, step, tape, command),
    tail,
    ...(changes.length === 0 ? {} : { changes }),
    ...(modes === undefined ? {} : { modes }),
    ...(clockOffsetMs === undefined ? {} : { clockOffsetMs }),
    ...(agent === undefined ? {} : { agent }),
  }
}

/** Who answers behind the kept steps. */
export function readTail(given: CommandInput, command: CommandSpec): TailRequest {
  const isLive = given.has('live')
  const word = given.value('tail') ?? (isLive ? 'live' : 'tape')
  const server = given.value('model-server')
  const tools = given.value('tools')
  if (word === 'live') {
    if (!isLive)
      throw usage(
        command,
        'HARVEST_CLI_ARGUMENT',
        '--tail live calls live models, which costs money: confirm with --live',
        ['to confirm: --live'],
      )
    if (server !== undefined && !URL.canParse(server)) throw badValue(command, 'model-server', server, 'a URL')
    if (tools !== undefined && tools !== 'tape' && tools !== 'live')
      throw badValue(command, 'tools', tools, 'tape or live')
    return {
      from: 'live',
      ...(server === undefined ? {} : { baseUrl: server }),
      ...(tools === undefined ? {} : { tools }),
    }
  }
  if (isLive)
    throw usage(command, 'HARVEST_CLI_ARGUMENT', `--live and --tail ${neutralLine(word, 40)} exclude each other`, [
      'to continue with live models: the same command, without --tail',
      'to ask no model: the same command, without --live',
    ])
  const needy = server === undefined ? (tools === undefined ? undefined : 'tools') : 'model-server'
  if (needy !== undefined) throw needsLive(`--${needy}`, '--tools and --model-server', command)
  if (word === 'tape') return { from: 'tape' }
  const [, script, name = 'default'] = /^(.+\.[cm]?[jt]s)(?:#(.+))?$/.exec(word) ?? []
  if (script === undefined) return { from: 'reference', file: referenceOf(word, given, command) }
  requireModule(resolve(script), { option: 'tail', name: word, command })
  return { from: 'script', file: resolve(script), export: name }
}

/** A word that is nothing else is the name of a run, or mistyped. */
function referenceOf(word: string, given: CommandInput, command: CommandSpec): string {
  try {
    return resolve(findRun(word, given.value('dir')).file)
  } catch (error) {
    if (!HarvestError.is(error, 'HARVEST_TAPE_MISSING')) throw error
    const near = nearestWord(word, ['tape', 'live'])
    const others = (error.facts.fix ?? []).filter((step) => step.startsWith('did you mean'))
    throw badValue(command, 'tail', word, 'tape, live, a tape or case, or a file#export', [
      ...(near === undefined ? others : []),
      ...(near === 'tape' ? ['did you mean tape? --tail tape'] : []),
      ...(near === 'live' ? ['did you mean live models? --live, without --tail'] : []),
      'to see the runs: npx vitest-harvest ls',
    ])
  }
}

/** @param without - the options that need it */
function needsLive(what: string, without: string, command: CommandSpec): HarvestError {
  return usage(command, 'HARVEST_CLI_ARGUMENT', `${what} needs --live`, [
    'to call live models: --live, without --tail',
    `to call none: the same command, without ${without}`,
  ])
}

function readStep(given: CommandInput, tape: Tape, command: CommandSpec): number | undefined {
  const step = readWhole(given, command, 'step')
  const count = stepsOf(tape).length
  if (step === undefined || step <= count) return step
  throw new HarvestError('HARVEST_FORK_STEP', {
    what: `The tape has no step ${step}`,
    where: { tape: tape.header.id, steps: count === 0 ? 'none' : `1 to ${count}` },
    fix: [`to see them: npx vitest-harvest show ${shellWord(tape.header.id)}`],
  })
}

/** A step that gets another answer is kept; one that is resampled is not. */
function keepOf(changes: readonly ChangeRequest[], step: number | undefined, tape: Tape, command: CommandSpec): number {
  const marks = changes.flatMap((change) => ('mark' in change ? [stepsBefore(change, tape)] : []))
  if (changes.some((change) => 'step' in change)) return step ?? 0
  if (step !== undefined) return step - 1
  if (marks.length > 0) return Math.min(...marks)
  // Another input is another run from its beginning.
  if (changes.length > 0) return 0
  const what = 'fork needs --step <n>: from which step on the run may be another one'
  throw usage(command, 'HARVEST_CLI_ARGUMENT', what, toNameStep)
}

/** @throws HarvestError `HARVEST_FORK_MARK` */
function stepsBefore({ mark: name, data }: Extract<ChangeRequest, { readonly mark: string }>, tape: Tape): number {
  const marks = tape.events.flatMap((event) => (event.kind === 'mark' ? [event] : []))
  const mark = marks.find((one) => one.name === name)
  if (mark !== undefined) return stepsOf(tape).filter(({ n }) => n < mark.n).length
  const known = [...new Set(marks.map((one) => one.name))]
  const near = nearestWord(name, known)
  throw new HarvestError('HARVEST_FORK_MARK', {
    what: `The tape has no mark '${neutralLine(name, 60)}'`,
    where: { tape: tape.header.id, marks: known.length === 0 ? 'none' : neutralLine(known.join(', '), 200) },
    fix:
      near === undefined
        ? []
        : [`did you mean ${neutralLine(near, 60)}? --mark ${shellWord(`${near}=${JSON.stringify(data)}`)}`],
  })
}
