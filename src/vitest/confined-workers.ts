import fs, { existsSync, readFileSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { confinedFlags } from '../seam/intercept/confine.ts'
import { readHead } from './case-head.ts'
import type { ConfineSetting } from './confine-option.ts'
import { toPosix } from './posix.ts'
import { ownFolder } from '../own-files.ts'

/** What the workers of cases are started with. */
export function workerFlags({ how, reads }: ConfineSetting, root: string, isCovered: boolean): readonly string[] {
  const flags = confinedFlags(how, reads === 'project' ? readable(root) : undefined)
  // Coverage of V8 is asked for through the inspector.
  return flags.length > 0 && isCovered ? [...flags, '--allow-inspector'] : flags
}

/** The project, what it imports, and where Vitest keeps what it made of that. */
function readable(root: string): readonly string[] {
  const own = fileURLToPath(new URL('..', ownFolder))
  const modules = modulesAround(root)
  // A package that is linked has what it imports where it really lies.
  const linked = ['vitest', 'vite', 'vitest-harvest'].flatMap((name) => {
    const found = modules.map((folder) => path.join(folder, name)).find((folder) => existsSync(folder))
    return found === undefined ? [] : [realpathSync(found), ...modulesAround(realpathSync(found))]
  })
  const found = [root, tmpdir(), own, ...modules, ...linked]
  return [...new Set(found.flatMap((folder) => [folder, realpathSync(folder)]))]
}

/** Every `node_modules` that Node looks into from a folder. */
function modulesAround(folder: string): readonly string[] {
  return parents(folder)
    .map((parent) => path.join(parent, 'node_modules'))
    .filter((modules) => existsSync(modules))
}

function parents(folder: string): readonly string[] {
  const above = path.dirname(folder)
  return above === folder ? [folder] : [folder, ...parents(above)]
}

/** The cases of agents that are left at `seam`: paths relative to the root. */
export function openCases(root: string, recordings: string, { open }: ConfineSetting): readonly string[] {
  if (open.length === 0) return []
  const files = fs.globSync(`${recordings}/**/*.case.{yaml,yml}`, { cwd: root })
  return files
    .filter((file) => open.includes(readHead(readFileSync(path.join(root, file), 'utf8')).agent.value ?? ''))
    .map(toPosix)
    .sort()
}
