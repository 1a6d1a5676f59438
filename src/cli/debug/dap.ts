// Over 300 lines: every request of an editor, and how it is answered.
import {
  type CodeStop,
  codeLines,
  endText,
  inspectLines,
  type NoStop,
  noStopLines,
  openingLines,
  wordsOf,
} from '../../debug/index.ts'
import { HarvestError, neutralLine, withFacts } from '../../errors/index.ts'
import { isMap } from '../../json/canonical.ts'
import type { CommandInput } from '../command.ts'
import { exit } from '../exit.ts'
import { SessionBudget } from './budget.ts'
import { DapViews, framesOf, numberOf, textOf, type DapArguments as Body } from './dap-views.ts'
import { type DapMessage, eachRequest, framed } from './dap-stream.ts'
import { type Debugger, errorLines, stepsOfTape } from './debugger.ts'
import { atStart } from './mcp-steps.ts'
import { openDebugger, withAgent } from './open.ts'
import { untilSignal } from './signals.ts'
import { unknownToolLines } from './unknown-tools.ts'
import { isLook, wrong } from './words.ts'

const capabilities = {
  supportsConfigurationDoneRequest: true,
  supportsStepBack: true,
  supportsFunctionBreakpoints: true,
  supportsEvaluateForHovers: true,
  supportsCompletionsRequest: true,
  supportsTerminateRequest: true,
}

/**
 * Serves editors: steps of the agent are what they step through, in both directions. Ends with stdin or at `disconnect`.
 *
 * @param port - of the inspector, for editors that attach to the agent; 0: a free one
 */
export async function serveDap(given: CommandInput, port: number): Promise<number> {
  const adapter = new Adapter(given, port, (message) => void process.stdout.write(framed(message)))
  const serve = async (): Promise<number> => {
    await eachRequest(process.stdin, adapter)
    process.stdin.destroy()
    return exit.ok
  }
  return untilSignal(serve, () => adapter.close())
}

/** One session of an editor. */
class Adapter {
  readonly #given: CommandInput
  readonly #port: number
  /** Of all tapes that are launched. */
  readonly #budget: SessionBudget
  readonly #write: (message: object) => void
  #seq = 0
  #prompt: Debugger | undefined
  #canNest = false
  readonly #views = new DapViews()
  isOver = false

  constructor(given: CommandInput, port: number, write: (message: object) => void) {
    this.#given = given
    this.#port = port
    this.#budget = SessionBudget.of(given)
    this.#write = write
  }

  async respond({ seq, command = '', arguments: given }: DapMessage, signal: AbortSignal): Promise<void> {
    const args = isMap(given) ? (given as Body) : {}
    const reply = (more: object): void =>
      this.#write({ seq: ++this.#seq, type: 'response', request_seq: seq, command, ...more })
    try {
      const { body, after } = await this.#do(command, args, signal)
      reply({ success: true, ...(body === undefined ? {} : { body }) })
      await after?.()
    } catch (error) {
      if (!HarvestError.is(error)) throw error
      const lines = this.#errorLines(error)
      reply({ success: false, message: lines[0], body: { error: { id: 1, format: lines.join('\n') } } })
    }
  }

  close(): void {
    this.#prompt?.context.code.close()
  }

  #do(command: string, args: Body, signal: AbortSignal): Done | Promise<Done> {
    switch (command) {
      case 'initialize':
        this.#canNest = args['supportsStartDebuggingRequest'] === true
        return { body: capabilities }
      case 'launch':
      case 'attach':
        return this.#launch(args)
      case 'setFunctionBreakpoints':
        return { body: { breakpoints: this.#breakAt(args['breakpoints']) } }
      case 'setBreakpoints':
        return { body: { breakpoints: this.#noLines(args['breakpoints']) } }
      case 'setExceptionBreakpoints':
        return { body: { breakpoints: [] } }
      case 'configurationDone':
        return { after: () => this.#stopped('entry') }
      case 'threads':
        return { body: { threads: [{ id: 1, name: this.#threadName() }] } }
      case 'stackTrace':
        return { body: framesOf(this.#session, args) }
      case 'source':
        return { body: { content: this.#page(args), mimeType: 'text/plain' } }
      case 'scopes':
        return { body: { scopes: this.#views.scopes(this.#session, numberOf(args['frameId'], 0)) } }
      case 'variables':
        return { body: { variables: this.#views.variables(numberOf(args['variablesReference'], 0)) } }
      case 'next':
        return this.#move(1)
      case 'stepBack':
        return this.#move(-1)
      case 'stepOut':
        return this.#toModel()
      case 'stepIn':
        return this.#intoCode()
      case 'continue':
        return { body: { allThreadsContinued: true }, ...this.#run(1) }
      case 'reverseContinue':
        return this.#run(-1)
      case 'evaluate':
        return this.#evaluate(args, signal)
      case 'completions':
        return { body: { targets: this.#complete(args) } }
      case 'pause':
        return { after: () => this.#stopped('pause') }
      case 'disconnect':
      case 'terminate':
        return { after: () => this.#end() }
      default:
        throw wrong(`unknown request ${neutralLine(command, 60)}`, ['next'])
    }
  }

  /** Rules are checked against the tape: they are asked for once it is open. */
  #launch(args: Body): Done {
    const word = typeof args['tape'] === 'string' ? args['tape'] : this.#given.args[0]
    if (word === undefined) throw wrong('the launch configuration names no tape', ['"tape": "refund-100x"'])
    const agent = typeof args['agent'] === 'string' ? args['agent'] : undefined
    this.close()
    this.#prompt = openDebugger(word, withAgent(this.#given, agent), {
      budget: this.#budget,
      ...(this.#canNest ? { port: this.#port } : {}),
    })
    return {
      after: () => {
        this.#event('initialized', {})
        this.#say(openingLines(this.#session))
      },
    }
  }

  #breakAt(given: unknown): readonly object[] {
    const { breakpoints } = this.#session
    for (const { id } of breakpoints) this.#session.delete(id)
    return (Array.isArray(given) ? given : []).map((one: unknown) => {
      const rule = isMap(one) ? textOf(one['name']) : ''
      try {
        const { id, hits } = this.#session.break(rule)
        const lines = [`${hits.length} of ${this.#session.steps.length} steps`]
        return { id, verified: true, message: [...lines, ...unknownToolLines(rule, this.#session)].join('\n') }
      } catch (error) {
        if (!HarvestError.is(error)) throw error
        return { verified: false, message: errorLines(error).join('\n') }
      }
    })
  }

  #noLines(given: unknown): readonly object[] {
    const message = 'steps are stopped at by rules, as function breakpoints: refund(amount > 100)'
    return (Array.isArray(given) ? given : []).map(() => ({ verified: false, message }))
  }

  #threadName(): string {
    const { header } = this.#session.tape
    return neutralLine(`${header.agent} ${header.id}`, 80)
  }

  #page(args: Body): string {
    const source = isMap(args['source']) ? args['source']['sourceReference'] : 0
    const step = numberOf(args['sourceReference'] ?? source, 0)
    return inspectLines(this.#session.inspect(step), undefined, undefined).join('\n')
  }

  #move(by: number): Done {
    const session = this.#session
    const to = Math.max(1, Math.min(session.at + by, session.steps.length))
    return {
      after: () => {
        if (to === session.at) this.#say([by > 0 ? endText(session.tape) : 'the first step'])
        else session.goto(to)
        return this.#stopped('step')
      },
    }
  }

  #toModel(): Done {
    const { steps, at } = this.#session
    const next = steps.slice(at).find((step) => wordsOf(step).kind === 'model')
    return this.#move((next?.number ?? steps.length) - at)
  }

  #run(direction: 1 | -1): Done {
    const session = this.#session
    return {
      after: () => {
        const stop = session.run(direction)
        if (stop !== undefined) return this.#stopped('function breakpoint', [stop.breakpoint.id])
        if (session.steps.length > 0) session.goto(direction === 1 ? session.steps.length : 1)
        this.#say([direction === 1 ? endText(session.tape) : 'the beginning of the tape'])
        return this.#stopped('step')
      },
    }
  }

  /** The agent stands still in its code; the editor's own debugger of Node takes over in a session of its own. */
  #intoCode(): Done {
    const { context } = this.#debugger
    return { after: () => this.#enter(context) }
  }

  async #enter({ code, session }: Debugger['context']): Promise<void> {
    try {
      const stop = await code.enter(session.at)
      this.#say('why' in stop ? noStopLines(stop) : codeLines(stop))
      if (this.#canNest && !('why' in stop) && stop.port !== undefined) this.#attach(stop)
    } catch (error) {
      if (!HarvestError.is(error)) throw error
      this.#say(this.#errorLines(error))
    }
    this.#stopped('step')
  }

  #attach({ port = '', step }: Exclude<CodeStop | NoStop, NoStop>): void {
    const configuration = {
      type: 'node',
      name: `step ${step}`,
      address: '127.0.0.1',
      port: Number(new URL(port).port),
      continueOnAttach: false,
    }
    this.#write({
      seq: ++this.#seq,
      type: 'request',
      command: 'startDebugging',
      arguments: { request: 'attach', configuration },
    })
  }

  async #evaluate(args: Body, signal: AbortSignal): Promise<Done> {
    const expression = textOf(args['expression'])
    // What the mouse rests on is a word of a page, not a command.
    if (args['context'] === 'hover') throw wrong('only the prompt evaluates', ['inspect'])
    // Editors evaluate what they watch again at each stop.
    if (args['context'] !== undefined && args['context'] !== 'repl' && !isLook(expression))
      throw wrong('what is watched may only look: type it at the prompt', ['print messages.length', 'inspect state'])
    const before = this.#session.at
    const answered = await this.#debugger.run(expression, signal)
    if ('error' in answered) throw answered.error
    const isData = typeof answered.data === 'object' && answered.data !== null
    return {
      body: { result: answered.lines.join('\n'), variablesReference: isData ? this.#views.keep(answered.data) : 0 },
      after: () => (this.#session.at === before ? undefined : this.#stopped('goto')),
    }
  }

  #complete(args: Body): readonly object[] {
    return this.#debugger
      .complete(textOf(args['text']).slice(0, Math.max(0, numberOf(args['column'], 1) - 1)))
      .map((label) => ({ label }))
  }

  #end(): void {
    this.isOver = true
    this.close()
    this.#event('terminated', {})
  }

  #errorLines(error: HarvestError): readonly string[] {
    const { fix = [] } = error.facts
    const named = this.#prompt === undefined ? fix : stepsOfTape(fix, this.#prompt.context)
    return errorLines(withFacts(error, { fix: named.map(atStart) }))
  }

  #stopped(reason: string, hitBreakpointIds: readonly number[] = []): void {
    this.#views.reset()
    this.#event('stopped', {
      reason,
      threadId: 1,
      allThreadsStopped: true,
      ...(hitBreakpointIds.length === 0 ? {} : { hitBreakpointIds }),
    })
  }

  #say(lines: readonly string[]): void {
    this.#event('output', { category: 'console', output: `${lines.join('\n')}\n` })
  }

  #event(event: string, body: object): void {
    this.#write({ seq: ++this.#seq, type: 'event', event, body })
  }

  get #debugger(): Debugger {
    if (this.#prompt === undefined) throw wrong('no tape is open', ['send launch first'])
    return this.#prompt
  }

  get #session(): Debugger['context']['session'] {
    return this.#debugger.context.session
  }
}

/** What a request is answered with, and what happens behind the answer. */
interface Done {
  readonly body?: object
  readonly after?: () => void | Promise<void>
}
