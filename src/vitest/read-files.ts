import { AsyncLocalStorage } from 'node:async_hooks'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { patchProperty, syncBuiltins } from '../seam/patch.ts'
import { sharedOf } from '../seam/source.ts'
import { toPosix } from './posix.ts'

/** Of more files the first are named. */
const maxFiles = 50

/**
 * Runs `work` and notes which files it opens to read. Vitest follows imports alone, so an edit of a prompt that an agent
 * reads by itself runs no case, unless it is in `deps`.
 *
 * @param root - files outside of it, and those of packages, are not noted
 * @returns paths relative to the root, with `/`
 */
export async function withReads<T>(root: string, reads: Set<string>, work: () => Promise<T>): Promise<T> {
  const note = (file: string) => {
    const relative = toPosix(path.relative(root, path.resolve(file)))
    if (relative.startsWith('../') || path.isAbsolute(relative) || /(?:^|\/)node_modules\//.test(relative)) return
    if (reads.size < maxFiles) reads.add(relative)
  }
  return contexts().run(note, work)
}

/** The functions are replaced once per process, however often this module is loaded. */
function contexts(): AsyncLocalStorage<(file: string) => void> {
  return sharedOf('vitest/read-files', () => {
    const created = new AsyncLocalStorage<(file: string) => void>()
    watch(fs, ['readFile', 'readFileSync', 'open', 'openSync', 'createReadStream'], created)
    watch(fs.promises, ['readFile', 'open'], created)
    syncBuiltins()
    return created
  })
}

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown

function watch(target: object, names: readonly string[], context: AsyncLocalStorage<(file: string) => void>): void {
  for (const name of names) {
    patchProperty(
      target as Record<string, AnyFunction>,
      name,
      (original) =>
        function patched(...args) {
          const file = pathOf(args[0])
          if (file !== undefined && (!/^open/.test(name) || isForReading(args[1]))) context.getStore()?.(file)
          return original.apply(this, args)
        },
      'reads',
    )
  }
}

/** Whether flags of `open` read alone. */
export function isForReading(flags: unknown): boolean {
  return typeof flags === 'string' ? /^r/.test(flags) : flags === undefined || flags === fs.constants.O_RDONLY
}

/** The path in an argument of a function of `node:fs`; `undefined` for a descriptor. */
export function pathOf(file: unknown): string | undefined {
  if (typeof file === 'string') return file
  if (file instanceof URL && file.protocol === 'file:') return fileURLToPath(file)
  return Buffer.isBuffer(file) ? file.toString() : undefined
}
