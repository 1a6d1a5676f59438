#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { HarvestError } from '../errors/index.ts'
import { parseFlag, updateVariable } from './update-mode.ts'

/*
 * The `vitest-harvest` command: `vitest`, and it also understands `--update-recordings[=new|all|none]`.
 *
 * Vitest refuses an unknown flag before it loads any config, so no plugin can add one. This takes the flag out, says it in
 * an environment variable instead, and runs the project's own Vitest in this process: every other command and flag of
 * Vitest, its exit code and its keyboard shortcuts stay as they are.
 */
try {
  const argv = takeFlag(process.argv)
  const entry = findVitest(process.cwd())
  process.argv = [...argv.slice(0, 1), entry, ...argv.slice(2)]
  await import(pathToFileURL(entry).href)
} catch (error) {
  if (!HarvestError.is(error)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 2
}

/** What follows a bare `--` is left alone: the plugin reads it there. */
function takeFlag(argv: readonly string[]): readonly string[] {
  const stop = argv.indexOf('--')
  return argv.filter((argument, index) => {
    const mode = index >= 2 && (stop === -1 || index < stop) ? parseFlag(argument) : undefined
    if (mode !== undefined) process.env[updateVariable] = mode
    return mode === undefined
  })
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
      what: 'There is no Vitest to run here',
      where: { folder: directory },
      why: 'vitest-harvest runs the Vitest that the project has installed.',
      fix: ['npm install --save-dev vitest', 'run this in the folder of the project'],
    },
    { cause },
  )
}
