// node scripts/install-packed.ts <folder>: packs the package as it is built and installs it into an empty folder, as a
// user would. Prints where it is.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const repository = resolve(import.meta.dirname, '..')

/**
 * Installs the package from its tarball. Vitest, a peer, is that of this repository.
 *
 * @returns the folder of the installed package
 */
export function installPacked(folder: string): string {
  if (!existsSync(join(repository, 'dist/index.js'))) throw new Error('the package is not built: npm run build')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  // Without its scripts: `prepack` would build under whoever uses what is built.
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], {
    cwd: repository,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'))
  if (tarball === undefined) throw new Error('npm packed nothing')
  const options = ['--no-audit', '--no-fund', '--no-save', '--prefer-offline', '--ignore-scripts', '--legacy-peer-deps']
  execFileSync('npm', ['install', '--silent', ...options, `./${tarball}`], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for (const name of ['vitest', 'vite'])
    symlinkSync(join(repository, 'node_modules', name), join(folder, 'node_modules', name), 'junction')
  return join(folder, 'node_modules/vitest-harvest')
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [folder] = process.argv.slice(2)
  if (folder === undefined) throw new Error('which folder?')
  console.log(`installed 1 package in ${installPacked(folder)}`)
}
