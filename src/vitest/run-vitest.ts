#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { HarvestError } from '../errors/index.ts'
import { inlineMapsVariable, jobsVariable } from '../jobs/job.ts'
import { exactCases } from './exact-cases.ts'
import { parseTools, toolsVariable, toolsYesVariable } from './tools-choice.ts'
import { chooseMode, parseFlag, parseMode, type UpdateMode, updateVariable } from './update-mode.ts'
import { askReason, noReason, parseReason, reasonVariable } from './update-reason.ts'
import { ownPath } from '../own-files.ts'

/*
 * The `vitest-harvest` command: `vitest`, and it also understands `--update-recordings[=new|questions|pins|all|none]`, `--reason "…"`,
 * `--tools run|serve|<names>` and `--yes`. `--prove` goes to `npx vitest-harvest test`.
 *
 * Vitest refuses an unknown flag before it loads any config, so no plugin can add one. This takes the flags out, says them
 * in environment variables instead, and runs the project's own Vitest in this process: every other command and flag of
 * Vitest, its exit code and its keyboard shortcuts stay as they are.
 */
try {
  endWithCommand()
  keepMaps()
  if (isProof(process.argv)) process.exit(await prove(process.argv))
  const { argv, reason } = takeFlags(process.argv)
  const entry = findVitest(process.cwd())
  const { mode } = chooseMode([askedMode(argv)], process.env)
  await settleReason(mode, reason)
  const words = askedMode(argv) === undefined || mode === 'none' ? argv.slice(2) : exactCases(argv.slice(2))
  process.argv = [...argv.slice(0, 1), entry, ...words]
  await import(pathToFileURL(entry).href)
} catch (error) {
  if (!HarvestError.is(error)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 2
}

/** `--prove` is no run of Vitest: `npx vitest-harvest test --prove` does it, which runs Vitest for it. */
function isProof(words: readonly string[]): boolean {
  const stop = words.indexOf('--')
  return words.slice(2, stop === -1 ? undefined : stop).includes('--prove')
}

async function prove([, , ...words]: readonly string[]): Promise<number> {
  const command = ownPath('cli/main')
  const cases = words[0] === 'test' || words[0] === 'run' ? words.slice(1) : words
  const child = spawn(process.execPath, [command, 'test', ...cases], { stdio: 'inherit' })
  return new Promise((ended, failed) => {
    child.once('error', failed)
    child.once('close', (code, signal) => ended(code ?? (signal === 'SIGINT' ? 130 : 143)))
  })
}

/** A command that is gone, however it ended, must not leave runs behind that ask models for real. */
function endWithCommand(): void {
  if (process.env[jobsVariable] === undefined || process.channel == null) return
  process.once('disconnect', () => process.exit(130))
  // It keeps nothing alive.
  process.channel.unref()
}

/**
 * Code that someone debugs needs its source maps. Vitest keeps them where an inspector is open, and asks Node for its
 * address: none is open here, and no port has to be.
 */
function keepMaps(): void {
  if (process.env[inlineMapsVariable] === undefined) return
  const inspector = createRequire(import.meta.url)('node:inspector') as { url: () => string | undefined }
  inspector.url = () => 'ws://127.0.0.1/'
}

interface Taken {
  /** What is left for Vitest. */
  readonly argv: readonly string[]
  /** The last `--reason` there was. */
  readonly reason?: string
}

/** What follows a bare `--` is left alone: the plugin reads it there. */
function takeFlags(words: readonly string[]): Taken {
  const stop = words.indexOf('--', 2)
  const own = stop === -1 ? words.slice(2) : words.slice(2, stop)
  const argv: string[] = []
  let reason: string | undefined
  for (let at = 0; at < own.length; at++) {
    const word = own[at] ?? ''
    const mode = parseFlag(word)
    if (mode !== undefined) process.env[updateVariable] = mode
    else if (word === '--tools') askTools(own[(at += 1)] ?? '', word)
    else if (word.startsWith('--tools=')) askTools(word.slice('--tools='.length), word)
    else if (word === '--yes') process.env[toolsYesVariable] = '1'
    else if (word === '--reason') reason = own[(at += 1)] ?? ''
    else if (word.startsWith('--reason=')) reason = word.slice('--reason='.length)
    else argv.push(word)
  }
  const rest = stop === -1 ? [] : words.slice(stop)
  return { argv: [...words.slice(0, 2), ...argv, ...rest], ...(reason !== undefined && { reason }) }
}

function askTools(value: string, flag: string): void {
  parseTools(value, `${flag} ${value}`)
  process.env[toolsVariable] = value
}

/**
 * Makes sure that someone says why new behaviour is accepted, before anything runs: with `--reason`, the variable, or an
 * answer at the terminal.
 */
async function settleReason(mode: UpdateMode, reason: string | undefined): Promise<void> {
  if (reason !== undefined) process.env[reasonVariable] = parseReason(reason)
  if (mode !== 'all' && mode !== 'questions') return
  const isSaid = (process.env[reasonVariable] ?? '').trim() !== ''
  const isAsked = !isSaid && process.stdin.isTTY && process.stderr.isTTY
  if (!isSaid && !isAsked) throw noReason()
  if (isAsked) process.env[reasonVariable] = parseReason(await askReason(process.stdin, process.stderr))
}

/** The mode the plugin will be asked for, by any spelling. */
function askedMode(argv: readonly string[]): UpdateMode | undefined {
  const variable = process.env[updateVariable] ?? ''
  if (variable !== '') return parseMode(variable, `${updateVariable}=${variable}`)
  const stop = argv.indexOf('--')
  const afterDashes = stop === -1 ? [] : argv.slice(stop).map(parseFlag)
  const isVitests = argv.some((word) => /^--update[.=]recordings\b/.test(word))
  return afterDashes.findLast((mode) => mode !== undefined) ?? (isVitests ? 'all' : undefined)
}

/** The Vitest of the project, not one that happens to lie next to this package. */
function findVitest(directory: string): string {
  const manifest = resolveManifest(directory)
  const { bin }: { readonly bin?: string | Readonly<Record<string, string>> } = JSON.parse(
    readFileSync(manifest, 'utf8'),
  )
  const entry = typeof bin === 'string' ? bin : bin?.['vitest']
  if (entry === undefined) throw noVitest(directory)
  return path.join(path.dirname(manifest), entry)
}

function resolveManifest(directory: string): string {
  try {
    return createRequire(path.join(directory, 'noop.js')).resolve('vitest/package.json')
  } catch (cause) {
    throw noVitest(directory, cause)
  }
}

function noVitest(directory: string, cause?: unknown): HarvestError {
  return new HarvestError(
    'HARVEST_VITEST_MISSING',
    {
      what: 'Vitest is not installed here',
      where: { folder: directory },
      why: "vitest-harvest runs the project's own Vitest.",
      fix: ['npm install --save-dev vitest', 'run this in the folder of the project'],
    },
    { cause },
  )
}
