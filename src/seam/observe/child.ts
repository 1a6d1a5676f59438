import type { ChildProcess } from 'node:child_process'
import { getSystemErrorName } from 'node:util'
import { copyBytes, onChannel } from './channels.ts'
import { currentObserver, type ExchangeObserver, guarded, type Observer } from './observer.ts'
import { SocketNumbers } from '../websocket-frames.ts'
import {
  childSettings,
  type EndingMethod,
  isRequest,
  isResponse,
  messageOf,
  type RpcMessage,
  signalName,
  type StartOptions,
  urlOfCommand,
} from '../stdio.ts'

/**
 * Hears JSON over the stdio of child processes: JSON-RPC of MCP servers, and lines of JSON as command-line agents say them.
 * Messages of JSON-RPC belong to the run that wrote them, also when one long-lived child serves many runs; lines to the run
 * that started the child.
 */
export function observeChildren(): void {
  onChannel<{ process: ChildProcess }>('child', 'child_process', ({ process: child }) => {
    const run = currentObserver()
    const begun = guarded((options: StartOptions | undefined, result: unknown) => {
      // Node reports this one later, as the error of the child.
      const error = typeof result === 'number' && result < 0 ? getSystemErrorName(result) : undefined
      run?.spawned(child.spawnargs, childSettings(options), error)
      if (error === undefined && child.stdin && child.stdout) follow(child, run)
    })
    // The event comes before the command and the pipes are known. An agent may write to them as soon as it has the child.
    const started = child as ChildProcess & { spawn?: (...args: unknown[]) => unknown }
    const { spawn } = started
    if (spawn === undefined) return
    Object.assign(started, {
      spawn(options: StartOptions) {
        delete started.spawn
        const result = spawn.call(child, options)
        begun(options, result)
        return result
      },
    })
  })
}

interface Waiting {
  readonly run: Observer
  readonly exchange: ExchangeObserver
}

function follow(child: ChildProcess, starter: Observer | undefined): void {
  const url = urlOfCommand(child.spawnargs)
  const address = starter === undefined ? url : numberOf(starter, url)
  /** What the child turned out to speak. */
  let mode: 'rpc' | 'lines' | undefined
  const waiting = new Map<string, Waiting>()
  /** Requests of the child, and whose client is to answer them. */
  const asked = new Map<string, Observer>()
  /** Its input was ended; of one that has not spoken yet it is unknown what that is worth. */
  let input: 'open' | 'ended' | 'noted' = 'open'
  const { stdin, stdout } = child
  if (!stdin || !stdout) return
  const noteEnd = guarded(() => {
    if (input !== 'ended' || mode === undefined) return
    input = 'noted'
    told(openRun(starter), address, 'END', '')
  })
  const wrote = lines((text) => {
    const message = messageOf(text)
    if (message) mode = 'rpc'
    if (!message && mode !== 'rpc') told(openRun(starter), address, 'SEND', text)
    if (!message) return
    const isReply = isResponse(message)
    const run = openRun(isReply ? asked.get(String(message.id)) : undefined) ?? currentObserver()
    if (!run) return
    if (isReply) asked.delete(String(message.id))
    const exchange = run.exchange({ via: 'stdio', method: message.method ?? 'response', url })
    exchange?.requestChunk(Buffer.from(text))
    if (exchange && isRequest(message)) {
      waiting.set(String(message.id), { run, exchange })
      exchange.leaving(true)
    } else exchange?.end()
  })
  const said = lines((text) => {
    const message = messageOf(text)
    if (message) mode ??= 'rpc'
    else if (mode === undefined && isObject(text)) mode = 'lines'
    noteEnd()
    if (mode === 'lines') openRun(starter)?.pushed(address, text)
    if (!message || mode === 'lines') return
    const answered = isResponse(message) ? waiting.get(String(message.id)) : undefined
    if (!answered) {
      const run = causeOf([...waiting.values()], message, url)
      run?.pushed(url, text)
      if (run && isRequest(message)) asked.set(String(message.id), run)
      return
    }
    const { exchange } = answered
    waiting.delete(String(message.id))
    exchange.head(200, '', { pairs: [], bytes: 0 })
    exchange.chunk(Buffer.from(text))
    exchange.end()
  })
  const { kill } = child
  const killed = guarded((signal: string | number | undefined) => {
    const name = signalName(signal)
    if (mode !== undefined && name !== undefined) told(openRun(starter), address, 'KILL', name)
  })
  // By this, `signal` and `timeout` of `spawn` end it as well, and so does `using`.
  Object.assign(child, {
    kill(signal?: NodeJS.Signals | number) {
      const isSent = kill.call(child, signal)
      if (isSent) killed(signal)
      return isSent
    },
  })
  const { write, end } = stdin
  const { push } = stdout
  Object.assign(stdin, {
    write(this: typeof stdin, ...args: unknown[]) {
      wrote(args[0], args[1])
      return Reflect.apply(write, this, args) as boolean
    },
    end(this: typeof stdin, ...args: unknown[]) {
      if (typeof args[0] === 'string' || args[0] instanceof Uint8Array) wrote(args[0], args[1])
      // A prompt has no line end.
      wrote('\n', undefined)
      if (input === 'open') input = 'ended'
      noteEnd()
      return Reflect.apply(end, this, args) as typeof stdin
    },
  })
  child.once(
    'exit',
    guarded((code: number | null, signal: string | null) => {
      const run = openRun(starter)
      if (mode !== undefined) run?.pushed(address, String(code ?? signal), 'close')
      else run?.unrecorded(`child process ${child.spawnargs.join(' ')}`)
    }),
  )
  Object.assign(stdout, {
    push(this: typeof stdout, ...args: unknown[]) {
      if (args[0] !== null) said(args[0], args[1])
      else if (mode !== undefined) openRun(starter)?.pushed(address, '', 'end')
      return Reflect.apply(push, this, args) as boolean
    },
  })
}

const numbers = new WeakMap<object, SocketNumbers>()

/** The second child of a run with one command is another one. */
function numberOf(run: Observer, url: string): string {
  const known = numbers.get(run.handle) ?? new SocketNumbers()
  numbers.set(run.handle, known)
  return known.next(url)
}

function told(run: Observer | undefined, url: string, method: 'SEND' | EndingMethod, text: string): void {
  const exchange = run?.exchange({ via: 'stdio', method, url })
  exchange?.requestChunk(Buffer.from(text))
  exchange?.end()
}

function isObject(text: string): boolean {
  if (!text.startsWith('{')) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    // What it prints is for people.
    return false
  }
}

/**
 * The run a child speaks to unasked: the only one that waits for it, for a child may serve many; else the one that started it.
 * Where several wait, which one is unknown: then none of their tapes is whole.
 */
function causeOf(waiting: readonly Waiting[], message: RpcMessage, url: string): Observer | undefined {
  const runs = [...new Map(waiting.flatMap(({ run }) => (run.over ? [] : [[run.id, run] as const]))).values()]
  const started = openRun(currentObserver())
  if (runs.length <= 1) return runs[0] ?? started
  if (isRequest(message))
    for (const run of runs) run.unrecorded(`${message.method ?? 'message'} of ${url}, for one of several runs`)
  return started
}

function openRun(run: Observer | undefined): Observer | undefined {
  return run?.over === false ? run : undefined
}

/** Cuts a byte stream into lines. */
function lines(onLine: (text: string) => void): (chunk: unknown, encoding: unknown) => void {
  let rest = Buffer.alloc(0)
  return guarded((chunk: unknown, encoding: unknown) => {
    rest = Buffer.concat([rest, copyBytes(chunk, encoding)])
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      const text = rest.subarray(0, at).toString('utf8').trimEnd()
      rest = rest.subarray(at + 1)
      if (text) onLine(text)
    }
  })
}
