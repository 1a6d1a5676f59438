import { stepsElsewhere } from '../../errors/above.ts'
import { grouped } from '../../errors/words.ts'
import { toRecord } from '../../errors/usual-steps.ts'
import { existsSync } from 'node:fs'
import { here } from '../../errors/here.ts'
import { neutralLine, shellWord } from '../../errors/index.ts'
import {
  outcomeOf,
  holdsOfList,
  leftoversBelow,
  type ListedTape,
  mapTapes,
  queryTapes,
  type TapeList,
  tokensOf,
} from '../../recordings/index.ts'
import { readTapeHeader } from '../../tape/index.ts'
import { createRedactor } from '../../privacy/index.ts'
import { choose } from '../choose.ts'
import { listGroups } from '../reading/groups.ts'
import { caseFinder, columns, ListedRows } from '../reading/listed-rows.ts'
import { lsSpec } from '../spec/inspect.ts'
import { filterOptions } from '../spec/inspect.ts'
import type { Command, CommandInput } from '../command.ts'
import { exit } from '../exit.ts'
import { printSteps, stepsAfterList } from '../next-steps.ts'
import { badValue, usage } from '../parse.ts'
import { defined, filterOf } from '../tape-filter.ts'
import { columnsOf } from '../../report/fold.ts'
import { type Screen, tableLines, tableRows, tableWidth, widthOfRows } from '../../report/output.ts'

/** Lists the tapes of a folder, oldest first. */
export const lsCommand: Command = {
  ...lsSpec,
  async run(given, screen) {
    const dir = given.value('dir') ?? 'recordings'
    // A typo in the folder's name must not look like an empty folder.
    if (given.has('dir') && !existsSync(dir))
      throw usage(lsCommand, 'HARVEST_CLI_ARGUMENT', `there is no folder ${dir}`, [
        'to list recordings/: the same command, without --dir',
      ])
    if (given.has('group')) return listGroups(given, { dir, ...limitOf(given) }, screen)
    const query = {
      filter: filterOf(given, Date.now(), lsSpec),
      sort: choose(given, 'sort', ['started', 'cost', 'duration', 'steps'], lsCommand) ?? 'started',
      ...limitOf(given),
    }
    const onProgress = (done: number, total: number): void => screen.progress(`reading ${done} of ${total} tapes`)
    const told = <T>(list: TapeList<T>, tell: (list: TapeList<T>) => void): number => {
      screen.progress('')
      if (list.note !== undefined) screen.note(list.note)
      tell(list)
      return list.unreadable.length + notSearched(given, dir, screen) === 0 ? exit.ok : exit.tape
    }
    if (given.has('json'))
      return told(await queryTapes(dir, query, onProgress), (list) => screen.json(asJson(list, dir)))
    let rows = new ListedRows(dir)
    const begin = (): ((tape: ListedTape) => number) => {
      rows = new ListedRows(dir)
      return (tape) => rows.add(tape)
    }
    return told(await mapTapes(dir, query, begin, onProgress), (list) => print(list, rows, dir, given, screen))
  },
}

/** Says what was not looked through for all that is about someone. @returns how many files that are */
function notSearched(given: CommandInput, dir: string, screen: Screen): number {
  if (!given.has('text') && !given.has('subject')) return 0
  const left = leftoversBelow(dir)
  if (left.length > 0)
    screen.note(
      `not searched: ${number(left.length)} ${left.length === 1 ? 'file' : 'files'} that killed processes left half-written\n→ to remove what they left: npx vitest-harvest tapes prune --dir ${shellWord(dir)}`,
    )
  return left.length
}

/** Lines that fit a screen or two. */
const terminalLimit = 50

function limitOf(given: CommandInput): { readonly limit?: number } {
  const text = given.value('limit')
  if (text === 'all') return {}
  if (text === undefined) return process.stdout.isTTY && !given.has('json') ? { limit: terminalLimit } : {}
  if (/^[1-9]\d{0,8}$/.test(text)) return { limit: Number(text) }
  throw badValue(lsCommand, 'limit', text, 'a number of tapes from 1, or all')
}

function asJson({ tapes, unreadable, more, total, note }: TapeList, dir: string): object {
  const casesOf = caseFinder(dir)
  const holdOf = holdsOfList()
  return {
    tapes: tapes.map((tape) => {
      const { file, place, state, outcome, commit, retention, until, ...rest } = tape
      const { usage: _, counted: __, hold: ___, decisions: ____, ending: _____, ended: ______, ...facts } = rest
      const cases = casesOf(tape)
      const held = holdOf(file, tape.hold)
      return {
        ...facts,
        outcome: outcome ?? state,
        file: here(file),
        place,
        pins: defined({ commit }),
        ...tokensOf(tape),
        ...valuesOf(tape),
        ...(retention !== undefined && { retention: defined({ class: retention, until }) }),
        ...(held !== undefined && { hold: held.reason }),
        ...(cases.length > 0 && { cases }),
      }
    }),
    unreadable: unreadable.map(({ file, problem }) => ({ file, ...problem })),
    more,
    total,
    ...(note !== undefined && { note }),
  }
}

/** What the run was given, returned or threw: whole, from the tape. */
function valuesOf({ file, state, ended }: ListedTape): object {
  const { input } = readTapeHeader(file)
  const outcome = state === 'closed' ? (ended ?? outcomeOf(file)) : undefined
  return defined({
    input,
    result: outcome?.status === 'returned' ? outcome.value : undefined,
    error: outcome?.status === 'threw' ? outcome.error : undefined,
  })
}

function print(list: TapeList<unknown>, rows: ListedRows, dir: string, given: CommandInput, screen: Screen): void {
  const { tapes, unreadable, more, total, withoutCost } = list
  if (tapes.length === 0 && unreadable.length === 0) printNone(list, dir, given, screen)
  if (tapes.length > 0) printTable(rows, screen)
  for (const { file, problem } of unreadable)
    screen.note(`${neutralLine(file, 400)}: ${neutralLine(problem?.what ?? '')} (${problem?.code})`)
  if (more > 0) screen.note(`and ${number(more)} more of ${number(total)}\n→ to see all: --limit all`)
  if (withoutCost > 0) screen.note(`left out: ${number(withoutCost)} of unknown cost`)
  const isFiltered = filterOptions.some(({ flag }) => given.has(flag.split(' ')[0]?.slice(2) ?? ''))
  printSteps(stepsAfterList({ ...rows, count: tapes.length + more }, isFiltered, given.value('dir')), (text) =>
    screen.note(text),
  )
}

function printNone({ total, unknownWords }: TapeList<unknown>, dir: string, given: CommandInput, screen: Screen): void {
  if (total === 0) {
    const steps = [...stepsElsewhere(dir), `to make one: ${toRecord}`]
    return screen.note([`no tapes in ${dir}`, ...steps].join('\n→ '))
  }
  const asked = filterOptions.flatMap(({ flag }) => {
    const [option = '', takes] = flag.split(' ')
    const name = option.slice(2)
    if (!given.has(name)) return []
    // Who was asked for is not printed: output is kept by CI.
    const value = name === 'subject' ? '…' : given.values(name).join(` ${option} `)
    return [takes === undefined ? option : `${option} ${neutralLine(value, 60)}`]
  })
  screen.note(`none of ${number(total)} tapes in ${dir} fits: ${asked.join(' ')}`)
  for (const { option, word, nearest } of unknownWords) {
    const hint = nearest === undefined ? '' : `\n→ did you mean: --${option} ${neutralLine(nearest, 60)}`
    screen.note(`no tape has the ${option} ${neutralLine(word, 60)}${hint}`)
  }
  for (const text of given.values('text'))
    if (createRedactor().text(text) !== text)
      screen.note('the text looks like what recorders redact: tapes have a placeholder in its place')
  if (given.has('id')) screen.note(notKept)
}

/** A run that is asked for by its id may have left no tape. */
const notKept = `a recorder with \`sample\` or \`keep\` keeps a share of the runs, and those that stood out
→ to keep runs by what happens in them: keep: { when: 'refund(amount > 100)' }`

function number(count: number): string {
  return grouped(count)
}

function printTable(rows: ListedRows, screen: Screen): void {
  const shown = columns.flatMap(({ isOptional }, i) => (isOptional !== true || rows.widths[i] !== undefined ? [i] : []))
  const head = shown.map((i) => screen.paint('dim', columns[i]?.head ?? ''))
  function* shownCells(): Generator<readonly string[]> {
    for (const cells of rows.cells()) yield shown.map((i) => cells[i] ?? '')
  }
  const right = shown.flatMap((i, at) => (columns[i]?.isNumber === true ? [at] : []))
  // What goes into a pipe is searched there: nothing is cut or wrapped.
  if (!process.stdout.isTTY) {
    const widest = shown.map((i) => rows.widths[i] ?? 0)
    return printAtOnce(tableLines(head, shownCells(), widest, right), screen)
  }
  const body = [...shownCells()]
  const whole = tableRows([head, ...body], right, Infinity)
  const excess = widthOfRows(whole) - tableWidth
  const outcomeAt = shown.findIndex((i) => columns[i]?.head === 'outcome')
  const widest = Math.max(...body.map((row) => columnsOf(row[outcomeAt] ?? '')))
  if (excess <= 0) return printRows(whole, screen)
  // What a run returned is a glimpse anyway.
  if (widest - excess >= 12) {
    const cut = body.map((row) => row.with(outcomeAt, neutralLine(row[outcomeAt] ?? '', widest - excess)))
    return printRows(tableRows([head, ...cut], right), screen)
  }
  // A path stays in one piece: where it does not fit beside the rest, it is below.
  const lines = tableRows([head.slice(0, -1), ...body.map((row) => row.slice(0, -1))], right)
  printRows(
    lines.map((row, at) => (at === 0 ? row : [...row, `  ${body[at - 1]?.at(-1) ?? ''}`])),
    screen,
  )
}

/** Some hundred lines at a time: to write each takes longer than to make it. */
function printAtOnce(lines: Iterable<string>, screen: Screen): void {
  let text = ''
  for (const line of lines) {
    text += text === '' ? line : `\n${line}`
    if (text.length < 64 * 1024) continue
    screen.line(text)
    text = ''
  }
  if (text !== '') screen.line(text)
}

function printRows(rows: readonly (readonly string[])[], screen: Screen): void {
  for (const line of rows.flat()) screen.line(line)
}
