import type { ChildProcess } from 'node:child_process'
import { copyBytes, onChannel } from './channels.ts'
import { currentObserver, type ExchangeObserver, guarded } from './observer.ts'
import { isRequest, isResponse, messageOf, urlOfCommand } from '../stdio.ts'

/**
 * Hears JSON-RPC over the stdio of child processes (MCP servers). Messages belong to the run that wrote them, also
 * when one long-lived child serves many runs.
 */
export function observeChildren(): void {
  onChannel<{ process: ChildProcess }>('child', 'child_process', ({ process: child }) => {
    const run = currentObserver()
    // spawnargs and the pipes are set right after this event.
    process.nextTick(
      guarded(() => {
        run?.spawned(child.spawnargs)
        if (child.stdin && child.stdout) follow(child)
      }),
    )
  })
}

function follow(child: ChildProcess): void {
  const url = urlOfCommand(child.spawnargs)
  const waiting = new Map<string, ExchangeObserver>()
  const { stdin, stdout } = child
  if (!stdin || !stdout) return
  const wrote = lines((text) => {
    const message = messageOf(text)
    if (!message) return
    const run = currentObserver()
    if (!run) return
    const exchange = run.exchange({ via: 'stdio', method: message.method ?? 'response', url })
    exchange?.requestChunk(Buffer.from(text))
    if (exchange && isRequest(message)) {
      waiting.set(String(message.id), exchange)
      exchange.leaving(true)
    } else exchange?.end()
  })
  const said = lines((text) => {
    const message = messageOf(text)
    if (!message) return
    const exchange = isResponse(message) ? waiting.get(String(message.id)) : undefined
    if (!exchange) {
      currentObserver()?.pushed(url, text)
      return
    }
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
