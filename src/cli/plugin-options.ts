import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve, sep } from 'node:path'
import { nearestFolder, recordingsAround } from '../errors/above.ts'
import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import { configNames } from '../jobs/job.ts'
import { outputOf, runProgram } from '../jobs/program.ts'
import type { ReadPlugin } from '../jobs/read-plugin.ts'
import { ownPath } from '../own-files.ts'
import { aboveRecordings } from '../recordings/index.ts'
import { configFiles } from './config-files.ts'

/** One for each `harvest()`, or why the config could not be asked. */
export type PluginsOfConfig = { readonly plugins: readonly ReadPlugin[] } | { readonly failed: string }

/** What a config says of replays, and how long what was accepted counts. */
export type ReplaysOfConfig = Pick<ReadPlugin, 'replay' | 'acceptedMaxDays'>

/** What the Vitest config of a folder, by default of the current one, gives the plugin. */
export async function pluginsOfConfig(
  // One that lies among recordings is data, as they are: it is not loaded.
  root = aboveRecordings(process.cwd()),
): Promise<PluginsOfConfig> {
  const [config] = configFiles(root)
  if (config === undefined) return { plugins: [] }
  const folder = mkdtempSync(join(tmpdir(), 'harvest-options-'))
  const file = join(folder, 'options.json')
  const reader = ownPath('vitest/read-options')
  try {
    const { code, stderr } = await runProgram(
      { argv: ['node', reader, config, file], cwd: root },
      { env: {}, output: 'capture' },
    )
    if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as PluginsOfConfig
    const said = outputOf({ stderr })
      .split('\n')
      .find((line) => /\bError\b/.test(line))
    return { failed: said ?? `it ended with exit code ${code}` }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * What `harvest()` in the Vitest config says about replays, of the one whose recordings a tape is among, or of all there are.
 *
 * @throws HarvestError `HARVEST_OPTION` where that cannot be known
 */
export async function replayOptionsOfConfig(tapeFile: string): Promise<ReplaysOfConfig> {
  const here = aboveRecordings(process.cwd())
  const tape = resolve(tapeFile)
  // Of a package of the workspace that has a config of its own.
  const below = nearestFolder(configNames, dirname(recordingsAround(tape) ?? tape))
  const folders = below?.startsWith(here + sep) === true ? [below, here] : [here]
  let asked: { readonly config: string; readonly plugins: readonly ReadPlugin[] } | undefined
  for (const folder of folders) {
    const [config] = configFiles(folder)
    if (config === undefined || !hasVitest(folder)) continue
    const found = await pluginsOfConfig(folder)
    if ('failed' in found) throw unreadable(config, found.failed)
    const own = found.plugins.filter(({ recordings }) => tape.startsWith(recordings + sep))
    if (own.length > 0) {
      asked = { config, plugins: own }
      break
    }
    asked ??= { config, plugins: found.plugins }
  }
  const { config = '', plugins = [] } = asked ?? {}
  const told = plugins.map(({ replay, acceptedMaxDays: days }): ReplaysOfConfig => {
    return { replay, ...(days === undefined ? {} : { acceptedMaxDays: days }) }
  })
  const options = new Map(told.map((one) => [JSON.stringify(one), one]))
  if (options.size > 1) throw several(config, plugins.length)
  return options.values().next().value ?? { replay: {} }
}

/** A config that has `harvest()` loads Vitest. */
function hasVitest(root: string): boolean {
  try {
    createRequire(join(root, 'noop.js')).resolve('vitest/package.json')
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return false
    throw error
  }
}

function unreadable(config: string, failed: string): HarvestError {
  return new HarvestError('HARVEST_OPTION', {
    what: 'Cannot read the options of replays in the Vitest config',
    where: { config },
    detail: neutralLine(failed, 400).replace(/^/gm, '  '),
    why: 'What it says of `drift`, `hosts` and the like holds for this replay too.',
    fix: [`to see all of the error: npx vitest list --config ${shellWord(config)}`],
  })
}

function several(config: string, count: number): HarvestError {
  return new HarvestError('HARVEST_OPTION', {
    what: 'Several `harvest()` in the Vitest config give replays other options',
    where: { config, found: `${count}` },
    why: 'The tape is among the recordings of none or of several of them.',
    fix: [
      "name the folder of the tape in one of them: harvest({ recordings: 'recordings' })",
      "or give them all the same options, such as drift: { whitespace: 'report' }",
    ],
  })
}
