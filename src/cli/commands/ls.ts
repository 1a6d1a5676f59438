import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { HarvestError, neutralLine } from '../../errors/index.ts'
import { readTape, stepsOf, type TapeHeader } from '../../tape/index.ts'
import { type CommandSpec, jsonOption } from '../command.ts'
import { describeOutcome } from '../describe.ts'
import { exit } from '../exit.ts'
import { listTapes, type TapeSummary } from '../../store/index.ts'
import { usage } from '../parse.ts'
import { table } from '../screen.ts'

interface Row {
  readonly id: string
  readonly file: string
  readonly agent: string
  readonly startedAt: string
  readonly steps: number
  readonly outcome: string
  readonly pins: TapeHeader['pins']
}

/** Lists the tapes of a folder, oldest first. */
export const lsCommand: CommandSpec = {
  name: 'ls',
  about: 'List the tapes: when, which agent, how many steps, how it ended',
  options: [{ flag: '--dir <folder>', about: 'Folder to look in (default: recordings)' }, jsonOption],
  examples: ['ls', 'ls --dir recordings/inbox --json'],
  run(given, screen) {
    const dir = given.value('dir') ?? 'recordings'
    // A typo in the folder's name must not look like an empty folder.
    if (given.has('dir') && !existsSync(dir))
      throw usage(lsCommand, 'HARVEST_CLI_ARGUMENT', `there is no folder ${dir}`)
    const bad: { file: string; code: string; what: string }[] = []
    const note = (file: string, error: unknown): void => {
      if (!HarvestError.is(error)) throw error
      bad.push({ file, code: error.code, what: error.facts.what })
    }
    const listed = listTapes(dir).toReversed()
    const rows = listed.flatMap((one, i) => {
      screen.progress(`reading ${i + 1} of ${listed.length}`)
      return rowOf(one, note)
    })
    if (given.has('json')) {
      screen.json({ tapes: rows, unreadable: bad })
      return bad.length === 0 ? exit.ok : exit.tape
    }
    if (rows.length === 0 && bad.length === 0)
      screen.note(`no tapes in ${dir}\n→ to make one: harvest record -- node agent.js`)
    const head = ['started', 'agent', 'steps', 'outcome', 'tape'].map((cell) => screen.paint('dim', cell))
    if (rows.length > 0) screen.line(table([head, ...rows.map(cells)], [2]))
    for (const { file, code, what } of bad)
      screen.note(`${neutralLine(file, 400)}: ${neutralLine(what, 300)} (${code})`)
    return bad.length === 0 ? exit.ok : exit.tape
  },
}

function rowOf(summary: TapeSummary, note: (file: string, error: unknown) => void): Row[] {
  const { file } = summary
  try {
    if (summary.state === 'unreadable') throw summary.error
    const tape = readTape(file)
    const { id, agent, startedAt, pins } = tape.header
    const outcome = tape.close === undefined ? 'truncated' : describeOutcome(tape.close.outcome)
    return [{ id, file: relative(process.cwd(), file), agent, startedAt, steps: stepsOf(tape).length, outcome, pins }]
  } catch (error) {
    note(file, error)
    return []
  }
}

function cells({ file, agent, startedAt, steps, outcome }: Row): string[] {
  return [
    neutralLine(startedAt.replace(/\.\d+Z$/, 'Z')),
    neutralLine(agent, 30),
    `${steps}`,
    neutralLine(outcome, 48),
    neutralLine(file, 400),
  ]
}
