import childProcess, { type ChildProcess, type SpawnOptions } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { PassThrough, Writable } from 'node:stream'
import { patchProperty, syncBuiltins } from '../patch.ts'
import { Context } from './context.ts'
import { isRequest, messageOf, type RpcMessage, urlOfCommand } from '../stdio.ts'
import { currentResponder, type ExchangeSink, type Responder } from './responder.ts'
import { real } from '../timers.ts'

/** Gives replayed runs scripted children in place of MCP servers over stdio. Other children are escapes. */
export function interceptStdio(): void {
  patchProperty(childProcess, 'spawn', (original) => {
    function spawn(command: string, ...rest: unknown[]): ChildProcess {
      const run = currentResponder()
      const args = Array.isArray(rest[0]) ? (rest[0] as string[]) : []
      const options = (Array.isArray(rest[0]) ? rest[1] : rest[0]) as SpawnOptions | undefined
      if (!run || !usesPipes(options)) return Reflect.apply(original, childProcess, [command, ...rest]) as ChildProcess
      run.spawn([command, ...args])
      return new ScriptedChild(run, [command, ...args]) as unknown as ChildProcess
    }
    return spawn as typeof original
  })
  syncBuiltins()
}

function usesPipes(options: SpawnOptions | undefined): boolean {
  const { stdio } = options ?? {}
  if (stdio === undefined || stdio === 'pipe') return true
  return Array.isArray(stdio) && stdio[0] === 'pipe' && stdio[1] === 'pipe'
}

/** A child that answers each JSON-RPC line from the tape of the run that wrote it. */
class ScriptedChild extends EventEmitter {
  readonly pid = 2 ** 22
  readonly stdin: Writable
  readonly stdout = new PassThrough()
  readonly stderr = new PassThrough()
  readonly stdio: readonly unknown[]
  readonly spawnargs: readonly string[]
  readonly spawnfile: string
  readonly connected = false
  exitCode: number | null = null
  signalCode: string | null = null
  killed = false
  readonly #url: string
  readonly #run: Responder
  /** What a child says is heard where it was started: a client that answers does so in its run. */
  readonly #context = new Context()
  #rest = ''

  constructor(run: Responder, command: readonly string[]) {
    super()
    this.#run = run
    this.spawnargs = command
    this.spawnfile = command[0] ?? ''
    this.#url = urlOfCommand(command)
    this.stdin = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.#hear(chunk.toString('utf8'))
        done()
      },
      final: (done) => {
        done()
        this.#exit(0, null)
      },
    })
    this.stdio = [this.stdin, this.stdout, this.stderr]
    run.listen(this.#url, (text) => this.#say(text))
    process.nextTick(() => this.emit('spawn'))
  }

  kill(signal: string | number = 'SIGTERM'): boolean {
    if (this.exitCode !== null || this.signalCode !== null) return false
    this.killed = true
    this.#exit(null, String(signal))
    return true
  }

  ref(): void {
    // Nothing holds the event loop open.
  }

  unref(): void {
    // Nothing holds the event loop open.
  }

  #hear(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) if (line.trim()) this.#answer(line.trimEnd())
  }

  #answer(line: string): void {
    const message = messageOf(line)
    // A client may write from a queue that lost the context: the child is that of the run that started it.
    const run = currentResponder() ?? this.#run
    if (!message || run.over) return
    try {
      const live = {
        via: 'stdio',
        method: message.method ?? 'response',
        url: this.#url,
        headers: [],
        body: Buffer.from(line),
      } as const
      run.exchange(live, isRequest(message) ? this.#sink(message) : silent)
    } catch (error) {
      // The run has noted the divergence; the client is told in its own protocol.
      const { id } = message
      if (id !== undefined)
        this.#say(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: String(error) } }))
    }
  }

  #sink(message: RpcMessage): ExchangeSink {
    let text = ''
    return {
      ...silent,
      chunk: (bytes) => {
        text += bytes.toString('utf8')
      },
      end: () => this.#say(withId(text, message.id)),
    }
  }

  #say(line: string): void {
    if (this.exitCode !== null || this.signalCode !== null) return
    this.#context.run(() => this.stdout.write(`${line}\n`))
  }

  #exit(code: number | null, signal: string | null): void {
    if (this.exitCode !== null || this.signalCode !== null) return
    this.exitCode = code
    this.signalCode = signal
    this.stdout.end()
    this.stderr.end()
    real.setImmediate(() => {
      this.emit('exit', code, signal)
      this.emit('close', code, signal)
    })
  }
}

const silent: ExchangeSink = {
  head: () => undefined,
  chunk: () => undefined,
  end: () => undefined,
  error: () => undefined,
}

/** The recorded answer under the id the client used this time. */
function withId(text: string, id: string | number | undefined): string {
  const message = messageOf(text)
  // A line that was cut when recorded is handed on as it was.
  return !message || message.id === id ? text : JSON.stringify({ ...message, id })
}
