import fs from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Caller } from '../../seam/source.ts'
import { alteredCopy, grow, shrink, snapshot, standIn } from './alter.ts'
import { type Manner, patch, patchAnswers, patchAround } from './patching.ts'
import {
  ask,
  isMade,
  made,
  type ProbeTarget,
  type Slot,
  type SourceKind,
  suppose,
  supposed,
  unwatched,
  type Ways,
} from './probe.ts'

/** A function of `fs` by its name, in all manners it has. */
type Manners = readonly (readonly [target: object, key: string, manner: Manner])[]

function mannersOf(name: string): Manners {
  return [
    [fs, `${name}Sync`, 'sync'],
    [fs, name, 'callback'],
    [fs.promises, name, 'promise'],
  ]
}

/** Files and folders that are read without a wrapper. What a run has made itself is no source. */
export function probeFiles(): void {
  probeWriting()
  probeReading()
  probeStats()
  probeRoom()
  probeFolders()
  probeTemporaryNames()
}

function probeReading(): void {
  const readers: Manners = [...mannersOf('readFile'), ...mannersOf('open')]
  for (const [target, key, manner] of readers) {
    patchAround(target, key, manner, (args, caller) => {
      const redirected = redirect(`fs.${key}`, args, caller)
      return redirected && { args: redirected }
    })
  }
  for (const key of ['createReadStream', 'openAsBlob']) {
    patchAround(fs, key, 'sync', (args, caller) => {
      const redirected = redirect(`fs.${key}`, args, caller)
      return redirected && { args: redirected }
    })
  }
  for (const [target, key] of [...mannersOf('access'), [fs, 'existsSync', 'sync']] as Manners) {
    patch(target, key, (original) => {
      return function patched(this: unknown, ...args: unknown[]): unknown {
        const slot = ask(() => sourceOf('file', `fs.${key}`, args[0]), patched)
        const path = pathOf(args[0])
        if (slot !== undefined && path !== undefined) {
          if (isThere(path)) args[0] = slot.way(['gone']) === undefined ? args[0] : `${path}.gone`
          else args[0] = inItsPlace(path, slot) ?? args[0]
        }
        return original.apply(this, args) as unknown
      }
    })
  }
}

/** The same call on a copy of the file as it was when it was first read, or on one with other content. */
function redirect(name: string, args: unknown[], caller: Caller): unknown[] | undefined {
  const [file, flags] = args
  if (/open$|openSync$/.test(name) && flags !== undefined && flags !== 'r' && flags !== fs.constants.O_RDONLY)
    return undefined
  const path = pathOf(file)
  if (path === undefined) return undefined
  const slot = ask(() => sourceOf('file', name, file), caller)
  if (!slot) return undefined
  const copy = isThere(path)
    ? slot.of(() => snapshot(path), { 'other content': (noted) => alteredCopy(noted) })
    : inItsPlace(path, slot)
  return copy === undefined ? undefined : [copy, ...args.slice(1)]
}

function isThere(path: string): boolean {
  return unwatched(() => fs.existsSync(path))
}

/**
 * A file for one that is not there, in the runs in which it is to be there: for all who ask for it. What packages look for
 * has no end: of theirs it is not tried.
 */
function inItsPlace(path: string, slot: Slot): string | undefined {
  return slot.via === undefined && slot.way(['with a file there']) !== undefined
    ? suppose(path, standIn)
    : supposed(path)
}

const dayMs = 24 * 3_600_000

function probeStats(): void {
  const readers: Manners = [...mannersOf('stat'), ...mannersOf('lstat')]
  const otherTimes: Ways<fs.Stats | undefined> = { 'other times': (noted) => noted && atOtherTimes(noted) }
  for (const [target, key, manner] of readers) {
    patchAround(target, key, manner, (args, caller) => {
      const slot = ask(() => sourceOf('file times', `fs.${key}`, args[0]), caller)
      const path = pathOf(args[0])
      if (slot === undefined || path === undefined) return undefined
      if (isThere(path)) return { answer: (real) => slot.of(real as () => fs.Stats | undefined, otherTimes) }
      const other = inItsPlace(path, slot)
      return other === undefined ? undefined : { args: [other, ...args.slice(1)] }
    })
  }
}

/** How much room a file system has: that of the machine. */
function probeRoom(): void {
  for (const [target, key, manner] of mannersOf('statfs'))
    patchAnswers<object>(
      target,
      key,
      manner,
      () => ({ kind: 'machine', name: `fs.${key}()` }),
      () => ({ 'much room': grow as (noted: object) => object, 'no room': shrink as (noted: object) => object }),
    )
}

function atOtherTimes(stats: fs.Stats): fs.Stats {
  const other = Object.assign(Object.create(Object.getPrototypeOf(stats) as object) as fs.Stats, stats)
  for (const name of ['atime', 'mtime', 'ctime', 'birthtime'] as const) {
    const ms = stats[`${name}Ms`]
    // With `bigint: true` there is no `Number` to shift, and hardly anybody who asks for it.
    if (typeof ms !== 'number') continue
    const shifted = ms + 37.3 * dayMs
    Object.defineProperty(other, `${name}Ms`, { value: shifted, enumerable: true, configurable: true, writable: true })
    Object.defineProperty(other, name, {
      value: new Date(shifted),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  if (typeof stats.ino === 'number') other.ino = stats.ino + 12_345
  return other
}

function probeFolders(): void {
  for (const [target, key, manner] of mannersOf('readdir')) {
    patchAround(target, key, manner, (args, caller) => {
      const order = ask(() => sourceOf('directory order', `fs.${key}`, args[0], true), caller)
      const content = ask(() => sourceOf('directory', `fs.${key}`, args[0]), caller)
      if (!order && !content) return undefined
      return {
        answer(real) {
          const list = content ? content.of(real as () => unknown[], fewer) : (real() as unknown[])
          return order?.way(['reversed']) === undefined ? list : list.toReversed()
        },
      }
    })
  }
  patchAround(fs, 'globSync', 'sync', (args, caller) => {
    const order = ask(() => ({ kind: 'directory order', name: `fs.globSync ${String(args[0])}` }), caller)
    return (
      order && {
        answer: (real) => (order.way(['reversed']) === undefined ? real() : (real() as unknown[]).toReversed()),
      }
    )
  })
}

const fewer: Ways<unknown[]> = { 'one entry less': (noted) => noted.slice(0, -1) }

/** Names made of chance get a fixed one, another where that is asked for. */
function probeTemporaryNames(): void {
  for (const [target, key, manner] of mannersOf('mkdtemp')) {
    patch(target, key, (original) => {
      return function patched(this: unknown, ...args: unknown[]): unknown {
        const slot = ask(() => ({ kind: 'temporary name', name: `fs.${key}()` }), patched)
        const prefix = pathOf(args[0])
        if (!slot || prefix === undefined) return original.apply(this, args) as unknown
        const folder = unwatched(() => named(prefix, slot))
        made(resolve(folder))
        const callback = args.at(-1)
        if (manner === 'sync') return folder
        if (manner === 'promise') return Promise.resolve(folder)
        process.nextTick(callback as (error: null, folder: string) => void, null, folder)
        return undefined
      }
    })
  }
}

function named(prefix: string, slot: Slot): string {
  const name = slot.way(['another name']) === undefined ? 'noted' : 'other'
  const folder = `${prefix}${process.pid}${name}${slot.nth}`
  // The name is ours: no other folder is called so.
  fs.rmSync(folder, { recursive: true, force: true })
  fs.mkdirSync(folder)
  return folder
}

function probeWriting(): void {
  const written: readonly (readonly [name: string, at: number])[] = [
    ['writeFile', 0],
    ['appendFile', 0],
    ['mkdir', 0],
    ['copyFile', 1],
    ['cp', 1],
    ['rename', 1],
    ['symlink', 1],
    ['link', 1],
  ]
  for (const [name, at] of written) {
    for (const [target, key] of mannersOf(name)) notesMade(target, key, (args) => args[at])
  }
  notesMade(fs, 'createWriteStream', ([file]) => file)
  for (const [target, key] of mannersOf('open'))
    notesMade(target, key, ([file, flags]) => (typeof flags === 'string' && /[wa]/.test(flags) ? file : undefined))
}

function notesMade(target: object, key: string, fileOf: (args: readonly unknown[]) => unknown): void {
  patch(
    target,
    key,
    (original) => {
      return function patched(this: unknown, ...args: unknown[]): unknown {
        const path = pathOf(fileOf(args))
        // A folder that was there before was not made by the run.
        if (path !== undefined && !(key.startsWith('mkdir') && fs.existsSync(path))) made(path)
        return original.apply(this, args) as unknown
      }
    },
    'probe of writing',
  )
}

function sourceOf(kind: SourceKind, name: string, file: unknown, isMadeToo = false): ProbeTarget | undefined {
  const path = pathOf(file)
  if (path === undefined || /[\\/]node_modules[\\/]/.test(path)) return undefined
  if (!isMadeToo && isMade(path)) return undefined
  const inside = relative('.', path)
  return { kind, name: `${name} ${inside === '' ? '.' : inside.startsWith('..') ? path : inside}`, path }
}

/** Absolute; `undefined` for what is no path, such as a descriptor. */
function pathOf(file: unknown): string | undefined {
  if (typeof file === 'string') return unwatched(() => resolve(file))
  if (file instanceof URL) return file.protocol === 'file:' ? fileURLToPath(file) : undefined
  return Buffer.isBuffer(file) ? join(file.toString()) : undefined
}
