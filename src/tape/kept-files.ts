import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { HarvestError, shellWord } from '../errors/index.ts'
import { ignoreFolder } from './links.ts'
import { temporaryFor } from './new-file.ts'

/**
 * Makes a folder in which commands keep what they have of a tape: for its owner alone, and out of git, as its tape is.
 *
 * @param ignored - what is kept out of git. Default: the folder above it, which has those of other tapes
 */
export function makeKeptFolder(folder: string, ignored: string = dirname(folder)): void {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  ignoreFolder(ignored)
}

/** Writes a file that commands keep for themselves, for its owner alone: whole or not at all. Errors are those of the system. */
export function writeKeptFile(path: string, content: string | Uint8Array): void {
  const temporary = temporaryFor(path)
  try {
    fs.writeFileSync(temporary, content, { mode: 0o600, flag: 'wx', flush: true })
    fs.renameSync(temporary, path)
  } finally {
    removeQuietly(temporary)
  }
}

/**
 * Tries to write so many bytes to a folder in which commands keep what they have of a tape, and makes it where it is missing; nothing
 * of the bytes stays.
 *
 * @throws HARVEST_RECORDINGS_WRITE when the system says no
 */
export function requireRoom(folder: string, bytes: number): void {
  try {
    makeKeptFolder(folder)
    tryRoom(folder, bytes)
  } catch (error) {
    throw unwritable(`${folder}/`, error)
  }
}

/** Tries to write so many bytes to a folder that is there; nothing of them stays. Errors are those of the system. */
export function tryRoom(folder: string, bytes: number): void {
  const temporary = temporaryFor(`${folder}/room`)
  try {
    fs.writeFileSync(temporary, Buffer.alloc(bytes), { mode: 0o600, flag: 'wx', flush: true })
  } finally {
    removeQuietly(temporary)
  }
}

type Hear = (unkept: HarvestError) => void
let hear: Hear | undefined

/** From now on, who hears what {@link keepIfPossible} could not write. Without anyone it is thrown. */
export function hearUnkept(listener: Hear | undefined): void {
  hear = listener
}

/** Tells the listener of {@link hearUnkept}. */
export function tellUnkept(unkept: HarvestError): void {
  if (hear === undefined) throw unkept
  hear(unkept)
}

/**
 * Keeps what was made and paid for, for later sessions. Where the system says no, this session has it all the same: it goes on,
 * and whoever listens hears why it is not kept.
 *
 * @returns whether it was written
 */
export function keepIfPossible(path: string, write: () => void): boolean {
  try {
    write()
    return true
  } catch (error) {
    if (!isOfSystem(error)) throw error
    tellUnkept(
      unwritable(path, error, {
        what: 'Runs cannot be kept for later sessions',
        why: 'The disk is full, or the folder is not writable. This command goes on and says what it finds. The same command would ask the models again.',
      }),
    )
    return false
  }
}

/** Whether the system said no: anything else is a mistake of ours. */
export function isOfSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && /^E[A-Z\d]+$/.test(String((error as NodeJS.ErrnoException).code))
}

/** @param said - what it means for whoever reads it. Default: that a file of the recordings was not written */
export function unwritable(
  path: string,
  cause: unknown,
  said: { readonly what: string; readonly why: string } = {
    what: 'Cannot write a file of the recordings',
    why: 'The disk is full, or the folder is not writable. Existing files are unchanged.',
  },
): HarvestError {
  return new HarvestError(
    'HARVEST_RECORDINGS_WRITE',
    {
      what: said.what,
      where: { file: path, system: systemReason(cause) },
      why: said.why,
      fix: [
        `to see free space: df -h ${shellWord(dirname(path))}`,
        `to see its permissions: ls -ld ${shellWord(dirname(path))}`,
      ],
    },
    { cause },
  )
}

/** Code and call; the message of the system names a temporary file. */
function systemReason(cause: unknown): string {
  const { code, syscall } = cause as NodeJS.ErrnoException
  return code === undefined ? String(cause) : [code, syscall].filter((part) => part !== undefined).join(' on ')
}

/** Removes what is left of a write; a temporary file that stays is swept later. */
export function removeQuietly(path: string): void {
  try {
    fs.rmSync(path, { force: true })
  } catch {
    // Why nothing was written is on its way up.
  }
}
