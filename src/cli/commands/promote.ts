import { join, relative } from 'node:path'
import { neutral } from '../../errors/index.ts'
import { promote } from '../../store/index.ts'
import { type CommandSpec, jsonOption } from '../command.ts'
import { exit } from '../exit.ts'
import { findTapeFile } from '../find.ts'
import { usage } from '../parse.ts'

/** Makes a case of a tape: `harvest promote <tape> --as <id>`. */
export const promoteCommand: CommandSpec = {
  name: 'promote',
  args: '<tape>',
  about: 'Make a test of a tape: writes its case, with the baseline, and a copy of it into the golden set',
  options: [
    { flag: '--as <id>', about: 'Id of the case; becomes its file name' },
    { flag: '--group <name>', about: 'Folder below golden/ (default: none)' },
    { flag: '--agent <name>', about: 'Agent to replay with (default: the one the tape names)' },
    {
      flag: '--expect <outcome>',
      about: 'pass, or fail for a known-bad incident that is not fixed yet (default: pass)',
    },
    { flag: '--title <text>', about: 'What the case is about' },
    { flag: '--tag <name>', about: 'A tag of the case; may be repeated', many: true },
    { flag: '--lesson-wrong <text>', about: 'What went wrong in this run' },
    { flag: '--lesson-right <text>', about: 'What would have been right' },
    { flag: '--dir <folder>', about: 'Folder with inbox/ and golden/ (default: recordings)' },
    jsonOption,
  ],
  examples: [
    'promote latest --as refund-broken-item',
    'promote recordings/inbox/run.tape.jsonl --as refund-100x --expect fail --tag incident',
  ],
  run(given, screen) {
    const as = given.value('as')
    if (as === undefined) throw usage(promoteCommand, 'HARVEST_CLI_ARGUMENT', 'promote needs --as <id>')
    const expect = given.value('expect') ?? 'pass'
    if (expect !== 'pass' && expect !== 'fail') {
      throw usage(promoteCommand, 'HARVEST_CLI_ARGUMENT', `--expect is pass or fail, not ${expect}`)
    }
    const recordings = given.value('dir') ?? 'recordings'
    const optional = (option: string, name: string): Record<string, string> => {
      const value = given.value(option)
      return value === undefined ? {} : { [name]: value }
    }
    const lesson = { ...optional('lesson-wrong', 'wrong'), ...optional('lesson-right', 'right') }
    const { caseFile, tapeFile, content, text } = promote({
      recordings,
      tape: findTapeFile(given.args[0] ?? '', recordings),
      as,
      expect,
      tags: given.values('tag'),
      ...optional('group', 'group'),
      ...optional('agent', 'agent'),
      ...optional('title', 'title'),
      ...(Object.keys(lesson).length === 0 ? {} : { lesson }),
    })
    if (given.has('json')) {
      screen.json({ case: here(caseFile), tape: here(tapeFile), id: content.id, agent: content.agent })
      return exit.ok
    }
    screen.line(here(caseFile))
    for (const line of text.trimEnd().split('\n')) screen.line(`  ${neutral(line)}`)
    screen.line(here(tapeFile))
    screen.line()
    screen.line('Look it over, then run it: npx vitest run')
    return exit.ok
  },
}

function here(file: string): string {
  return relative('.', join(file))
}
