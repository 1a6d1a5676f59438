import module from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { ownFolderPath } from '../own-files.ts'
import type { ModuleWatch } from '../seam/intercept/index.ts'

/** A module in Vitest's worker. */
interface ModuleNode {
  readonly file: string
  readonly promise?: unknown
  readonly evaluated?: boolean
  /** Where Node loads it itself, its URL. */
  readonly meta?: { readonly externalize?: string }
  /** Ids of modules. */
  readonly imports: ReadonlySet<string>
}

/** What Vitest's worker tells about the file it runs. */
interface WorkerState {
  readonly filepath?: string
  readonly evaluatedModules?: {
    readonly idToModuleMap: ReadonlyMap<string, ModuleNode>
    readonly fileToModulesMap: ReadonlyMap<string, ReadonlySet<ModuleNode>>
  }
}

/** Packages that lay a mock over `fetch` or `node:http` in tests, whoever loads them. */
const mocks = new Set([
  'msw',
  '@mswjs/interceptors',
  'nock',
  'fetch-mock',
  '@fetch-mock/vitest',
  'jest-fetch-mock',
  'vitest-fetch-mock',
  'sinon',
  '@pollyjs/adapter-fetch',
  '@pollyjs/adapter-node-http',
  'testdouble',
])

/**
 * Which modules lay something over a function as a part of an agent that a test by hand imports: those of the project that
 * load after the set-up files, which put up mocks, and are not the test itself; and packages that such modules import, or call
 * while they load. Modules load once in a worker that runs several files: what they laid is then a part of the agents of all
 * tests that import them.
 */
export const agentModules: ModuleWatch = {
  isServer(files) {
    const stack = stackOf(files)
    if (stack.length === 0) return false
    if (workerState().filepath !== undefined && !testBegan()) return true
    const caller = stack.findIndex((file) => path.isAbsolute(file) && !isOfPackage(file))
    return stack.slice(0, caller === -1 ? undefined : caller).some(isMock)
  },
  layerBy(files, isInReplay) {
    const laidFor = workerState().filepath
    if (laidFor === undefined || !testBegan()) return undefined
    const owners = ownersOf(stackOf(files), isInReplay)
    if (owners.length === 0) return undefined
    const loaded = owners.map((file) => loadOf(file))
    const seen = new Set([laidFor])
    return () => {
      // Loaded again, a module laid something else.
      if (owners.some((file, at) => loaded[at] !== loadOf(file))) return false
      const { filepath = '' } = workerState()
      if (!seen.has(filepath) && isAgentsOf(filepath, owners)) seen.add(filepath)
      return seen.has(filepath)
    }
  },
}

/** Without the code of this package; nothing where that is innermost. */
function stackOf(files: readonly string[]): readonly string[] {
  const isOwn = (file: string): boolean => file.startsWith(ownFolderPath)
  const stack = files.map(pathOf)
  return isOwn(stack[0] ?? '') ? [] : stack.filter((file) => !isOwn(file))
}

/** The modules that lay something for an agent, of those whose code is on the stack. */
function ownersOf(stack: readonly string[], isInReplay: boolean): readonly string[] {
  const by = stack.find((file) => path.isAbsolute(file))
  if (by === undefined || isVitests(by)) return []
  const code = stack.filter((file) => path.isAbsolute(file) && !isVitests(file))
  const caller = code.find((file) => !isOfPackage(file))
  const inner = caller === undefined ? stack : stack.slice(0, stack.indexOf(caller))
  if (inner.some(isMock)) return []
  const loading = caller === undefined || inner.some(isLoader) ? loadingPackages(inner.some(isLoader)) : []
  if (loading.length > 0) {
    const owners = [by, ...loading]
    return !loading.some(isMock) && isAgentsOf(workerState().filepath ?? '', owners) ? owners : []
  }
  if (caller === undefined) return isInReplay ? [by] : []
  if (isTest(caller)) return []
  // A package that is called later puts up a mock for a test.
  return caller === by || isInReplay || isLoading(caller) ? [caller] : []
}

/** Whether a test imports one of these files by way of the modules of its agent. */
function isAgentsOf(testFile: string, files: readonly string[]): boolean {
  const reached = new Set<string>()
  const reach = (file: string): void => {
    if (reached.has(file)) return
    reached.add(file)
    for (const one of nativeImports.get(file) ?? []) reach(one)
    for (const { imports } of nodesOf(file))
      for (const id of imports) {
        const node = modules().get(id)
        const imported = node === undefined ? undefined : fileOf(node)
        // What a test imports of packages itself is for the test.
        if (imported !== undefined && !(file === testFile && isOfPackage(imported))) reach(imported)
      }
  }
  reach(testFile)
  return files.some((file) => reached.has(file))
}

/** What Node loads itself, and what that imports. */
const nativeImports = new Map<string, Set<string>>()

/** From now on it is known which packages import which. In a vm pool, each test file loads its own. */
export function watchNativeImports(): void {
  if (module !== process.getBuiltinModule('node:module')) return
  module.registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context)
      const { parentURL } = context
      if (parentURL?.startsWith('file:') === true && found.url.startsWith('file:')) {
        const importer = pathOf(parentURL)
        const imports = nativeImports.get(importer) ?? new Set()
        nativeImports.set(importer, imports.add(pathOf(found.url)))
      }
      return found
    },
  })
}

function workerState(): WorkerState {
  return (Reflect.get(globalThis, '__vitest_worker__') ?? {}) as WorkerState
}

function modules(): ReadonlyMap<string, ModuleNode> {
  return workerState().evaluatedModules?.idToModuleMap ?? new Map()
}

function nodesOf(file: string): readonly ModuleNode[] {
  return [...(workerState().evaluatedModules?.fileToModulesMap.get(file) ?? [])]
}

/** Set-up files have all loaded before the test begins to. */
function testBegan(): boolean {
  const { filepath = '' } = workerState()
  return nodesOf(filepath).some(({ promise, evaluated }) => promise !== undefined || evaluated === true)
}

function isTest(file: string): boolean {
  return path.relative(workerState().filepath ?? '', file) === ''
}

/** Changes when a module of the project is loaded again; Node loads a package once. */
function loadOf(file: string): unknown {
  return isOfPackage(file) ? undefined : nodesOf(file)[0]?.promise
}

function isLoading(file: string): boolean {
  return nodesOf(file).some(isUnderWay)
}

/** @param isRequired - perhaps by `require` */
function loadingPackages(isRequired: boolean): readonly string[] {
  const open = [...modules().values()].filter((node) => node.evaluated !== true && isOfPackage(fileOf(node)))
  const underWay = open.filter(isUnderWay)
  // In a vm pool, what is required runs before its import is under way.
  return (underWay.length > 0 || !isRequired ? underWay : open).map(fileOf)
}

function isUnderWay({ promise, evaluated }: ModuleNode): boolean {
  return promise !== undefined && evaluated !== true
}

function fileOf({ file, meta }: ModuleNode): string {
  const url = meta?.externalize
  return url?.startsWith('file:') === true ? pathOf(url) : file
}

function pathOf(file: string): string {
  if (file.startsWith('node:')) return file
  const plain = file.replace(/\?.*$/s, '')
  return path.normalize(plain.startsWith('file:') ? fileURLToPath(plain) : plain)
}

function isOfPackage(file: string): boolean {
  return /[\\/]node_modules[\\/]/.test(file)
}

function isVitests(file: string): boolean {
  return /[\\/]node_modules[\\/](?:vite|vitest|@vitest)[\\/]/.test(file)
}

/** What loads modules: Node, and in a vm pool Vitest. */
function isLoader(file: string): boolean {
  return file.startsWith('node:internal/modules/') || isVitests(file)
}

function isMock(file: string): boolean {
  const name = /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/s.exec(file)?.[1]
  return name !== undefined && mocks.has(name.replace('\\', '/'))
}
