import type { CodeSession, DebugSession } from '../../debug/index.ts'
import type { CommandInput } from '../command.ts'
import type { FoundRun } from '../find.ts'
import type { SessionBudget } from './budget.ts'

/** The result of a command of the debugger: text for people, data for programs. */
export interface Answer {
  readonly lines: readonly string[]
  readonly data: unknown
  /** `continue` found no stop. */
  readonly isNowhere?: true
  /** Too few runs could be judged to answer it. */
  readonly isOpen?: true
  /** It is what was known when someone ended the debugger. */
  readonly isPart?: true
  /** An empty line does it once more. */
  readonly isMove?: true
}

/** One command of the debugger. */
export interface DebugCommand {
  /** As the help shows it: `goto N`. */
  readonly usage: string
  readonly about: string
  /** Also the agent's own code has to stand still. */
  readonly inCode?: true
  /** Ctrl-C ends what it runs. */
  readonly isStoppable?: true
  run(rest: string, context: DebugContext): Answer | Promise<Answer>
}

/** What commands work on. */
export interface DebugContext {
  readonly session: DebugSession
  readonly found: FoundRun
  /** The command line the debugger was started with: consent and limits of live calls stand there. */
  readonly given: CommandInput
  /** What all lines may use together. */
  readonly budget: SessionBudget
  /** The agent's own code. Nothing is started before it is asked for. */
  readonly code: CodeSession
  /** Answers are for a program. */
  readonly isJson: boolean
}
