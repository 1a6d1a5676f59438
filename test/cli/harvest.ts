import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { built } from '../support/built.ts'
import { canBeWarm, runWarm } from '../support/warm.ts'

export interface Answered {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** What it reads from stdin, which is empty otherwise. */
  readonly input?: string
}

/** Runs the built `harvest` command in a process of its own, as a shell without a terminal would. */
export function harvest(args: readonly string[], options: RunOptions = {}): Promise<Answered> {
  return run(process.execPath, [built('cli/main.js'), ...args], options)
}

/**
 * As {@link harvest}, in a process that ran other commands before it, and so does the Vitest that it starts: to load both
 * is most of what a command costs. For tests about what commands say and write, not about their processes.
 */
export function warmHarvest(args: readonly string[], options: RunOptions = {}): Promise<Answered> {
  return warmRun(process.execPath, [built('cli/main.js'), ...args], options)
}

/** As {@link run}; a command of ours and Vitest run in a process that ran others before, unless they are given a stdin. */
export async function warmRun(program: string, args: readonly string[], options: RunOptions = {}): Promise<Answered> {
  const { cwd = process.cwd(), env = {}, input } = options
  if (program !== process.execPath || !canBeWarm(args[0]) || input !== undefined) return run(program, args, options)
  const { code, stdout, stderr } = await runWarm(args, { cwd, env: { ...ownEnvironment(), ...env } })
  return { code, stdout: stdout.toString(), stderr: stderr.toString() }
}

export async function run(
  program: string,
  args: readonly string[],
  { cwd = process.cwd(), env = {}, input }: RunOptions = {},
): Promise<Answered> {
  const child = spawn(program, args, {
    cwd,
    env: { ...ownEnvironment(), ...env },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  child.stdin?.end(input)
  const text = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => (text[name] += chunk))
  const code = await new Promise<number | null>((ended, failed) => child.once('error', failed).once('close', ended))
  return { code, ...text }
}

/** What Vitest tells its workers is not for programs that a user would start. */
function ownEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_OPTIONS|NODE_V8|FORCE_COLOR)/.test(name)),
  )
}

/** An empty folder that is gone after the test. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'harvest-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
