import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { basename, sep } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { HarvestError, neutral, neutralLine } from '../errors/index.ts'
import { repositoryOf, toRecord } from '../errors/usual-steps.ts'
import { type OwnFile, preloadOption } from '../own-files.ts'
import { heard } from './heard-signal.ts'

/** A command line and where it runs. */
export interface Program {
  readonly argv: readonly string[]
  /** Absolute. */
  readonly cwd: string
}

export interface ProgramRunOptions {
  /** Module of this package that is loaded before the program, such as `record/register`. */
  readonly preload?: OwnFile
  readonly env: Readonly<Record<string, string>>
  /** `inherit`: the program writes to our stdout. `stderr`: its stdout goes to our stderr, because ours carries JSON. `capture`: nothing is shown. */
  readonly output: 'inherit' | 'stderr' | 'capture'
  /** Gives the program a channel to us, whose end tells it that we are gone, even when we were killed. */
  readonly isTied?: boolean
  /** Kills the program. */
  readonly signal?: AbortSignal
}

export interface ProgramExit {
  /** Exit code as a shell sees it: 128 and the signal's number when one ended it. */
  readonly code: number
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs a program to its end. `node` is the Node that runs us.
 *
 * @throws HarvestError `HARVEST_CLI_PROGRAM` when it cannot be started
 */
export async function runProgram(
  { argv, cwd }: Program,
  { preload, env, output, isTied = false, signal: giveUp }: ProgramRunOptions,
): Promise<ProgramExit> {
  const [program = '', ...args] = argv
  const out = { inherit: 'inherit', stderr: 2, capture: 'pipe' } as const
  const err = output === 'capture' ? 'pipe' : 'inherit'
  const child = start(() =>
    spawn(program === 'node' ? process.execPath : program, args, {
      cwd,
      stdio: ['inherit', out[output], err, ...(isTied ? (['ipc'] as const) : [])],
      env: { ...process.env, ...env, ...(preload === undefined ? {} : { NODE_OPTIONS: withPreload(preload) }) },
    }),
  )
  function start(begin: () => ChildProcess): ChildProcess {
    try {
      return begin()
    } catch (cause) {
      // A NUL in an argument: a tape may hold one, a command line may not.
      throw cannotStart(program, cwd, cause)
    }
  }
  const captured = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
  child.stdout?.on('data', (chunk: Buffer) => captured.stdout.push(chunk))
  child.stderr?.on('data', (chunk: Buffer) => captured.stderr.push(chunk))
  const kill = (): void => void child.kill('SIGKILL')
  giveUp?.addEventListener('abort', kill, { once: true })
  if (giveUp?.aborted === true) kill()
  const release = forwardSignals((signal) => child.kill(signal), isTied)
  try {
    const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((ended, failed) => {
      child.once('error', failed)
      child.once('close', (...how) => ended(how))
    })
    return {
      code: code ?? 128 + signalNumber(signal),
      signal,
      stdout: Buffer.concat(captured.stdout).toString(),
      stderr: Buffer.concat(captured.stderr).toString(),
    }
  } catch (cause) {
    throw cannotStart(program, cwd, cause)
  } finally {
    giveUp?.removeEventListener('abort', kill)
    release()
  }
}

/**
 * What a program wrote last, for the text of an error: without its colours, which our reader may not have asked for, and with
 * nothing that moves the cursor or speaks to a CI runner.
 */
export function outputOf({ stdout = '', stderr }: { readonly stdout?: string; readonly stderr: string }): string {
  const lines = stripVTControlCharacters(`${stdout}\n${stderr}`).trim().split(/\r?\n/).slice(-25)
  return lines.map(neutral).join('\n')
}

/** The folder of the repository, else the current one. */
export function projectRoot(from = process.cwd()): string {
  return repositoryOf(from) ?? from
}

/** A command line as it is written into a tape: no path of this machine in it. */
export function toRecorded(argv: readonly string[], cwd = process.cwd()): readonly string[] {
  const [program = '', ...args] = argv
  const isNode = program === process.execPath || /^node(\.exe)?$/i.test(program)
  const inside = (word: string): string => word.replaceAll(cwd + sep, '')
  return [isNode ? 'node' : inside(program), ...args.map(inside)]
}

function withPreload(module: OwnFile): string {
  return [process.env['NODE_OPTIONS'], preloadOption(module)]
    .filter((part) => part !== undefined && part !== '')
    .join(' ')
}

/**
 * Ctrl-C reaches the program by itself, from the terminal; we only must not die before it. Others are sent on. A program
 * that is ours alone is ended by Ctrl-C too, whether it came from the terminal or not.
 */
function forwardSignals(send: (signal: NodeJS.Signals) => void, isOurs: boolean): () => void {
  const interrupt = (): void => (isOurs ? send('SIGTERM') : undefined)
  const forward = (signal: NodeJS.Signals): void => {
    heard.exitCode = 128 + signalNumber(signal)
    send(signal)
  }
  process.on('SIGINT', interrupt)
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, forward)
  return () => {
    process.off('SIGINT', interrupt)
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.off(signal, forward)
  }
}

/** Hears signals that would end this process, until it is disposed: what is under way can be cleaned up first. */
export function hearSignals(): Disposable & { readonly signal: AbortSignal } {
  const heardOne = new AbortController()
  const release = forwardSignals(() => heardOne.abort(), true)
  return { signal: heardOne.signal, [Symbol.dispose]: release }
}

function signalNumber(signal: NodeJS.Signals | null): number {
  return signal === null ? 0 : constants.signals[signal]
}

function cannotStart(program: string, cwd: string, cause: unknown): HarvestError {
  const { code = 'unknown error' } = cause as NodeJS.ErrnoException
  return new HarvestError(
    'HARVEST_CLI_PROGRAM',
    {
      what: `Cannot start the program: ${code}`,
      where: { program: neutralLine(basename(program)), folder: cwd },
      fix: ['check the spelling, and that the folder exists', `for instance: ${toRecord}`],
    },
    { cause },
  )
}
