// A Node that has loaded before what it runs: node warm.child.ts. Each message names one program, which runs in this process
// as it would in one of its own, and has ended when it waits for nothing more.
import childProcess, { type ChildProcess, type ForkOptions } from 'node:child_process'
import type { EventEmitter } from 'node:events'
import { registerHooks, syncBuiltinESMExports } from 'node:module'
import { pathToFileURL } from 'node:url'
import { type Asked, endOf, type Told } from './warm.ts'
// Our command starts Vitest: in a Node that has loaded it before, too.
import './warm-spawn.ts'
import './known-options.ts'

/** Files that do their work when they are loaded: each run loads them once more. What they import stays. */
const programs =
  /\/(bin|cli\/main|vitest\/run-vitest|vitest\/dist\/(cli|chunks\/cac\.[^/]+))\.[jt]s$|\/vitest\/vitest\.mjs$/

const emitters: readonly EventEmitter[] = [process, process.stdout, process.stderr]
const writes = [process.stdout, process.stderr].map((stream) => stream.write.bind(stream))
const { setTimeout } = globalThis
const { fork } = childProcess
const timers = new Set<NodeJS.Timeout>()
let runs = 0
let watchdog: ChildProcess | undefined
let running: Asked | undefined

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    return programs.test(found.url) ? { ...found, url: `${found.url}?${runs}` } : found
  },
})

// A timer that nobody waits for ends with its process.
globalThis.setTimeout = Object.assign((...args: Parameters<typeof setTimeout>) => {
  const timer = setTimeout(...args)
  timers.add(timer)
  return timer
}, setTimeout) as typeof setTimeout

// What ends the workers of a Vitest that dies. Each run starts one, which costs a sixth of it, and lets go of it at its end:
// here one watches over all runs, and is let go of when this process ends.
childProcess.fork = ((module: string, args: readonly string[], options: ForkOptions) => {
  if (!/\/vitest\/dist\/workers\/watchdog\.js$/.test(module)) return fork(module, args, options)
  if (watchdog?.connected !== true) {
    watchdog = fork(module, args, options).setMaxListeners(0)
    watchdog.disconnect = () => undefined
  }
  return watchdog
}) as typeof fork
syncBuiltinESMExports()

process.on('message', run)
process.once('disconnect', () => process.exit())
process.on('beforeExit', end)
const own = new Set(emitters.flatMap((emitter) => listenersOf(emitter).map(({ listener }) => listener)))

function run(asked: Asked): void {
  running = asked
  runs += 1
  process.chdir(asked.cwd)
  for (const name of Object.keys(process.env)) if (!(name in asked.env)) delete process.env[name]
  Object.assign(process.env, asked.env)
  process.argv = [process.execPath, ...asked.args]
  // From here, nothing of ours keeps the process alive.
  process.channel?.unref()
  import(pathToFileURL(asked.args[0] ?? '').href).catch((error: unknown) => {
    console.error(error)
    process.exitCode = 1
  })
}

function end(): void {
  if (running === undefined) return
  const { id, isOnePipe } = running
  running = undefined
  const code = Number(process.exitCode ?? 0)
  for (const { emitter, name, listener } of emitters.flatMap(listenersOf)) {
    if (own.has(listener)) continue
    if (emitter === process && name === 'exit') listener.call(process, code)
    emitter.removeListener(name, listener)
  }
  for (const timer of timers) clearTimeout(timer)
  timers.clear()
  process.exitCode = undefined
  for (const write of isOnePipe ? writes.slice(0, 1) : writes) write(endOf(id))
  process.channel?.ref()
  process.send?.({ id, code } satisfies Told)
}

interface Listening {
  readonly emitter: EventEmitter
  readonly name: string | symbol
  readonly listener: (...args: readonly unknown[]) => void
}

function listenersOf(emitter: EventEmitter): readonly Listening[] {
  return emitter
    .eventNames()
    .flatMap((name) => emitter.listeners(name).map((listener) => ({ emitter, name, listener: listener as () => void })))
}
