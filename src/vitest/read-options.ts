import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { HarvestError } from '../errors/index.ts'
import type { ReadPlugin } from '../jobs/read-plugin.ts'
import { type WireApi, wireName } from './workspace.ts'

/*
 * The program that says what a Vitest config gives each `harvest()`: `read-options <config> <answer>`. A process of its own: a config is code, and may change the process it is loaded in.
 */
const [, , config, answer] = process.argv
if (config === undefined || answer === undefined) throw new TypeError('this file is started by harvest')
// As Vitest sets them before it loads a config.
process.env['VITEST'] ??= 'true'
process.env['NODE_ENV'] ??= 'test'
try {
  writeFileSync(answer, JSON.stringify({ plugins: await pluginsOf(path.resolve(config)) }))
} catch (error) {
  const why = HarvestError.is(error) ? error.facts.what : error instanceof Error ? error.message : String(error)
  writeFileSync(answer, JSON.stringify({ failed: why }))
}
// A config may leave watchers and connections open.
process.exit(0)

/** As much of Vite as is needed here. */
interface Vite {
  loadConfigFromFile(
    env: { readonly command: 'serve'; readonly mode: string },
    file: string,
    root: string,
    logLevel: 'silent',
  ): Promise<{ readonly config: Config } | null>
}

interface Config {
  readonly root?: string
  readonly plugins?: unknown
  readonly test?: { readonly projects?: readonly unknown[] }
}

async function pluginsOf(file: string): Promise<readonly ReadPlugin[]> {
  const folder = path.dirname(file)
  const vitest = createRequire(file).resolve('vitest/package.json')
  const entry = createRequire(vitest).resolve('vite')
  const vite = (await import(pathToFileURL(entry).href)) as Vite
  const loaded = await vite.loadConfigFromFile({ command: 'serve', mode: 'test' }, file, folder, 'silent')
  const config = loaded?.config ?? {}
  const inline = (config.test?.projects ?? []).filter((one) => typeof one === 'object' && one !== null) as Config[]
  const read = async (one: Config): Promise<readonly ReadPlugin[]> => {
    const root = path.resolve(folder, one.root ?? config.root ?? '.')
    return (await flattened(one.plugins)).flatMap(({ name, api }) => {
      if (name !== wireName) return []
      const { programs, replay, recordings, acceptedMaxDays } = (api as WireApi).settings
      const lasting = acceptedMaxDays === undefined ? {} : { acceptedMaxDays }
      return [{ programs, replay, ...lasting, recordings: path.resolve(root, recordings) }]
    })
  }
  return (await Promise.all([config, ...inline].map(read))).flat()
}

interface NamedPlugin {
  readonly name?: unknown
  readonly api?: unknown
}

/** Plugins as a config may give them: lists in lists, promises, and nothing. */
async function flattened(plugins: unknown): Promise<readonly NamedPlugin[]> {
  const given: unknown = await plugins
  if (Array.isArray(given)) return (await Promise.all(given.map(flattened))).flat()
  return typeof given === 'object' && given !== null ? [given] : []
}
