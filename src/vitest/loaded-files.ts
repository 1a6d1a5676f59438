import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** What Vitest's module runner has loaded, as far as its worker tells. */
interface WorkerState {
  readonly evaluatedModules?: { readonly idToModuleMap?: ReadonlyMap<string, unknown> }
}

/**
 * Files of the project that a run loaded and read, as absolute paths; packages are left out.
 *
 * @param reads - files that were opened to read, relative to the root
 * @returns `undefined` where this Vitest does not say what it loaded
 */
export function filesOfRun(root: string, reads: ReadonlySet<string>): readonly string[] | undefined {
  const state = Reflect.get(globalThis, '__vitest_worker__') as WorkerState | undefined
  const modules = state?.evaluatedModules?.idToModuleMap
  if (modules === undefined) return undefined
  const loaded = [...modules.keys()].flatMap((id) => {
    const bare = id.replace(/[?#].*$/, '').replace(/^\/@fs(?=\/)/, '')
    const file = bare.startsWith('file:') ? fileURLToPath(bare) : bare
    return path.isAbsolute(file) && !file.includes('/node_modules/') ? [file] : []
  })
  return [...new Set([...loaded, ...[...reads].map((file) => path.join(root, file))])]
}
