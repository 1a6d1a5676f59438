import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

/**
 * Files of this package that someone names: a program that is started, a module that a worker, Vitest or `--import`
 * loads, a part that is loaded when it is first asked for. Each is a file of its own in `dist/`; everything else lies in
 * files that several of them share, so no other module may say where it lies.
 */
export const ownFiles = [
  'blame/index',
  'cases/yaml-head',
  'cli/debug-agent',
  'cli/main',
  'cli/replay-agent',
  'debug/child/worker',
  'live/index',
  'providers/index',
  'record/register',
  'record/usage',
  'record/watch',
  'replay/index',
  'replay/register',
  'trace/index',
  'validation/grid/worker',
  'validation/harness/worker',
  'vitest/global-setup',
  'vitest/job-runtime',
  'vitest/read-options',
  'vitest/redact-thrown',
  'vitest/run-vitest',
  'vitest/runner',
  'vitest/runtime',
  'vitest/setup',
] as const

export type OwnFile = (typeof ownFiles)[number]

/** The folder of the code: `dist/` once built, `src/` in this repository. Ends with a slash. */
export const ownFolder = new URL('./', import.meta.url)

/** The same as a path of this machine. */
export const ownFolderPath = fileURLToPath(ownFolder)

/** Whether this runs as it was built; in this repository the sources themselves run. */
export const isBuilt = !import.meta.url.endsWith('.ts')

/** Address of one of {@link ownFiles}. */
export function ownFile(file: OwnFile): URL {
  return new URL(`${file}.${isBuilt ? 'js' : 'ts'}`, ownFolder)
}

/** Absolute path of one of {@link ownFiles}. */
export function ownPath(file: OwnFile): string {
  return fileURLToPath(ownFile(file))
}

/** Node's option that loads one of {@link ownFiles} first. In a file URL, quotes and spaces are encoded as NODE_OPTIONS wants them. */
export function preloadOption(file: OwnFile): string {
  return `--import=${pathToFileURL(ownPath(file)).href}`
}

/** Loads one of {@link ownFiles} at once, for code that cannot wait. */
export function loadOwn(file: OwnFile): unknown {
  return createRequire(import.meta.url)(ownPath(file))
}
