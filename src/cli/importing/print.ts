import { dirname } from 'node:path'
import { here } from '../../errors/here.ts'
import { type HarvestError, neutralLine, shellWord } from '../../errors/index.ts'
import { columnsOf, endOfText, foldText } from '../../report/fold.ts'
import { type Screen, table } from '../../report/output.ts'
import type { ImportedRecording, ImportResult } from '../../recordings/importing/index.ts'

/** No line of the table is longer. */
const tableWidth = 100

/** The answer for people: a table of what was imported, what each lacks, and why others were refused. */
export function printImport({ imported, refused, passedOver }: ImportResult, screen: Screen): void {
  const [first] = imported
  if (first !== undefined) {
    for (const line of tableOf(imported, screen)) screen.line(line)
    screen.line()
    for (const line of missingIn(imported).flatMap((text) => foldText(text, { width: tableWidth }))) screen.line(line)
  }
  for (const line of notCaptured(imported)) screen.line(line)
  for (const { file, error } of refused) screen.note(refusalLine(file, error))
  const rest = passedOver === 0 ? '' : `, ${passedOver} passed over as no recordings`
  screen.line(`${imported.length} imported, ${refused.length} refused${rest}`)
  if (first === undefined) return
  screen.line(`Tapes are in ${neutralLine(here(dirname(first.tape)), 400)}`)
  screen.line(`To read one: npx vitest-harvest show ${shellWord(first.id)}`)
}

const heads = ['file', 'format', 'grade', 'calls', 'model calls', 'tool calls', 'tape']

/** Rows of one line where all fit; else the name of each tape is on a line of its own. */
function tableOf(imported: readonly ImportedRecording[], screen: Screen): readonly string[] {
  const facts = imported.map(({ facts: { format, grade, exchanges, modelCalls, tools } }) => {
    return [format, grade, `${exchanges}`, `${modelCalls}`, `${tools.length}`]
  })
  const [ids, files] = (['id', 'file'] as const).map((key) => imported.map((one) => neutralLine(one[key], 400)))
  const widest = (cells: readonly string[]): number => Math.max(...cells.map(columnsOf))
  const fixed = heads.slice(1, 6).reduce((sum, head, i) => sum + 2 + widest([head, ...facts.map((row) => row[i]!)]), 0)
  const room = tableWidth - fixed
  const roomBesideIds = room - 2 - widest([heads[6]!, ...ids!])
  const isOneLine = roomBesideIds >= Math.min(fileRoom, widest(files!))
  const head = (isOneLine ? heads : heads.slice(0, 6)).map((cell) => screen.paint('dim', cell))
  const rows = facts.map((cells, i) => {
    const file = endOfText(files![i]!, isOneLine ? roomBesideIds : room)
    return isOneLine ? [file, ...cells, ids![i]!] : [file, ...cells]
  })
  const [headLine = '', ...lines] = table([head, ...rows], [3, 4, 5]).split('\n')
  return [headLine, ...lines.flatMap((line, i) => (isOneLine ? [line] : [line, `  as ${ids![i]!}`]))]
}

/** How much of a path is enough to tell it. */
const fileRoom = 24

/** What all lack, and below it what some lack beside it. */
function missingIn(imported: readonly ImportedRecording[]): readonly string[] {
  const lists = imported.map(({ facts }) => facts.missing)
  const common = (lists[0] ?? []).filter((word) => lists.every((list) => list.includes(word)))
  const all = common.length === 0 ? [] : [`missing in ${lists.length === 1 ? 'it' : 'all'}: ${common.join(', ')}`]
  const own = Map.groupBy(imported, ({ facts }) => facts.missing.filter((word) => !common.includes(word)).join(', '))
  return [
    ...all,
    ...[...own].flatMap(([words, group]) => {
      if (words === '') return []
      const [one] = group
      const more = group.length === 1 ? '' : ` and ${group.length - 1} more`
      return `missing in ${neutralLine(one!.id)}${more}: ${words}`
    }),
  ]
}

/** Of traces whose instruments left content out: what to set, once for each way of leaving it out. */
function notCaptured(imported: readonly ImportedRecording[]): readonly string[] {
  const named = imported.flatMap(({ id, facts: { uncaptured } }) =>
    uncaptured === undefined ? [] : [{ id, ...uncaptured }],
  )
  const groups = Map.groupBy(named, ({ what, switches }) => [what, ...switches].join('\n'))
  return [...groups.values()].flatMap((group) => {
    const { id, what, switches } = group[0]!
    const more = group.length === 1 ? '' : ` and ${group.length - 1} more`
    const lines = switches.length === 0 ? ['in the options of your instrumentation'] : switches
    return [`no ${what} of model calls in ${neutralLine(id)}${more}; to capture:`, ...lines.map((line) => `  ${line}`)]
  })
}

function refusalLine(file: string, { facts: { where = {}, what, fix = [] }, code }: HarvestError): string {
  const at = where['at'] === undefined ? '' : ` at ${neutralLine(where['at'])}`
  const nearest = where['nearest format'] === undefined ? '' : `; nearest format ${where['nearest format']}`
  const [toDo] = code === 'HARVEST_IMPORT_EXISTS' ? fix : []
  const next = toDo === undefined ? '' : `\n  ${neutralLine(toDo, 600)}`
  const problem = `${at}: ${neutralLine(where['problem'] ?? what, 200)}${nearest} (${code})`
  const place = `refused ${neutralLine(where['file'] ?? file, 400)}`
  const isOneLine = columnsOf(place) + columnsOf(problem) <= tableWidth
  return `${place}${isOneLine ? problem : `\n  ${problem.replace(/^[: ]+/, '')}`}${next}`
}

/** The answer for programs. */
export function asJson({ imported, refused, passedOver }: ImportResult): object {
  return {
    imported: imported.map(({ file, tape, id, facts }) => ({ file, tape, id, ...facts })),
    refused: refused.map(({ file, error }) => ({ file, ...error.toJSON() })),
    passedOver,
  }
}
