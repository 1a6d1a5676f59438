import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { finished } from 'node:stream/promises'
import { inlineMapsVariable } from '../../src/jobs/job.ts'

export interface WarmOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** What it writes to stderr comes in stdout, in the order in which it was written. */
  readonly isOnePipe?: boolean
}

export interface WarmRun {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: Buffer
  readonly stderr: Buffer
}

/** One program that a warm Node is asked to run. */
export interface Asked {
  readonly id: number
  /** Absolute path of the program, and its arguments. */
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly isOnePipe: boolean
}

/** How it ended. */
export interface Told {
  readonly id: number
  readonly code: number
}

/** What stands on each pipe behind all that a program wrote. */
export function endOf(id: number): string {
  return `\0end of ${id}\0`
}

/** Whether a warm Node can run it: our commands, and Vitest. */
export function canBeWarm(program = ''): boolean {
  return /\/(bin|cli\/main|vitest\/run-vitest)\.[jt]s$|\/vitest\/vitest\.mjs$/.test(program)
}

/**
 * Runs a program of Node in a process that ran others before it: to load our command and Vitest is most of what a short
 * run costs. It has its own arguments, environment and folder, and ends when it waits for nothing more.
 */
export async function runWarm(args: readonly string[], options: WarmOptions): Promise<WarmRun> {
  const { cwd, env } = options
  return runIn(nodeFor(options), { args, cwd, env })
}

/** For `spawn`: a Vitest that our command starts. `undefined`: this is something else, or code that is debugged. */
export function spawnWarm(
  program: string,
  args: readonly string[],
  { cwd = process.cwd(), env = process.env, stdio }: SpawnOptions,
): ChildProcess | undefined {
  if (program !== process.execPath || !canBeWarm(args[0]) || !Array.isArray(stdio)) return undefined
  if (env[inlineMapsVariable] !== undefined) return undefined
  const options = { cwd: String(cwd), env }
  const node = nodeFor(options)
  const [out, err] = stdio.slice(1, 3).map((where) => (where === 'pipe' ? new PassThrough() : undefined))
  const child = Object.assign(new EventEmitter(), {
    stdout: out ?? null,
    stderr: err ?? null,
    pid: node.pid,
    kill: (signal: NodeJS.Signals = 'SIGTERM') => node.kill(signal),
  })
  void runIn(node, { args, ...options }).then(async ({ code, signal, stdout, stderr }) => {
    // What has no pipe of its own goes where ours goes.
    if (out === undefined) (stdio[1] === 2 ? process.stderr : process.stdout).write(stdout)
    if (err === undefined) process.stderr.write(stderr)
    const pipes = [
      [out, stdout],
      [err, stderr],
    ] as const
    for (const [pipe, text] of pipes) if (pipe !== undefined) await finished(pipe.end(text))
    child.emit('close', code, signal)
  })
  return child as unknown as ChildProcess
}

/** After so many programs another Node takes over: each leaves a little behind. */
const mostRuns = 40

/** So many wait for the next program; then the one that waited longest ends. */
const mostIdle = 3

/** What is read when it is needed. All else may be read when a program is loaded: a Node is warm for that alone. */
const readLate = /^(HARVEST|VITEST_HARVEST|DESK|MODEL|OPENAI|REFUND|GIT)_|^(POOL|ISOLATE)$/

/** The one that was used last comes last. */
const idle = new Set<WarmNode>()

function nodeFor(options: WarmOptions): WarmNode {
  const early = Object.entries(options.env).filter(([name]) => !readLate.test(name))
  const key = JSON.stringify([options.isOnePipe === true, early.toSorted()])
  return [...idle].find((node) => node.key === key && node.isUsable) ?? new WarmNode(key, options)
}

async function runIn(node: WarmNode, asked: Omit<Asked, 'id' | 'isOnePipe'>): Promise<WarmRun> {
  idle.delete(node)
  const ended = await node.run(asked)
  if (node.isUsable) idle.add(node)
  else node.end()
  for (const old of [...idle].slice(0, -mostIdle)) {
    idle.delete(old)
    old.end()
  }
  return ended
}

interface Holding {
  readonly destroyed?: boolean
  ref(): void
  unref(): void
}

class WarmNode {
  readonly #child: ChildProcess
  readonly key: string
  readonly #isOnePipe: boolean
  #runs = 0

  constructor(key: string, { env, isOnePipe = false }: WarmOptions) {
    this.key = key
    this.#isOnePipe = isOnePipe
    const program = [process.execPath, join(import.meta.dirname, 'warm.child.ts')]
    const [first = '', ...args] = isOnePipe ? ['/bin/sh', '-c', 'exec "$@" 2>&1', 'sh', ...program] : program
    this.#child = spawn(first, args, { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    this.#hold(false)
  }

  get isUsable(): boolean {
    return this.#runs < mostRuns && this.#child.connected
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  kill(signal: NodeJS.Signals): boolean {
    return this.#child.kill(signal)
  }

  /** It ends itself once nobody can ask it any more. */
  end(): void {
    if (this.#child.connected) this.#child.disconnect()
  }

  async run(asked: Omit<Asked, 'id' | 'isOnePipe'>): Promise<WarmRun> {
    this.#runs += 1
    const id = this.#runs
    this.#hold(true)
    const isOnePipe = this.#isOnePipe
    const out = hear(this.#child.stdout, endOf(id))
    const err = isOnePipe ? undefined : hear(this.#child.stderr, endOf(id))
    const { promise, resolve } = Promise.withResolvers<readonly [number | null, NodeJS.Signals | null]>()
    const told = (message: Told): void => (message.id === id ? resolve([message.code, null]) : undefined)
    const closed = (...how: readonly [number | null, NodeJS.Signals | null]): void => resolve(how)
    this.#child.on('message', told).once('close', closed)
    this.#child.send({ id, isOnePipe, ...asked } satisfies Asked)
    const [code, signal] = await promise
    const [stdout, stderr] = [await out.text(), (await err?.text()) ?? Buffer.alloc(0)]
    this.#child.off('message', told).off('close', closed)
    this.#hold(false)
    return { code, signal, stdout, stderr }
  }

  /** Whether this process waits for it. */
  #hold(is: boolean): void {
    const { stdout, stderr, channel } = this.#child
    const all = [this.#child, channel, stdout, stderr] as unknown as readonly (Holding | null | undefined)[]
    // A pipe that is closed would wait to be opened.
    for (const one of all.filter((some) => some?.destroyed !== true))
      if (is) one?.ref()
      else one?.unref()
  }
}

/** What a stream says up to `end`, or up to its own end. */
function hear(stream: NodeJS.ReadableStream | null, end: string): { text(): Promise<Buffer> } {
  let whole = Buffer.alloc(0)
  const { promise, resolve } = Promise.withResolvers<void>()
  const take = (chunk: Buffer): void => {
    whole = Buffer.concat([whole, chunk])
    if (whole.subarray(-end.length).equals(Buffer.from(end))) resolve()
  }
  stream?.on('data', take).once('close', resolve)
  const text = async (): Promise<Buffer> => {
    await promise
    stream?.off('data', take).off('close', resolve)
    const at = whole.lastIndexOf(end)
    return at === -1 ? whole : whole.subarray(0, at)
  }
  return { text }
}
