import { fileURLToPath } from 'node:url'
import { ownFolderPath } from '../own-files.ts'
import { callSites } from './call-sites.ts'
import type { Caller } from './source.ts'

/** Packages that run the agent here and nowhere else: what they ask is not asked by the agent. */
const runner =
  /^(?:vitest|vite|vite-node|@vitest\/.*|@mswjs\/interceptors|vitest-harvest|tinypool|birpc|std-env|pathe|rolldown|@rolldown\/.*|tinyrainbow|chai)$/

/** The agent or one of its packages. */
export interface Asking {
  /** The npm package; absent for the user's own code. */
  readonly via?: string
}

/**
 * Who called `caller`: `via` is the npm package, absent for the user's own code. Node's own frames count for whoever
 * called into Node.
 *
 * @param own - frames of files whose path begins like that only hand the question on
 * @returns `undefined` for the code that runs the replay, and where only Node is on the stack
 */
export function askingCode(caller: Caller, own?: string): Asking | undefined {
  return askingOf(framesAbove(caller).filter(({ file }) => own === undefined || !file.startsWith(own)))
}

function askingOf(frames: readonly Frame[]): Asking | undefined {
  const [first, second] = frames.filter(({ file }) => !file.startsWith('node:'))
  if (!first) return undefined
  const name = packageOf(first.file)
  if (name === undefined) return {}
  if (!runner.test(name)) return { via: name }
  // `import.meta.env` is a view of Vitest's on the environment.
  const isView = first.name === 'get' && second !== undefined && packageOf(second.file) === undefined
  if (isView) return {}
  // A hook of the loader of modules reads for whoever loads.
  const loader = frames.findIndex(({ file }, at) => at > frames.indexOf(first) && file.startsWith(loaderOfNode))
  return loader < 0 ? undefined : askingOf(frames.slice(loader))
}

const loaderOfNode = 'node:internal/modules/'

interface Frame {
  readonly file: string
  readonly name: string | null
}

function framesAbove(caller: Caller): readonly Frame[] {
  return callSites(caller, 30).map((frame) => ({
    // Functions of the language itself have no file.
    file: pathOf(frame.getFileName() ?? frame.getEvalOrigin() ?? 'node:'),
    name: frame.getFunctionName(),
  }))
}

function pathOf(file: string): string {
  return file.startsWith('file://') ? fileURLToPath(file.split('?', 1)[0] ?? file) : file
}

/** The npm package of a file, `vitest-harvest` for this one, `undefined` outside of `node_modules`. */
function packageOf(file: string): string | undefined {
  if (file.startsWith(ownFolderPath)) return 'vitest-harvest'
  const at = file.replaceAll('\\', '/').lastIndexOf('node_modules/')
  if (at < 0) return undefined
  const [scope = '', name = ''] = file
    .replaceAll('\\', '/')
    .slice(at + 'node_modules/'.length)
    .split('/')
  return scope.startsWith('@') ? `${scope}/${name}` : scope
}
