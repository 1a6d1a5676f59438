import { canMutate } from '../../blame/mutants.ts'
import { requireTapeFile } from '../../cases/index.ts'
import { findCase } from '../../recordings/index.ts'
import { readTape } from '../../tape/index.ts'
import { neutralLine, shellWord } from '../../errors/index.ts'
import { counted } from '../../errors/words.ts'
import type { FlakyCase, Health } from '../../check/index.ts'
import { type Screen, table } from '../../report/output.ts'
import type { CommandInput } from '../command.ts'
import { readLimits } from '../commands/pins.ts'
import { checkSpec } from '../spec/test.ts'
import { exit } from '../exit.ts'
import { usage } from '../parse.ts'
import { noCases } from './print.ts'

/** Says how well a golden set is kept. Judges nothing: what is found is for a person to decide. */
export async function printHealth(given: CommandInput, screen: Screen): Promise<number> {
  if (given.args.length > 0)
    throw usage(checkSpec, 'HARVEST_CLI_ARGUMENT', '--health looks at all cases: name none', [
      'for all of them: the same command, with no argument',
    ])
  const { checkHealth } = await import('../../check/index.ts')
  const recordings = given.value('dir') ?? 'recordings'
  screen.progress('reading the golden set')
  const health = await checkHealth(recordings, readLimits(given))
  screen.progress('')
  if (given.has('json')) screen.json(health)
  else print(health, recordings, screen)
  return health.unreadable.length === 0 ? exit.ok : exit.usage
}

function print(health: Health, recordings: string, screen: Screen): void {
  const { cases, stale, flaky, redundant, idleTools, neverRed, unreadable } = health
  if (cases.length === 0 && unreadable.length === 0) return screen.note(noCases(recordings))
  const rows = [
    ...stale.flatMap(({ id, reasons }) => reasons.map((reason) => ['stale', id, reason])),
    ...flaky.map((one) => ['flaky', one.id, flakyText(one)]),
    ...redundant.map(({ id, coveredBy }) => [
      'redundant',
      id,
      `${coveredBy.map((other) => neutralLine(other, 40)).join(', ')} ${coveredBy.length === 1 ? 'does' : 'do'} all it does, with other values`,
    ]),
    ...idleTools.map(({ agent, tool, offeredIn, calledInInbox }) => [
      'no case',
      neutralLine(tool, 40),
      `a tool of ${neutralLine(agent, 40)}: ${[
        ...(offeredIn > 0 ? [`offered in ${counted(offeredIn, 'case')}`] : []),
        ...(calledInInbox > 0 ? [`called in ${counted(calledInInbox, 'tape')} of the inbox`] : []),
      ].join(', ')}, called in no case`,
    ]),
    ...neverRed.map(({ id }) => [
      health.historyUnknown === undefined ? 'never red' : 'unknown',
      id,
      neverRedText(health),
    ]),
  ]
  if (rows.length > 0)
    screen.line(
      table(rows.map(([kind = '', id = '', why = '']) => [screen.paint('yellow', kind), neutralLine(id, 40), why])),
    )
  for (const { file, code, what } of unreadable) screen.note(`${neutralLine(file, 300)}: ${what} (${code})`)
  if (rows.length > 0) screen.line()
  screen.line(summary(health))
  if (health.flakyUnknown.length > 0)
    screen.line(`flakiness unknown for ${counted(health.flakyUnknown.length, 'case')}: no live run is known here`)
  for (const next of nextSteps(health, recordings)) screen.line(`→ ${next}`)
}

function flakyText({ passed, runs, at, by }: FlakyCase): string {
  const what = by === 'rerun' ? 'live runs passed' : 'asks of the recorded question were good'
  return `${passed} of ${runs} ${what}, ${neutralLine(at.slice(0, 10), 10)}`
}

function neverRedText({ historyUnknown }: Health): string {
  return historyUnknown === undefined
    ? 'no fix, update, acceptance or proof, today or in a commit'
    : `the case has no trace of a red test, and ${historyUnknown}`
}

function summary({ cases, stale, flaky, redundant, idleTools, neverRed, historyUnknown }: Health): string {
  const red = historyUnknown === undefined ? 'never red' : 'not known to have been red'
  const tools = idleTools.length === 0 ? 'every tool has a case' : `${counted(idleTools.length, 'tool')} without a case`
  return `${counted(cases.length, 'case')}: ${stale.length} stale, ${flaky.length} flaky, ${redundant.length} redundant, ${neverRed.length} ${red}; ${tools}`
}

/** Each with the first case it is about, to be pasted. */
function nextSteps(
  { stale, flaky, flakyUnknown, redundant, idleTools, neverRed }: Health,
  recordings: string,
): readonly string[] {
  const [old] = stale
  const shaky = flaky.find(({ id }) => hasAnswersToMutate(recordings, id))
  const [spare] = redundant
  const [idle] = idleTools
  const [green] = neverRed
  return [
    ...(old === undefined ? [] : [`what changed since: npx vitest-harvest check --pins ${shellWord(old.id)}`]),
    // Its recorded run is good: what is asked is which of its answers would make it bad.
    ...(shaky === undefined
      ? []
      : [`which answers decide: npx vitest-harvest blame ${shellWord(shaky.id)} --mutate --dry-run --cross-version`]),
    ...(flakyUnknown.length === 0 ? [] : ['how often do they pass live: npx vitest-harvest rerun --golden --live']),
    ...(spare === undefined
      ? []
      : [`if its values guard nothing: npx vitest-harvest tapes demote ${shellWord(spare.id)}`]),
    ...(idle === undefined
      ? []
      : idle.calledInInbox > 0
        ? [`to find a run for it: npx vitest-harvest ls --inbox --tool ${shellWord(idle.tool)}`]
        : ['a tool that is never called can go, or needs a run: record one and promote it']),
    ...(green === undefined
      ? []
      : [`break the agent once, and see it red: npx vitest-harvest test ${shellWord(green.id)}`]),
  ]
}

/** Of one that only speaks to people, no answer has an alternative. */
function hasAnswersToMutate(recordings: string, id: string): boolean {
  const { case: kase } = findCase(recordings, id)
  return kase !== undefined && canMutate(readTape(requireTapeFile(kase)))
}
