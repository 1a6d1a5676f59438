import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { linkTree } from '../../scripts/link-tree.ts'
import { built } from '../support/built.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const repository = resolve(import.meta.dirname, '../..')

/** An empty project that finds Vitest, this package as it is built, and the SDKs. */
export function project(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder('project')
  mkdirSync(join(folder, 'node_modules'))
  for (const name of ['vitest', 'vite', 'openai', ...dependencies()]) link(join('node_modules', name), folder, name)
  // At a place of its own: through a symbolic link its files would look like the user's own.
  const own = join(folder, 'node_modules/vitest-harvest')
  const dist = dirname(built('bin.js'))
  linkTree(dist, join(own, 'dist'))
  copyFileSync(join(dist, '../package.json'), join(own, 'package.json'))
  for (const [file, text] of Object.entries({ 'package.json': '{ "type": "module" }\n', ...files })) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  return folder
}

/** `vitest.config.ts` with these agents: key → file and export. */
export function configFor(agents: Readonly<Record<string, string>>): string {
  return `import { defineConfig } from 'vitest/config'
import { harvest } from 'vitest-harvest/plugin'
export default defineConfig({ plugins: [harvest({ agents: ${JSON.stringify(agents)} })] })
`
}

function dependencies(): readonly string[] {
  const manifest = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as { dependencies: object }
  return Object.keys(manifest.dependencies)
}

function link(target: string, folder: string, name: string): void {
  const at = join(folder, 'node_modules', name)
  mkdirSync(dirname(at), { recursive: true })
  symlinkSync(join(repository, target), at, 'junction')
}
