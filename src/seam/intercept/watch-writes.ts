import fs from 'node:fs'
import { resolve } from 'node:path'
import { patchProperty } from '../patch.ts'
import { askedFor, confinement } from './confine.ts'
import type { AnyFunction } from './guarding.ts'
import { refusal } from './outside.ts'
import { pathOf } from './path-of.ts'
import { isAgentAtWork, list } from './work.ts'

/** Which argument names what is changed. */
const changes: Readonly<Record<string, readonly number[]>> = {
  ...each([0], 'writeFile', 'appendFile', 'mkdir', 'mkdtemp', 'rm', 'rmdir', 'unlink', 'truncate', 'createWriteStream'),
  ...each([0], 'chmod', 'chown', 'lchmod', 'lchown', 'utimes', 'lutimes', 'open', 'readFile', 'mkdtempDisposable'),
  ...each([1], 'copyFile', 'cp', 'symlink', 'link'),
  rename: [0, 1],
}
const byDescriptor = ['write', 'writev']

function each(places: readonly number[], ...names: readonly string[]): Readonly<Record<string, readonly number[]>> {
  return Object.fromEntries(names.map((name) => [name, places]))
}

/**
 * Tells which files an agent changes. They are let through: an agent may have a folder of its own to work in. What is
 * written to a socket or pipe by its number goes around everything else, and is refused.
 */
export function watchWrites(): void {
  for (const [name, places] of Object.entries(changes)) {
    watch(fs, name, `fs.${name}`, places)
    watch(fs, `${name}Sync`, `fs.${name}Sync`, places)
    watch(fs.promises, name, `fs.promises.${name}`, places)
  }
  for (const name of byDescriptor) for (const key of [name, `${name}Sync`]) guardDescriptor(key)
}

function watch(target: object, key: string, by: string, places: readonly number[]): void {
  replace(target, key, (args) => {
    if (!isAgentAtWork()) return undefined
    if (/^(open|readFile)/.test(key) && isForReading(flagsOf(args[1]))) return undefined
    if (typeof args[0] === 'number') return refusedDescriptor(args[0])
    for (const place of places) {
      const file = pathOf(args[place])
      if (file === undefined) continue
      // In a confined process Node itself says what it refuses, or would.
      if (confinement() === 'seam') list('write', by, resolve(file))
      else askedFor(resolve(file))
    }
    return undefined
  })
}

function guardDescriptor(key: string): void {
  replace(fs, key, (args) => {
    if (!isAgentAtWork() || typeof args[0] !== 'number') return undefined
    return refusedDescriptor(args[0])
  })
}

const { fstatSync } = fs

/** Standard streams are Vitest's to show. */
function refusedDescriptor(fd: number): Error | undefined {
  if (fd <= 2) return undefined
  const stat = fstatSync(fd, { throwIfNoEntry: false } as object)
  return stat !== undefined && (stat.isSocket() || stat.isFIFO()) ? refusal('descriptor', String(fd)) : undefined
}

function replace(target: object, key: string, ask: (args: readonly unknown[]) => Error | undefined): void {
  const table = target as Record<string, AnyFunction>
  if (typeof table[key] !== 'function') return
  patchProperty(
    table,
    key,
    (original) =>
      function (this: unknown, ...args: unknown[]) {
        const error = ask(args)
        if (error) throw error
        return original.apply(this, args) as unknown
      },
    'writes',
  )
}

/** Of the second argument of `open` and of `readFile`, which may be a callback, an encoding, or options. */
function flagsOf(given: unknown): unknown {
  return typeof given === 'object' && given !== null ? Reflect.get(given, 'flag') : given
}

const { O_WRONLY, O_RDWR, O_CREAT, O_TRUNC } = fs.constants

/** No flag of Node that writes is the name of an encoding. */
function isForReading(flags: unknown): boolean {
  if (typeof flags === 'number') return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) === 0
  return typeof flags !== 'string' || !/^(?=.*[wa+])[rwaxs+]{1,3}$/.test(flags)
}
