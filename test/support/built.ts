import { globSync, statSync } from 'node:fs'
import { resolve } from 'node:path'

/**
 * Absolute path of a built file, such as `built('cli/main.js')`. Refuses a dist/ that is older than src/, unless
 * `npm test` has just built it. Behind `import '../support/packed.ts'`, that of the installed tarball.
 */
export function built(path: string): string {
  const { HARVEST_TEST_PACKED: packed } = process.env
  if (packed !== undefined) return resolve(packed, 'dist', path)
  const file = resolve('dist', path)
  if (process.env['HARVEST_TEST_BUILT'] === '1') return file
  const builtAt = statSync(resolve('dist/bin.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const changed = globSync('src/**/*.{ts,tsx,css}').filter((source) => statSync(source).mtimeMs > builtAt)
  if (changed.length > 0) throw new Error(`dist/ is older than ${changed[0]}: run \`npm run build\` first`)
  return file
}
