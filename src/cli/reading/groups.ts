import { stepsElsewhere } from '../../errors/above.ts'
import { here } from '../../errors/here.ts'
import { neutralLine } from '../../errors/index.ts'
import { groupTapes, type TapeGroup, type TapeGroups } from '../../recordings/index.ts'
import { columnsOf } from '../../report/fold.ts'
import { type Screen, tableRows, tableWidth, widthOfRows } from '../../report/output.ts'
import { type CommandInput, program } from '../command.ts'
import { exit } from '../exit.ts'
import { dirOption, tapeWord } from '../named-tape.ts'
import { type NextStep, printSteps } from '../next-steps.ts'
import { usage } from '../parse.ts'
import { lsSpec } from '../spec/inspect.ts'
import { filterOf } from '../tape-filter.ts'

/** Lists groups of runs that decided the same and ended alike, the largest first. */
export async function listGroups(
  given: CommandInput,
  { dir, limit }: { readonly dir: string; readonly limit?: number },
  screen: Screen,
): Promise<number> {
  if (given.has('sort'))
    throw usage(lsSpec, 'HARVEST_CLI_ARGUMENT', '--group lists the largest first: leave out --sort', [
      'without: the same command, without --sort',
    ])
  const query = { filter: filterOf(given, Date.now(), lsSpec), ...(limit === undefined ? {} : { limit }) }
  const found = await groupTapes(dir, query, (done, total) => screen.progress(`reading ${done} of ${total} tapes`))
  screen.progress('')
  if (found.note !== undefined) screen.note(found.note)
  if (given.has('json')) screen.json(asJson(found))
  else print(found, dir, given, screen)
  return found.unreadable.length === 0 ? exit.ok : exit.tape
}

function asJson({ groups, unreadable, more, total, note }: TapeGroups): object {
  return {
    groups: groups.map(({ first, last, newest, ...group }) => ({
      ...group,
      ...(first === undefined ? {} : { first: new Date(first).toISOString() }),
      ...(last === undefined ? {} : { last: new Date(last).toISOString() }),
      newest: { id: newest.id, file: here(newest.file) },
    })),
    unreadable: unreadable.map(({ file, problem }) => ({ file, ...problem })),
    more,
    total,
    ...(note === undefined ? {} : { note }),
  }
}

function print(
  { groups, unreadable, more, total }: TapeGroups,
  dir: string,
  given: CommandInput,
  screen: Screen,
): void {
  const [first] = groups
  if (first === undefined)
    screen.note(total === 0 ? ['no tapes', ...stepsElsewhere(dir)].join('\n→ ') : `none of ${total} tapes fits`)
  else for (const line of rowsOf(groups, screen).flat()) screen.line(line)
  for (const { file, problem } of unreadable)
    screen.note(`${neutralLine(file, 400)}: ${neutralLine(problem?.what ?? '')} (${problem?.code})`)
  if (more > 0) screen.note(`and ${more} more groups\n→ to see all: --limit all`)
  printSteps(nextSteps(first, given.value('dir')), (text) => screen.note(text))
}

function rowsOf(groups: readonly TapeGroup[], screen: Screen): readonly (readonly string[])[] {
  const head = ['runs', 'agent', 'decided', 'ended', 'last', 'newest'].map((cell) => screen.paint('dim', cell))
  const cells = groups.map(({ count, agent = '', decisions, ending, last, newest }) => [
    `${count}`,
    neutralLine(agent, 24),
    neutralLine(decisions.join(' → ') || 'nothing'),
    neutralLine(ending, 32),
    last === undefined ? '' : new Date(last).toISOString().slice(0, 10),
    neutralLine(newest.id ?? '', 40),
  ])
  const whole = tableRows([head, ...cells], [0], Infinity)
  const excess = widthOfRows(whole) - tableWidth
  // What goes into a pipe is searched there.
  if (excess <= 0 || !process.stdout.isTTY) return whole
  const widest = Math.max(...cells.map((row) => columnsOf(row[2] ?? '')))
  const cut = cells.map((row) => row.with(2, neutralLine(row[2] ?? '', Math.max(16, widest - excess))))
  return tableRows([head, ...cut], [0])
}

/** From the largest group to its newest run. */
function nextSteps(group: TapeGroup | undefined, dir: string | undefined): readonly NextStep[] {
  if (group === undefined) return []
  const read = `${program} show ${tapeWord(group.newest.file, dir)}${dirOption(dir)}`
  return [{ about: 'to read the newest run of the first group', command: read }]
}
