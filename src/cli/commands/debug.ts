import { CodeSession, DebugSession, openingLines } from '../../debug/index.ts'
import { readTape } from '../../tape/index.ts'
import type { Screen } from '../../report/output.ts'
import type { Command, CommandInput } from '../command.ts'
import { Debugger, hintLine } from '../debug/debugger.ts'
import { canLaunch, launchOf } from '../debug/launch.ts'
import { runPrompt } from '../debug/prompt.ts'
import { runScript, type ScriptOutput, stdinLines } from '../debug/script.ts'
import { exit } from '../exit.ts'
import { findRun } from '../find.ts'
import { debugSpec } from '../spec/debugger.ts'

/** Steps through a run: at a prompt, by a script, or for programs. */
export const debugCommand: Command = {
  ...debugSpec,
  async run(given, screen) {
    const found = findRun(given.args[0] ?? '', given.value('dir'))
    const session = new DebugSession(readTape(found.file))
    const isJson = given.has('json')
    const code = new CodeSession(session.steps, launchOf(found, given))
    const prompt = new Debugger({ session, found, given, isJson, code })
    try {
      return await run(prompt, given, screen)
    } finally {
      code.close()
    }
  },
}

async function run(prompt: Debugger, given: CommandInput, screen: Screen): Promise<number> {
  const isJson = given.has('json')
  const { session, code } = prompt.context
  const script = given.value('commands')
  const output: ScriptOutput = { screen, isJson, expectsStop: given.has('expect-stop') }
  if (script !== undefined) {
    code.prepare(script.match(/\bcode\b/g)?.length ?? 0)
    return runScript([script], prompt, output)
  }
  if (process.stdin.isTTY !== true || isJson) return runScript(stdinLines(), prompt, output)
  for (const line of [...openingLines(session), hintLine]) screen.line(line)
  if (canLaunch(given)) code.prepare()
  await runPrompt(prompt, screen, given.value('dir') ?? 'recordings')
  return exit.ok
}
