import childProcess, { type ChildProcess, type SpawnOptions } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { PassThrough, Writable } from 'node:stream'
import { getSystemErrorMap } from 'node:util'
import { patchProperty, syncBuiltins } from '../patch.ts'
import { Context } from './context.ts'
import { SocketNumbers } from '../websocket-frames.ts'
import {
  childSettings,
  type EndingMethod,
  isRequest,
  messageOf,
  type RpcMessage,
  signalName,
  urlOfCommand,
} from '../stdio.ts'
import { permit } from './outside.ts'
import {
  type ChildMode,
  currentResponder,
  type ExchangeSink,
  type Responder,
  type SaidFrame,
  silent,
} from './responder.ts'
import { real, Timer } from '../timers.ts'
import { nextTick } from '../source.ts'

/** Gives replayed runs scripted children in place of those that speak JSON over stdio. Other children are escapes. */
export function interceptStdio(): void {
  patchProperty(childProcess, 'spawn', (original) => {
    function spawn(command: string, ...rest: unknown[]): ChildProcess {
      const run = currentResponder()
      const args = Array.isArray(rest[0]) ? (rest[0] as string[]) : []
      const options = (Array.isArray(rest[0]) ? rest[1] : rest[0]) as SpawnOptions | undefined
      if (!run || !usesPipes(options)) return Reflect.apply(original, childProcess, [command, ...rest]) as ChildProcess
      const asked = started([command, ...args], options)
      const mode = run.spawn(asked, childSettings({ ...options, file: options?.shell ? asked[0] : command }))
      if (mode === undefined)
        return permit(() => Reflect.apply(original, childProcess, [command, ...rest]) as ChildProcess)
      return new ScriptedChild(run, asked, mode, options) as unknown as ChildProcess
    }
    return spawn as typeof original
  })
  syncBuiltins()
}

/** The command as Node starts it, and so as a tape has it. */
function started(command: readonly string[], { shell, argv0 }: SpawnOptions = {}): readonly string[] {
  const own = shell === true ? '/bin/sh' : shell
  if (own && process.platform !== 'win32') return [own, '-c', command.join(' ')]
  return argv0 === undefined ? command : [argv0, ...command.slice(1)]
}

function usesPipes(options: SpawnOptions | undefined): boolean {
  const { stdio } = options ?? {}
  if (stdio === undefined || stdio === 'pipe') return true
  return Array.isArray(stdio) && stdio[0] === 'pipe' && stdio[1] === 'pipe'
}

const numbers = new WeakMap<object, SocketNumbers>()

/** A child that answers each line from the tape of the run that wrote it. */
class ScriptedChild extends EventEmitter {
  readonly pid: number | undefined = 2 ** 22
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
  /** Under which its end is known. */
  readonly #address: string
  readonly #mode: ChildMode
  readonly #run: Responder
  /** What a child says is heard where it was started: a client that answers does so in its run. */
  readonly #context = new Context()
  #rest = ''

  constructor(run: Responder, command: readonly string[], mode: ChildMode, options: SpawnOptions = {}) {
    super()
    this.#run = run
    this.spawnargs = command
    this.spawnfile = command[0] ?? ''
    const known = numbers.get(run.identity) ?? new SocketNumbers()
    numbers.set(run.identity, known)
    this.#address = known.next(urlOfCommand(command))
    this.#mode = mode
    this.#url = mode === 'lines' ? this.#address : urlOfCommand(command)
    this.stdin = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.#hear(chunk.toString('utf8'))
        done()
      },
      final: (done) => {
        done()
        if (this.#rest.trim()) this.#answer(this.#rest.trimEnd())
        this.#tell('END', '')
        // Others say themselves when they end.
        if (mode === 'rpc') this.#asked('0')
      },
    })
    this.stdio = [this.stdin, this.stdout, this.stderr]
    if (typeof mode === 'object') {
      this.pid = undefined
      nextTick(() => this.#fail(mode.error))
      return
    }
    run.listen(this.#url, (text, frame) => this.#say(text, frame), this.#address)
    nextTick(() => this.emit('spawn'))
    this.#limit(options)
  }

  kill(signal?: string | number): boolean {
    if (this.#isGone || typeof this.#mode === 'object') return false
    const name = signalName(signal)
    if (name === undefined) return true
    this.killed = true
    this.#tell('KILL', name)
    this.#asked(name)
    return true
  }

  [Symbol.dispose](): void {
    if (!this.killed) this.kill()
  }

  /** What Node does itself for `timeout` and `signal` of `spawn`. */
  #limit({ timeout, signal, killSignal }: SpawnOptions): void {
    if (timeout !== undefined && timeout > 0) {
      const timer = new Timer(this.#run, 'node', () => this.kill(killSignal), timeout, [], false)
      this.once('exit', () => timer.close())
    }
    const abort = (): void => {
      if (!this.kill(killSignal)) return
      const error = new Error('The operation was aborted', { cause: signal?.reason })
      this.emit('error', Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' }))
    }
    if (signal?.aborted === true) nextTick(abort)
    else signal?.addEventListener('abort', abort, { once: true })
    this.once('exit', () => signal?.removeEventListener('abort', abort))
  }

  /** The system could not start it. */
  #fail(code: string): void {
    const errno = [...getSystemErrorMap()].find(([, [name]]) => name === code)?.[0] ?? -1
    const path = this.spawnfile
    this.exitCode = errno
    const error = new Error(`spawn ${path} ${code}`)
    this.emit(
      'error',
      Object.assign(error, { errno, code, syscall: `spawn ${path}`, path, spawnargs: this.spawnargs.slice(1) }),
    )
    this.stdout.end()
    this.stderr.end()
    real.setImmediate(() => this.emit('close', errno, null))
  }

  get #isGone(): boolean {
    return this.exitCode !== null || this.signalCode !== null
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
    const run = this.#listener
    if (this.#mode === 'lines') return this.#tell('SEND', line)
    if (!message) return
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
      // The run has noted the divergence; the client gets it in its own protocol.
      const { id } = message
      if (id !== undefined)
        this.#say(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: String(error) } }))
    }
  }

  /** A client may write from a queue that lost the context: the child is that of the run that started it. */
  get #listener(): Responder {
    return currentResponder() ?? this.#run
  }

  #tell(method: 'SEND' | EndingMethod, line: string): void {
    if (typeof this.#mode === 'object') return
    const run = this.#listener
    const live = { via: 'stdio', method, url: this.#address, headers: [], body: Buffer.from(line) } as const
    try {
      run.exchange(live, silent)
    } catch {
      // The run has noted the divergence; its parent sees a child that gave up.
      this.#exit(1, null)
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

  #say(line: string, frame?: SaidFrame): void {
    // What it had said before it exited may be read later.
    if (frame === 'close') return /^\d+$/.test(line) ? this.#gone(Number(line), null) : this.#gone(null, line)
    if (this.stdout.writableEnded) return
    if (frame === 'end') return this.#silence()
    this.#context.run(() => this.stdout.write(`${line}\n`))
  }

  /** To end. It does so at once where the tape does not say how it did. */
  #asked(how: string): void {
    if (this.#isGone || this.#run.saysEnd?.(this.#address) === true) return
    this.#run.ended?.(this.#address, how)
    if (how === '0') this.#exit(0, null)
    else this.#exit(null, how)
  }

  #exit(code: number | null, signal: string | null): void {
    if (this.#isGone) return
    this.stdout.end()
    this.#gone(code, signal)
  }

  #gone(code: number | null, signal: string | null): void {
    if (this.#isGone) return
    this.exitCode = code
    this.signalCode = signal
    this.stderr.end()
    real.setImmediate(() => {
      this.emit('exit', code, signal)
      if (this.stdout.writableEnded) this.emit('close', code, signal)
    })
  }

  #silence(): void {
    this.stdout.end()
    if (this.#isGone) real.setImmediate(() => this.emit('close', this.exitCode, this.signalCode))
  }
}

/** The recorded answer under the id the client used this time. */
function withId(text: string, id: string | number | undefined): string {
  const message = messageOf(text)
  // A line that was cut when recorded is handed on as it was.
  return !message || message.id === id ? text : JSON.stringify({ ...message, id })
}
