import { neutralLines } from '../../report/output.ts'
import { here } from '../../errors/here.ts'
import { HarvestError, shellWord, visible } from '../../errors/index.ts'
import { endedBy } from '../../jobs/run.ts'
import { inspectParts } from '../../debug/index.ts'
import { backInCode, codeCommands } from './code.ts'
import { forkCommands } from './forks.ts'
import { lookCommands } from './look.ts'
import { moveCommands } from './moves.ts'
import type { Answer, DebugCommand, DebugContext } from './types.ts'
import { commandNamed } from './words.ts'

const order = [
  ...['goto', 'forward', 'back', 'first', 'last', 'break', 'delete', 'continue', 'reverse-continue'],
  ...['inspect', 'clock', 'diff', 'locate', 'rule', 'steps', 'timeline', 'what_if', 'branch', 'compare'],
  ...['code', 'next', 'step', 'finish', 'locals', 'print', 'call', 'source'],
]

/** Every command of the debugger, by its name, in the order of the help. */
export const debugCommands: Readonly<Record<string, DebugCommand>> = Object.fromEntries(
  Object.entries({ ...moveCommands, ...lookCommands, ...forkCommands, ...codeCommands }).sort(
    ([one], [other]) => order.indexOf(one) - order.indexOf(other),
  ),
)

/** What is typed in the end: not commands of a session, but of what surrounds it. */
const own = ['help', 'quit'] as const

export const commandNames: readonly string[] = [...Object.keys(debugCommands), ...own]

/** Those that mean something while no code stands still. */
const outside = commandNames.filter((name) => debugCommands[name]?.inCode !== true)

/** An answer, or the error in its place. */
export type Answered = Answer | { readonly error: HarvestError }

/** Does the commands of lines that someone types or that stand in a script. */
export class Debugger {
  readonly context: DebugContext
  #lastMove: string | undefined
  isOver = false
  /** A signal would end what runs now. */
  isStoppable = false

  constructor(context: DebugContext) {
    this.context = context
  }

  /**
   * Does one command; an empty one repeats the last move.
   *
   * @param signal - ends what the command forks: its answer is what was known then
   */
  async run(line: string, signal?: AbortSignal): Promise<Answered> {
    const text = line.trim() === '' ? (this.#lastMove ?? '') : line.trim()
    try {
      const answer = await this.#do(text, signal)
      if (answer.isMove === true) this.#lastMove = text
      return answer
    } catch (error) {
      if (HarvestError.is(error)) return { error }
      throw error
    }
  }

  #do(text: string, signal: AbortSignal | undefined): Answer | Promise<Answer> {
    if (text === '') return { lines: [], data: null }
    const { name, rest } = taken(text, this.isInCode)
    if (name === 'help') return help(rest)
    if (name === 'quit') {
      this.isOver = true
      return { lines: [], data: { quit: true } }
    }
    const command = debugCommands[name]
    if (command === undefined) throw new TypeError(`the command ${name} is listed and does not exist`)
    return this.#run(name, command, rest, signal)
  }

  async #run(name: string, command: DebugCommand, rest: string, signal: AbortSignal | undefined): Promise<Answer> {
    const { context } = this
    const isInCode = this.isInCode
    if (name === 'back' && isInCode && rest === '') return { ...(await backInCode(context)), isMove: true }
    const from = context.session.at
    const answer = await this.#stoppable(command, signal, () => command.run(rest, context))
    // Whoever goes to another step has left the code.
    if (isInCode && command.inCode !== true && name !== 'code' && context.session.at !== from) context.code.leave()
    return answer
  }

  async #stoppable(
    { isStoppable }: DebugCommand,
    signal: AbortSignal | undefined,
    run: () => Answer | Promise<Answer>,
  ): Promise<Answer> {
    if (isStoppable !== true || signal === undefined) return run()
    this.isStoppable = true
    try {
      return await endedBy(signal, run)
    } finally {
      this.isStoppable = false
    }
  }

  /** Whether the agent stands still in its code. */
  get isInCode(): boolean {
    return this.context.code.isStanding
  }

  /** What may follow what was typed: commands, parts, names of tools, step numbers. */
  complete(typed: string): readonly string[] {
    const [, head = '', word = ''] = /^(.*\s)?(\S*)$/s.exec(typed) ?? []
    return this.#words(head.trim()).filter((one) => one.startsWith(word))
  }

  #words(command: string): readonly string[] {
    const { session } = this.context
    const [name = ''] = command.split(/\s/)
    if (name === '') return commandNames
    if (/^(br|break|rule)$/.test(name)) return toolNames(session).map((tool) => `${tool}(`)
    if (/^i/.test(name)) return inspectParts
    if (/^h/.test(name)) return commandNames
    if (/^(g|goto|d|diff|what_if|branch|steps|timeline)$/.test(name))
      return session.steps.map(({ number }) => `${number}`)
    return []
  }
}

function toolNames({ steps }: DebugContext['session']): readonly string[] {
  return [...new Set(steps.flatMap(({ event }) => (event.kind === 'exchange' ? [] : [event.name])))]
}

/** The command of a line and what stands behind it. */
function taken(text: string, isInCode: boolean): { readonly name: string; readonly rest: string } {
  const [, word = '', rest = ''] = /^(\S+)\s*([\s\S]*)$/.exec(text) ?? []
  // Numbers alone are what people type to go there.
  return /^\d+$/.test(word) && rest === ''
    ? { name: 'goto', rest: word }
    : {
        name: commandNamed(word === 's' && isInCode ? 'step' : word, commandNames, isInCode ? commandNames : outside),
        rest,
      }
}

function help(rest: string): Answer {
  if (rest !== '') {
    const name = commandNamed(rest, commandNames)
    const command = debugCommands[name]
    if (command === undefined) return { lines: [`${name}  of this prompt`], data: { command: name } }
    return {
      lines: [`${command.usage}   ${command.about}`],
      data: { command: name, usage: command.usage, about: command.about },
    }
  }
  const width = Math.max(...Object.values(debugCommands).map(({ usage }) => usage.length))
  const rows = Object.entries(debugCommands).map(([, { usage, about }]) => `${usage.padEnd(width)}  ${about}`)
  return {
    lines: [...rows, `${'quit'.padEnd(width)}  end`, 'Beginnings of a word do; an empty line repeats the last move.'],
    data: Object.entries(debugCommands).map(([name, { usage, about }]) => ({ command: name, usage, about })),
  }
}

/** An error as the prompt shows it: what, where, why, and what to type. */
export function errorLines(error: HarvestError): readonly string[] {
  const { what, where = {}, why, fix = [], detail } = error.facts
  const width = Math.max(0, ...Object.keys(where).map((label) => label.length))
  const text = [
    what,
    ...Object.entries(where).map(([label, value]) => `  ${label.padEnd(width)}  ${visible(value)}`),
    ...(detail === undefined ? [] : [detail]),
    ...(why === undefined ? [] : [why]),
    ...fix.map((line) => `→ ${line}`),
  ]
  // Their lines are ours; the words in them may be recorded.
  return neutralLines(text.join('\n')).split('\n')
}

/** Next steps with the tape that is open: for those whose answers no command line prints. */
export function stepsOfTape(
  steps: readonly string[],
  { found: { file } }: Pick<DebugContext, 'found'>,
): readonly string[] {
  return steps.map((step) => step.replaceAll("'<tape>'", () => shellWord(here(file))))
}

/** The line of text under the opening. */
export const hintLine = 'goto N · back · forward · break RULE · continue · inspect · diff I J · code · what_if · help'
