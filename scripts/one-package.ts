// `node --import ./scripts/one-package.ts` in front of changesets: shows it the one package of this repository, its root.
// On its own it takes the workspaces for the packages, and those are the lanes, which are never published.
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { dirname } from 'node:path'

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@manypkg/get-packages'
      ? { url: import.meta.url, format: 'module-typescript', shortCircuit: true }
      : next(specifier, context),
})

/** As `@manypkg/get-packages` answers for a repository without workspaces. */
export function getPackages() {
  const dir = dirname(import.meta.dirname)
  const packageJson: unknown = JSON.parse(readFileSync(`${dir}/package.json`, 'utf8'))
  const rootPackage = { dir, relativeDir: '.', packageJson }
  return Promise.resolve({ tool: { type: 'root' }, packages: [rootPackage], rootPackage, rootDir: dir })
}
