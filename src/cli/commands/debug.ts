import { DebugSession, openingLines } from '../../debug/index.ts'
import { readTape } from '../../tape/index.ts'
import type { Command } from '../command.ts'
import { Debugger, hintLine } from '../debug/debugger.ts'
import { findSteps } from '../debug/find-steps.ts'
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
    const session = new DebugSession(readTape(found.file), findSteps)
    const isJson = given.has('json')
    const prompt = new Debugger({ session, found, given, isJson })
    const script = given.value('commands')
    const output: ScriptOutput = { screen, isJson, expectsStop: given.has('expect-stop') }
    if (script !== undefined) return runScript([script], prompt, output)
    if (process.stdin.isTTY !== true || isJson) return runScript(stdinLines(), prompt, output)
    for (const line of [...openingLines(session), hintLine]) screen.line(line)
    await runPrompt(prompt, screen, given.value('dir') ?? 'recordings')
    return exit.ok
  },
}
