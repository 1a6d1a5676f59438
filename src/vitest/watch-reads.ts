import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { jobsVariable } from '../jobs/job.ts'
import { changedVariables, readVariables, saltedDigest, type Surroundings } from '../jobs/run-reads.ts'
import { ownFolderPath } from '../own-files.ts'
import { isCredential, scan, type SecretFinding } from '../privacy/index.ts'
import { askingCode } from '../seam/asking.ts'
import { builtinsChanged, patchProperty, syncBuiltins } from '../seam/patch.ts'
import { sharedOf } from '../seam/source.ts'
import { filesOfRun } from './loaded-files.ts'
import { isForReading, pathOf } from './read-files.ts'

/** The clock that files are dated by is behind by so much at most. */
const lagMs = 20

/** What is asked of a path: its content, the names in it, its size and time, or whether it is there. */
type Question = 'file' | 'folder' | 'stats' | 'there'

interface Watch {
  readonly salt: string
  readonly root: string
  /** As it was before any run: what a run sets itself is made by its code. */
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly names: Set<string>
  isListed: boolean
  readonly files: Map<string, string>
  /** Of these, what code asked for itself. */
  readonly asked: Set<string>
  /** What is younger was made by a run. */
  readonly since: number
}

/**
 * From now on notes which environment variables and files the agent and its packages read in this process, by whichever run:
 * what a package read once, when it was loaded, holds for the runs behind as well.
 */
export function watchReads(root: string): Surroundings {
  const holder = sharedOf('vitest/watch-reads', install)
  const salt = randomBytes(12).toString('base64url')
  const variables = { ...process.env }
  const watch: Watch = {
    salt,
    root,
    variables,
    names: new Set(),
    isListed: false,
    files: new Map(),
    asked: new Set(),
    since: Date.now() - lagMs,
  }
  holder.watch = watch
  const machine = machineNow()
  return {
    reads(sentKeys = []) {
      for (const file of filesOfRun(root, new Set()) ?? []) if (!isOfJobs(file)) note(watch, 'file', file)
      return {
        ...readVariables(variables, watch, { isKey, sentKeys }),
        files: Object.fromEntries([...watch.files].sort()),
        asked: [...watch.asked].filter((key) => watch.files.has(key)).sort(),
        machine: Object.fromEntries(machine.map(([name, value]) => [name, saltedDigest(salt, [value])])),
      }
    },
    changedSince: (reads, isFree, unloaded) => {
      const isUnloaded = (key: string, file: string): boolean =>
        unloaded?.has(file) === true && reads.asked?.includes(key) === false
      const changed = [
        ...changedVariables(reads, variables, isFree),
        ...machine.flatMap(([name, value]) =>
          reads.machine?.[name] === saltedDigest(reads.salt, [value]) ? [] : [`the ${name}`],
        ),
        ...Object.entries(reads.files).flatMap(([key, digest]) => {
          const [, question, file] = /^(file|folder|stats|there) ([^]*)$/.exec(key) ?? []
          const absolute = path.resolve(root, file ?? '')
          const now = isUnloaded(key, absolute) ? digest : answerOf(question as Question, absolute, reads.salt)
          return now === digest ? [] : [file === '' ? '.' : (file ?? key)]
        }),
      ]
      // A file may have been asked two questions.
      return [...new Set(changed)]
    },
  }
}

/** Whether a variable is a key by what is replaced on tapes: all of its value, by its name or its look. */
function isKey(name: string, value: string): boolean {
  const all = (found: SecretFinding): boolean => found.index === name.length + 1 && found.length === value.length
  return value !== '' && scan(`${name}=${value}`).some((found) => all(found) && isCredential(found.kind))
}

/** What any code learns of its machine without reading anything, as far as it stays from one session to the next. */
function machineNow(): readonly (readonly [name: string, value: string])[] {
  const { timeZone, locale, calendar, numberingSystem } = new Intl.DateTimeFormat().resolvedOptions()
  return [
    ['time zone', timeZone],
    ['locale', [locale, calendar, numberingSystem].join()],
    ['version of Node', process.version],
    ['platform', [process.platform, process.arch, os.cpus().length].join()],
  ]
}

function install(): { watch?: Watch } {
  const holder: { watch?: Watch } = {}
  watchVariables(holder)
  watchFiles(holder)
  builtinsChanged()
  syncBuiltins()
  return holder
}

function watchVariables(holder: { watch?: Watch }): void {
  /** Names that are being listed: whether each is there is asked by the language, in this order. */
  let listing: string[] = []
  // biome-ignore lint/complexity/noBannedTypes: any function will do for Error.captureStackTrace
  const read = (key: string | symbol, caller: Function): void => {
    const { watch } = holder
    if (watch === undefined || typeof key !== 'string' || key === jobsVariable || watch.names.has(key)) return
    if (key in Object.prototype || askingCode(caller) === undefined) return
    watch.names.add(key)
  }
  const view: NodeJS.ProcessEnv = new Proxy(process.env, {
    get: function get(target, key): unknown {
      read(key, get)
      return Reflect.get(target, key)
    },
    has: function has(target, key) {
      read(key, has)
      return Reflect.has(target, key)
    },
    getOwnPropertyDescriptor: function describe(target, key) {
      if (listing[0] === key) listing.shift()
      else read(key, describe)
      return Reflect.getOwnPropertyDescriptor(target, key)
    },
    ownKeys: function ownKeys(target) {
      const keys = Reflect.ownKeys(target)
      listing = keys.filter((key) => typeof key === 'string')
      if (holder.watch !== undefined && askingCode(ownKeys) !== undefined) holder.watch.isListed = true
      return keys
    },
    // Without it the view would be the receiver, and Node takes no property that is defined on it.
    set: (target, key, value) => Reflect.set(target, key, value),
  })
  Object.defineProperty(process, 'env', { value: view, configurable: true, enumerable: true, writable: true })
}

const questions: Readonly<Record<string, Question>> = {
  readFile: 'file',
  open: 'file',
  createReadStream: 'file',
  openAsBlob: 'file',
  readdir: 'folder',
  opendir: 'folder',
  exists: 'there',
  access: 'there',
  stat: 'stats',
  lstat: 'stats',
}

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown

function watchFiles(holder: { watch?: Watch }): void {
  for (const [name, question] of Object.entries(questions)) {
    for (const [target, key] of [
      [fs, name],
      [fs, `${name}Sync`],
      [fs.promises, name],
    ] as const) {
      const functions = target as unknown as Record<string, AnyFunction>
      if (typeof functions[key] !== 'function') continue
      patchProperty(
        functions,
        key,
        (original) =>
          function patched(...args) {
            const { watch } = holder
            const file = watch === undefined ? undefined : pathOf(args[0])
            if (watch !== undefined && file !== undefined && (name !== 'open' || isForReading(args[1])))
              if (askingCode(patched) !== undefined) watch.asked.add(note(watch, question, file))
            return original.apply(this, args)
          },
        'kept',
      )
    }
  }
}

/** @returns the key it is noted under */
function note({ files, root, salt, since }: Watch, question: Question, file: string): string {
  const absolute = path.resolve(file)
  const inside = path.relative(root, absolute)
  const key = `${question} ${inside.startsWith('..') ? absolute : inside}`
  if (/[\\/]node_modules[\\/]/.test(absolute) || absolute.startsWith(ownFolderPath)) return key
  if (!files.has(key) && !isYoung(absolute, since)) files.set(key, answerOf(question, absolute, salt))
  return key
}

/** The list of jobs, and the module that stands for it, are made for each command. */
function isOfJobs(file: string): boolean {
  const list = process.env[jobsVariable]
  return list !== undefined && path.dirname(file) === path.dirname(list)
}

function isYoung(file: string, since: number): boolean {
  return (statsOf(file)?.mtimeMs ?? 0) >= since
}

/** Above it the time of the last write stands for the content. */
const maxBytes = 64 * 1_024 * 1_024

function answerOf(question: Question, file: string, salt: string): string {
  const stats = statsOf(file)
  if (stats === undefined) return 'absent'
  if (question === 'there') return 'there'
  // What is in a folder is another question, and changes its time.
  if (question === 'stats')
    return stats.isFile() ? saltedDigest(salt, [`${stats.size} ${stats.mtimeMs} ${stats.mode}`]) : 'no file'
  try {
    if (stats.isDirectory()) return saltedDigest(salt, fs.readdirSync(file).sort())
    if (!stats.isFile()) return 'no file'
    const isLarge = stats.size > maxBytes
    return saltedDigest(salt, isLarge ? [`${stats.size} ${stats.mtimeMs}`] : [fs.readFileSync(file, 'latin1')])
  } catch {
    // It is there and may not be read: neither may the run.
    return 'unreadable'
  }
}

function statsOf(file: string): fs.Stats | undefined {
  try {
    return fs.statSync(file, { throwIfNoEntry: false })
  } catch {
    // A folder on the way to it is a file, or may not be looked into.
    return undefined
  }
}
