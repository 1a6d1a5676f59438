import { existsSync } from 'node:fs'
import { join } from 'node:path'

// The order in which Vitest looks, which takes the first it finds.
const configNames = ['vitest', 'vite'].flatMap((name) =>
  ['ts', 'mts', 'cts', 'js', 'mjs', 'cjs'].map((ending) => `${name}.config.${ending}`),
)

/** Names of the configs that lie in a folder; the first is the one Vitest takes. */
export function configFiles(folder: string): readonly string[] {
  return configNames.filter((name) => existsSync(join(folder, name)))
}
