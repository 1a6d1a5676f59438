import { globSync, statSync } from 'node:fs'
import { resolve } from 'node:path'

/** Absolute path of a built file, such as `built('cli/main.js')`. Refuses a dist/ that is older than src/. */
export function built(path: string): string {
  const file = resolve('dist', path)
  const builtAt = statSync(resolve('dist/version.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const changed = globSync('src/**/*.ts').filter((source) => statSync(source).mtimeMs > builtAt)
  if (changed.length > 0) throw new Error(`dist/ is older than ${changed[0]}: run \`npm run build\` first`)
  return file
}
