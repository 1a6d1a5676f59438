import { HarvestError, neutralJson, shellWord } from '../../errors/index.ts'
import { createInterface } from 'node:readline'
import type { Screen } from '../../report/output.ts'
import { exit, exitCodeOf } from '../exit.ts'
import { stepsAsCommands } from '../next-lines.ts'
import { debugSpec } from '../spec/debugger.ts'
import { typedAgain } from '../typed-again.ts'
import { type Answered, type Debugger, errorLines } from './debugger.ts'
import { changesIn, commandsIn } from './words.ts'

/** Where answers of a script go. */
export interface ScriptOutput {
  readonly screen: Screen
  readonly isJson: boolean
  /** A `continue` that finds nothing makes the exit code 1. */
  readonly expectsStop: boolean
  /** Whoever ended the script wants no more of it. */
  readonly signal: AbortSignal
}

/** Does the commands of `-x`, one after the other; a wrong one is reported, and the next is done. */
export async function runScript(
  lines: AsyncIterable<string> | Iterable<string>,
  prompt: Debugger,
  output: ScriptOutput,
): Promise<number> {
  let code: number = exit.ok
  for await (const line of lines) {
    const commands = commandsIn(line)
    for (const [at, command] of commands.entries()) {
      const answered = await prompt.run(command, output.signal)
      // What was cut off failed for no reason of its own, unless it says so.
      const isCut = output.signal.aborted
      const again = (): string => typedAgain({ commands: commands.with(at, withCache(command)).join('; ') })
      if (!isCut || saysWhatIsKnown(answered)) printAnswer(answered, output, again)
      if (isCut) return code
      if ('error' in answered)
        code = Math.max(code, exitCodeOf(answered.error) === exit.divergence ? exit.divergence : exit.usage)
      else if (code === exit.ok && (answered.isOpen === true || (answered.isNowhere === true && output.expectsStop)))
        code = exit.divergence
      if (prompt.isOver) return code
    }
  }
  return code
}

/** Whether an answer is of someone who ended the debugger: what was known then, or that nothing was, and what was spent. */
export function saysWhatIsKnown(answered: Answered): boolean {
  return 'error' in answered ? HarvestError.is(answered.error, 'HARVEST_CLI_INTERRUPTED') : answered.isPart === true
}

/** The lines of stdin, comments and empty ones left out. */
export async function* stdinLines(): AsyncGenerator<string> {
  for await (const line of createInterface({ input: process.stdin }))
    if (line.trim() !== '' && !line.trim().startsWith('#')) yield line
}

/**
 * One answer: lines of text, or one line of JSON.
 *
 * @param again - what does its line again, in the place of `the same line`
 */
export function printAnswer(
  answered: Answered,
  { screen, isJson }: Pick<ScriptOutput, 'screen' | 'isJson'>,
  again: () => string,
): void {
  if (isJson) {
    const value = 'error' in answered ? errorData(answered.error, again) : answered.data
    screen.line(neutralJson(JSON.stringify(value ?? null)))
    return
  }
  for (const line of 'error' in answered ? errorLines(answered.error) : answered.lines)
    screen.line(line.startsWith('→ ') ? withSameLine(line, again) : line)
}

function withSameLine(step: string, again: () => string): string {
  return step.replace(/(?<=: )the same line(?:, without --no-cache)?$/, again)
}

/** A line that makes forks, which takes those that were made before. */
export function withCache(line: string): string {
  const words = changesIn(line).filter((word) => word !== '--no-cache')
  return words.map(shellWord).join(' ')
}

/** `detail` says of a rule what was expected where; `where` names files, agents, exit codes; `fix` is what people are shown. */
function errorData({ code, facts: { what, where, detail, fix } }: HarvestError, again: () => string) {
  return {
    error: what,
    code,
    ...(where === undefined ? {} : { where }),
    ...(detail === undefined ? {} : { detail }),
    ...(fix === undefined
      ? {}
      : {
          fix: stepsAsCommands(
            fix.map((step) => withSameLine(step, again)),
            debugSpec,
          ),
        }),
  }
}
