import { DebugSession, locateLines } from '../../debug/index.ts'
import { parseJson } from '../../json/canonical.ts'
import { readTape } from '../../tape/index.ts'
import type { Command } from '../command.ts'
import { exit } from '../exit.ts'
import { findRun } from '../find.ts'
import { locateSpec } from '../spec/debugger.ts'

/** Finds a value in a run. */
export const locateCommand: Command = {
  ...locateSpec,
  run(given, screen) {
    const [tape = '', word = ''] = given.args
    const { file } = findRun(tape, given.value('dir'))
    const value = parseJson(word) ?? word
    const places = new DebugSession(readTape(file)).locate(value)
    if (given.has('json')) screen.json({ tape: file, value, first: places[0] ?? null, places })
    else for (const line of locateLines(word, places)) screen.line(line)
    return places.length === 0 ? exit.divergence : exit.ok
  },
}
