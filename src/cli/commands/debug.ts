import { openingLines } from '../../debug/index.ts'
import type { Screen } from '../../report/output.ts'
import type { Command, CommandInput } from '../command.ts'
import { SessionBudget } from '../debug/budget.ts'
import { type Debugger, hintLine } from '../debug/debugger.ts'
import { canLaunch } from '../debug/launch.ts'
import { openDebugger } from '../debug/open.ts'
import { runPrompt } from '../debug/prompt.ts'
import { runScript, type ScriptOutput, stdinLines } from '../debug/script.ts'
import { untilSignal } from '../debug/signals.ts'
import { exit } from '../exit.ts'
import { readNumber } from '../live.ts'
import { toName, usage } from '../parse.ts'
import { debugSpec } from '../spec/debugger.ts'

/** Steps through a run: at a prompt, by a script, or for programs. */
export const debugCommand: Command = {
  ...debugSpec,
  async run(given, screen) {
    if (given.has('mcp') && given.has('dap'))
      throw usage(debugSpec, 'HARVEST_CLI_ARGUMENT', '--mcp and --dap exclude each other', [
        'for coding agents: the same command, without --dap',
        'for editors: the same command, without --mcp',
      ])
    const asked = readNumber(given, debugSpec, 'inspect-port', 0, 65_535)
    if (given.has('mcp')) return (await import('../debug/mcp.ts')).serveMcp(given)
    if (given.has('dap')) return (await import('../debug/dap.ts')).serveDap(given, asked ?? 0)
    const [word] = given.args
    if (word === undefined)
      throw usage(debugSpec, 'HARVEST_CLI_ARGUMENT', 'debug needs <tape|case>', toName(['<tape|case>']))
    const port = given.has('inspect') ? (asked ?? 9229) : undefined
    const budget = SessionBudget.of(given)
    const options = { isJson: given.has('json'), budget, ...(port === undefined ? {} : { port }) }
    const prompt = openDebugger(word, given, options)
    return untilSignal(
      (signal) => run(prompt, given, screen, signal),
      () => prompt.context.code.close(),
    )
  },
}

async function run(prompt: Debugger, given: CommandInput, screen: Screen, signal: AbortSignal): Promise<number> {
  const isJson = given.has('json')
  const { session, code } = prompt.context
  const script = given.value('commands')
  const output: ScriptOutput = { screen, isJson, expectsStop: given.has('expect-stop'), signal }
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
