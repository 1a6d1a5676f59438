import crypto from 'node:crypto'
import dgram from 'node:dgram'
import inspector from 'node:inspector'
import module from 'node:module'
import net from 'node:net'
import os from 'node:os'
import { join } from 'node:path'
import tls from 'node:tls'
import v8 from 'node:v8'
import { onceInProcess, patchProperty } from '../patch.ts'
import { confinedRefusal } from './confine.ts'
import { guardAddOns } from './guard-add-ons.ts'
import { guard, refuse } from './guarding.ts'
import { permit, refusal } from './outside.ts'
import { requireWritable } from './sqlite-files.ts'
import { isAgentAtWork } from './work.ts'
import { workerTarget } from './worker-target.ts'

/** Refuses what reaches below Node's modules, lets others in, signals other processes, or writes the memory to a file. */
export function guardProcess(): void {
  guardBindings()
  guardSignals()
  guardPriority()
  guardAddOns()
  guardEngines()
  guardModules()
  guardDebuggers()
  guardDumps()
  guardWasi()
  guardTraces()
}

const first = ([one]: readonly unknown[]): string => String(one ?? '')

/** Tables of constants and names: nothing can be reached with them, and old packages read them. */
const harmless = new Set(['config', 'constants', 'natives', 'util', 'uv'])

function guardBindings(): void {
  for (const key of ['binding', '_linkedBinding']) {
    guard(process, key, (original) => {
      return function (this: unknown, ...args: unknown[]) {
        const name = first(args)
        const error = harmless.has(name) ? undefined : refusal('process.binding', name)
        if (error) throw error
        return original.apply(this, args) as unknown
      }
    })
  }
  // A handle that listens already.
  refuse(net, '_createServerHandle', 'listen', (args) => args.slice(0, 2).join(':'))
  refuse(dgram, '_createSocketHandle', 'udp bind', (args) => args.slice(0, 2).join(':'))
}

function guardSignals(): void {
  refuse(process, 'execve', 'process.execve', first)
  for (const key of ['kill', '_kill', '_debugProcess']) {
    guard(process, key, (original) => {
      return function (this: unknown, ...args: unknown[]) {
        // Signal 0 asks whether a process is there.
        const isQuestion = key !== '_debugProcess' && args[1] === 0
        const error = isQuestion ? undefined : confinedRefusal('process.kill', args.slice(0, 2).map(String).join(' '))
        if (error) throw error
        // `kill` calls `_kill`.
        return permit(() => original.apply(this, args) as unknown)
      }
    })
  }
}

/** How much of the machine another process has; its own an agent may lower. */
function guardPriority(): void {
  guard(os, 'setPriority', (original) => {
    return function (this: unknown, ...args: unknown[]) {
      const isOwn = args.length < 2 || args[0] === 0 || args[0] === process.pid
      const error = isOwn ? undefined : confinedRefusal('os.setPriority', first(args))
      if (error) throw error
      return original.apply(this, args) as unknown
    }
  })
}

/** Native code that OpenSSL loads: Node announces none of it. */
function guardEngines(): void {
  refuse(crypto, 'setEngine', 'crypto.setEngine', first)
  guard(tls, 'createSecureContext', (original) => {
    return function (this: unknown, ...args: unknown[]) {
      const { clientCertEngine, privateKeyEngine } = (args[0] ?? {}) as Readonly<Record<string, unknown>>
      const engine = clientCertEngine ?? privateKeyEngine
      const error = engine === undefined ? undefined : refusal('crypto.setEngine', first([engine]))
      if (error) throw error
      return original.apply(this, args) as unknown
    }
  })
}

function guardModules(): void {
  // Hooks run in a thread of Node's own, where no seam is.
  refuse(module, 'register', 'worker', (args) => `module.register ${workerTarget(args[0])}`)
  guard(module, 'enableCompileCache', (original) => {
    return function (this: unknown, ...args: unknown[]) {
      const [given] = args
      const folder = typeof given === 'object' && given !== null ? Reflect.get(given, 'directory') : given
      if (isAgentAtWork())
        requireWritable(folder ?? join(os.tmpdir(), 'node-compile-cache'), 'module.enableCompileCache')
      return original.apply(this, args) as unknown
    }
  })
}

function guardDebuggers(): void {
  refuse(inspector, 'open', 'inspector.open', (args) => `${String(args[1] ?? '127.0.0.1')}:${String(args[0] ?? 9229)}`)
  // The class of `node:inspector/promises` extends this one.
  refuse(inspector.Session.prototype, 'connect', 'inspector.Session', () => 'this thread')
  refuse(inspector.Session.prototype, 'connectToMainThread', 'inspector.Session', () => 'the main thread')
}

function guardDumps(): void {
  refuse(v8, 'writeHeapSnapshot', 'v8.writeHeapSnapshot', first)
  refuse(v8, 'setHeapSnapshotNearHeapLimit', 'v8.setHeapSnapshotNearHeapLimit', first)
  refuse(process.report, 'writeReport', 'process.report.writeReport', (args) =>
    typeof args[0] === 'string' ? args[0] : '',
  )
  // A report that is written later, and where. What these say was said before the agent is its owner's.
  for (const key of [
    'directory',
    'filename',
    'signal',
    'reportOnFatalError',
    'reportOnSignal',
    'reportOnUncaughtException',
  ])
    refuseSetting(process.report, key, 'process.report')
}

/**
 * Refuses that a setting of Node is changed, but not that it is switched off or set back: Node does so itself around
 * uncaught exceptions, and an error thrown there ends the process.
 */
function refuseSetting(target: object, key: string, kind: string): void {
  onceInProcess(`guard.${kind}.${key}`, () => {
    const setting = Object.getOwnPropertyDescriptor(target, key)
    const { set } = setting ?? {}
    if (set === undefined) return
    let chosen: unknown = Reflect.get(target, key)
    Object.defineProperty(target, key, {
      ...setting,
      set(value: unknown) {
        if (value !== false && value !== chosen) {
          const error = refusal(kind, `${key} ${String(value)}`)
          if (error) throw error
          chosen = value
        }
        set.call(target, value)
      },
    })
  })
}

function guardWasi(): void {
  const wasi = loadQuietly('node:wasi') as { WASI: new (...args: unknown[]) => object } | undefined
  if (wasi === undefined) return
  patchProperty(wasi, 'WASI', (Original) => {
    return class WASI extends Original {
      constructor(...args: unknown[]) {
        const error = refusal('node:wasi', preopened(args[0]))
        if (error) throw error
        super(...args)
      }
    }
  })
}

function preopened(options: unknown): string {
  const { preopens } = (options ?? {}) as { readonly preopens?: object }
  return Object.values(preopens ?? {}).join(', ')
}

function guardTraces(): void {
  const traces = loadQuietly('node:trace_events')
  if (traces === undefined) return
  refuse(traces, 'createTracing', 'trace_events', ([options]) => {
    const { categories } = (options ?? {}) as { readonly categories?: unknown }
    return Array.isArray(categories) ? categories.join(',') : ''
  })
}

function silent(): void {}

/** A module of Node that warns when it is loaded, which the agent did not do; `undefined` without one. */
function loadQuietly(name: string): object | undefined {
  const { emitWarning } = process
  process.emitWarning = silent
  try {
    return process.getBuiltinModule(name) as object | undefined
  } catch (error) {
    // Worker threads have no traces.
    if ((error as NodeJS.ErrnoException).code === 'ERR_TRACE_EVENTS_UNAVAILABLE') return undefined
    throw error
  } finally {
    process.emitWarning = emitWarning
  }
}
