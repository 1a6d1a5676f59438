import { DebugSession, locateLines } from '../../debug/index.ts'
import { parseJson } from '../../json/canonical.ts'
import type { Screen } from '../../report/output.ts'
import { readTape } from '../../tape/index.ts'
import { exit } from '../exit.ts'

/**
 * Prints where a value first appeared in a run, and which requests it went into.
 *
 * @param word - JSON, or else text
 * @returns the exit code: 1 where the value is nowhere
 */
export function findValue(file: string, word: string, isJson: boolean, screen: Screen): number {
  const value = parseJson(word) ?? word
  const places = new DebugSession(readTape(file)).locate(value)
  if (isJson) screen.json({ tape: file, value, first: places[0] ?? null, places })
  else for (const line of locateLines(word, places)) screen.line(line)
  return places.length === 0 ? exit.divergence : exit.ok
}
