import { fileURLToPath } from 'node:url'
import type { Plugin, TestProjectInlineConfiguration } from 'vitest/config'
import { jobModule } from './job-module.ts'
import type { HarvestSettings } from './options.ts'

/** Name of the project the plugin owns; `vitest --project recordings` runs the cases alone. */
export const projectName = 'recordings'

/**
 * The project the cases run in. It is the plugin's own, so that the `include` of nobody else has to change: with
 * `test.projects` an added `include` is either ignored (Vitest 5) or runs every case once per project (Vitest 4).
 */
export function recordingsProject(
  settings: HarvestSettings,
  plugins: readonly Plugin[],
): TestProjectInlineConfiguration {
  return {
    extends: settings.inherit,
    plugins: [...plugins],
    test: {
      name: projectName,
      ...ownLists(settings),
      // What a root config may say for its own tests, and what must not reach an agent that runs in Node.
      environment: 'node',
      browser: { enabled: false },
      typecheck: { enabled: false },
      expect: { requireAssertions: false },
      globals: false,
      retry: 0,
      sequence: { concurrent: false },
      pool: settings.pool,
      isolate: settings.isolate === 'worker',
      // Off, Node would load the case file itself and know no `.yaml`.
      experimental: { viteModuleRunner: true },
      tags: [
        { name: 'golden', description: 'a promoted recording' },
        { name: 'incident', description: 'a recording of a run that went wrong' },
        ...settings.tags,
      ],
      setupFiles: [sibling('setup')],
    },
  }
}

/**
 * Takes back what `extends: true` mixed into the lists of our project: it joins lists, so that the root's `include` would
 * run the user's tests a second time here, and its `globalSetup` would start the user's servers twice.
 *
 * @param config - the project's config while it is being resolved; changed in place, a returned one would be joined again
 */
export function keepOwnLists(config: { test?: object }, settings: HarvestSettings): void {
  const { test } = config
  if (test === undefined || Reflect.get(test, 'name') !== projectName) return
  Object.assign(test, ownLists(settings), { benchmark: { include: [] } })
  // Ours goes first: what a set-up file of the root replaces, it replaces over what a replay stands on.
  const files = [Reflect.get(test, 'setupFiles') as unknown].flat().filter((file) => typeof file === 'string')
  const own = sibling('setup')
  Reflect.set(test, 'setupFiles', [own, ...files.filter((file) => file !== own)])
  // `dir` says where the root looks for its tests; cases lie elsewhere.
  Reflect.deleteProperty(test, 'dir')
}

function ownLists({ recordings }: HarvestSettings) {
  const jobs = jobModule()
  return {
    include: jobs === undefined ? [`${recordings}/**/*.case.{yaml,yml}`] : [jobs],
    includeSource: [],
    globalSetup: [sibling('global-setup')],
  }
}

/** Absolute path of another file of this folder: `.js` once built, `.ts` in this repository. */
export function sibling(name: string): string {
  return fileURLToPath(new URL(`./${name}.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url))
}
