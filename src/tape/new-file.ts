import { createHash, randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'

// Asked once, when this is loaded: no run is under way then, and no reads are recorded.
const ofProcess = randomBytes(4).toString('hex')
const startedAt = Date.now() - process.uptime() * 1000
/** Where ids of processes mean the same: this machine, or this container on it. */
const place = createHash('sha256').update(`${hostname()} ${pidNamespace()}`).digest('hex').slice(0, 8)
/** Without a write for so long, a file of another place is left. */
const abandonedMs = 60 * 60 * 1000
let count = 0

/** Containers of one pod have the same name, and each counts its own processes. */
function pidNamespace(): number {
  if (process.platform !== 'linux') return 0
  try {
    return fs.statSync('/proc/self/ns/pid').ino
  } catch {
    // A process that may not look there, as under the permission model.
    return 0
  }
}

/** The name of a file beside this one under which it is made; {@link temporaryName} knows whose it is. */
export function temporaryFor(path: string): string {
  count = (count + 1) % 0x10000
  const own = `${ofProcess}${count.toString(16).padStart(4, '0')}`
  return join(dirname(path), `.${basename(path)}.${process.pid}.${own}${place}.tmp`)
}

/** What {@link temporaryFor} makes, with the id of the process and where it ran. */
export const temporaryName: RegExp = /^\..+\.(\d+)\.[0-9a-f]{12}([0-9a-f]{8})?\.tmp$/

/**
 * Whether a process that is gone left this file half-written. One of another machine or container on the same volume cannot
 * be asked for: its file is left when it was not written to for an hour.
 */
export function isLeftOver(path: string): boolean {
  const [, id, where] = temporaryName.exec(basename(path)) ?? []
  if (id === undefined) return false
  const pid = Number(id)
  if (where === place && pid !== process.pid) return !isRunning(pid)
  const writtenAt = fs.lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY
  // One before this had the same id.
  return writtenAt < (where === place ? startedAt : Date.now() - abandonedMs)
}

/** Removes what a killed process left half-written in a folder. Files of processes that still run stay. */
export function sweepTemporaries(folder: string): void {
  for (const name of fs.readdirSync(folder)) {
    const path = join(folder, name)
    if (isLeftOver(path)) fs.rmSync(path, { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it runs, and is someone else's.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Gives a file its name unless the name is taken: `rename` would replace what is there.
 *
 * @throws what the system says, `EEXIST` when the name is taken
 */
export function linkAs(
  temporary: string,
  path: string,
  disk: Pick<typeof fs, 'linkSync' | 'lstatSync' | 'renameSync'> = fs,
): void {
  try {
    disk.linkSync(temporary, path)
  } catch (error) {
    // A network file system can lose the answer to a link that was made, and repeat the question.
    if (disk.lstatSync(temporary).nlink === 2) return
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw taken(path)
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS' && code !== 'EOPNOTSUPP') throw error
    // A file system without hard links: a look before has to do.
    if (disk.lstatSync(path, { throwIfNoEntry: false }) !== undefined) throw taken(path)
    disk.renameSync(temporary, path)
  }
}

function taken(path: string): Error {
  return Object.assign(new Error(`EEXIST: file already exists, '${path}'`), { code: 'EEXIST' })
}
