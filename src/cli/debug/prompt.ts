import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { type REPLServer, start } from 'node:repl'
import type { Screen } from '../../report/output.ts'
import type { Debugger } from './debugger.ts'
import { printAnswer, saysWhatIsKnown, withCache } from './script.ts'
import { typedAgain } from '../typed-again.ts'
import { commandsIn } from './words.ts'
import { refuseLinks } from '../../tape/links.ts'

/**
 * Reads commands at a terminal until someone leaves: history, completion. Ctrl-C ends the forks that a command makes, and what
 * was typed behind it is not done; else it clears the line.
 */
export async function runPrompt(prompt: Debugger, screen: Screen, recordings: string): Promise<void> {
  const failed = Promise.withResolvers<never>()
  // What is typed while a command runs waits for it: each one starts where the one before it ended.
  let last: Promise<void> = Promise.resolve()
  let isClosed = false
  let stop = new AbortController()
  const server = start({
    prompt: promptOf(prompt),
    preview: false,
    ignoreUndefined: true,
    eval: (line, _context, _file, done) => {
      if (stop.signal.aborted) stop = new AbortController()
      const { signal } = stop
      last = last.then(() => answer(line, signal, done))
    },
    completer: (typed: string): [string[], string] => {
      const [, word = ''] = /(\S*)$/.exec(typed) ?? []
      return [[...prompt.complete(typed)], word]
    },
  })
  // Those of the repl itself would load and save files; one it tells of at Ctrl-C.
  for (const name of Object.keys(server.commands))
    if (name !== 'exit') delete (server.commands as Record<string, unknown>)[name]
  await keepHistory(server, recordings)
  stopsAtCtrlC(server, () => {
    if (!prompt.isStoppable || stop.signal.aborted) return false
    stop.abort()
    return true
  })
  async function answer(
    line: string,
    signal: AbortSignal,
    done: (error: Error | null, value?: unknown) => void,
  ): Promise<void> {
    const commands = commandsIn(line)
    try {
      for (const command of commands.length === 0 ? [''] : commands) {
        if (isClosed) return
        if (signal.aborted) break
        const answered = await prompt.run(command, signal)
        // Whoever left meanwhile ended what it was about.
        if (isClosed && !saysWhatIsKnown(answered)) return
        const again = (): string => (isClosed ? typedAgain({ commands: withCache(command) }) : withCache(command))
        printAnswer(answered, { screen, isJson: false }, again)
        if (isClosed) return
        if (prompt.isOver) return server.close()
      }
    } catch (error) {
      // A mistake of ours ends the prompt, as it ends any command.
      failed.reject(error)
      return server.close()
    }
    server.setPrompt(promptOf(prompt))
    done(null)
  }
  // The terminal may be gone already when it is given back.
  server.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EIO') failed.reject(error)
  })
  const left = new Promise<void>((ended) =>
    server.once('exit', () => {
      isClosed = true
      ended()
    }),
  )
  await Promise.race([failed.promise, left])
}

/** @param stop - ends what runs; `false` where Ctrl-C is for the prompt */
function stopsAtCtrlC(server: REPLServer, stop: () => boolean): void {
  const own = server.listeners('SIGINT')
  server.removeAllListeners('SIGINT')
  server.on('SIGINT', () => {
    if (!stop()) for (const listener of own) Reflect.apply(listener, server, [])
  })
}

/** `(7/10) `; in code `(7/10 code) `, with a star when `call` changed something. */
function promptOf({ context: { session, code }, isInCode }: Debugger): string {
  const where = isInCode ? ` code${code.isTouched ? '*' : ''}` : ''
  return `(${session.at}/${session.steps.length}${where}) `
}

/** What was typed is kept in the inbox, which is not committed, for its owner alone: rules may hold personal data. */
async function keepHistory(server: REPLServer, recordings: string): Promise<void> {
  const inbox = join(recordings, 'inbox')
  if (!existsSync(inbox)) return
  const file = join(inbox, '.debug-history')
  refuseLinks(recordings, file)
  closeSync(openSync(file, 'a', 0o600))
  await new Promise<void>((ready) => server.setupHistory(file, () => ready()))
}
