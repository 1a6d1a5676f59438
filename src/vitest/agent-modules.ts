import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { ownFolderPath } from '../own-files.ts'
import type { ModuleWatch } from '../seam/intercept/index.ts'

/** What Vitest's worker tells about the file it runs. */
interface WorkerState {
  readonly filepath?: string
  readonly evaluatedModules?: {
    readonly fileToModulesMap?: ReadonlyMap<
      string,
      Iterable<{ readonly promise?: unknown; readonly evaluated?: boolean }>
    >
  }
}

/**
 * Which modules may be an agent's that a test by hand imports: those of the project that load after the set-up files, which put
 * up mocks, and are not the test itself. Packages are not: mock servers are among them.
 */
export const agentModules: ModuleWatch = {
  testFile: () => workerState().filepath,
  isAgents(file) {
    const { filepath, evaluatedModules } = workerState()
    const its = file.startsWith('file:') ? fileURLToPath(file) : file
    if (filepath === undefined || !path.isAbsolute(its) || path.relative(filepath, its) === '') return false
    if (path.resolve(its).startsWith(ownFolderPath) || /[\\/]node_modules[\\/]/.test(its)) return false
    // Set-up files have all loaded before the test begins to.
    const modules = [...(evaluatedModules?.fileToModulesMap?.get(filepath) ?? [])]
    return modules.some(({ promise, evaluated }) => promise !== undefined || evaluated === true)
  },
}

function workerState(): WorkerState {
  return (Reflect.get(globalThis, '__vitest_worker__') ?? {}) as WorkerState
}
