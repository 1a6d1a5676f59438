import type { Command } from '../command.ts'
import { findRun } from '../find.ts'
import { findValue } from '../reading/find-value.ts'
import { locateSpec } from '../spec/debugger.ts'

/** The earlier name of `show --find`. */
export const locateCommand: Command = {
  ...locateSpec,
  run(given, screen) {
    const [tape = '', word = ''] = given.args
    return findValue(findRun(tape, given.value('dir')).file, word, given.has('json'), screen)
  },
}
