import type { ChildProcess } from 'node:child_process'
import { copyBytes, onChannel } from './channels.ts'
import { currentObserver, type ExchangeObserver, guarded, type Observer } from './observer.ts'
import { isRequest, isResponse, messageOf, type RpcMessage, urlOfCommand } from '../stdio.ts'

/**
 * Hears JSON-RPC over the stdio of child processes (MCP servers). Messages belong to the run that wrote them, also
 * when one long-lived child serves many runs.
 */
export function observeChildren(): void {
  onChannel<{ process: ChildProcess }>('child', 'child_process', ({ process: child }) => {
    const run = currentObserver()
    const begun = guarded(() => {
      run?.spawned(child.spawnargs)
      if (child.stdin && child.stdout) follow(child)
    })
    // The event comes before the command and the pipes are known. An agent may write to them as soon as it has the child.
    const started = child as ChildProcess & { spawn?: (...args: unknown[]) => unknown }
    const { spawn } = started
    if (spawn === undefined) return
    started.spawn = (...args) => {
      delete started.spawn
      const result = Reflect.apply(spawn, child, args)
      begun()
      return result
    }
  })
}

interface Waiting {
  readonly run: Observer
  readonly exchange: ExchangeObserver
}

function follow(child: ChildProcess): void {
  const url = urlOfCommand(child.spawnargs)
  const waiting = new Map<string, Waiting>()
  /** Requests of the child, and whose client is to answer them. */
  const asked = new Map<string, Observer>()
  const { stdin, stdout } = child
  if (!stdin || !stdout) return
  const wrote = lines((text) => {
    const message = messageOf(text)
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
    if (!message) return
    const answered = isResponse(message) ? waiting.get(String(message.id)) : undefined
    if (!answered) {
      const run = causeOf([...waiting.values()], message, url)
      run?.pushed(url, text)
      if (run && isRequest(message)) asked.set(String(message.id), run)
      return
    }
    const { exchange } = answered
    waiting.delete(String(message.id))
    exchange.head(200, '', [])
    exchange.chunk(Buffer.from(text))
    exchange.end()
  })
  const { write } = stdin
  const { push } = stdout
  stdin.write = function (this: typeof stdin, ...args: unknown[]) {
    wrote(args[0], args[1])
    return Reflect.apply(write, this, args) as boolean
  } as typeof write
  stdout.push = function (this: typeof stdout, ...args: unknown[]) {
    if (args[0] !== null) said(args[0], args[1])
    return Reflect.apply(push, this, args) as boolean
  } as typeof push
}

/**
 * The run a child speaks to unasked: the only one that waits for it, for a child may serve many; else the one that started it.
 * Where several wait, nobody can tell: then none of their tapes is whole.
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
