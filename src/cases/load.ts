import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { HarvestError, shellWord } from '../errors/index.ts'
import { isInGit, toRestore } from '../errors/usual-steps.ts'
import { parseCase, refuseSize } from './parse.ts'
import { textOf } from './text.ts'
import type { Case } from './types.ts'

/**
 * Reads a case file from disk.
 *
 * @throws HARVEST_CASE_MISSING, HARVEST_CASE_LINK (a symbolic link is never followed), HARVEST_CASE_NOT_A_FILE,
 * HARVEST_CASE_UNREADABLE, HARVEST_CASE_ENCODING, and everything {@link parseCase} throws
 */
export function loadCase(file: string): Case {
  return parseCase(textOf(readBytes(file), file), file)
}

/** The text of a case file; `undefined` for one that {@link loadCase} refuses before it is parsed. */
export function caseText(file: string): string | undefined {
  try {
    return textOf(readSmall(file) ?? readBytes(file), file)
  } catch (error) {
    if (HarvestError.is(error)) return undefined
    throw error
  }
}

/**
 * The tape file of a case, beside it.
 *
 * @throws HARVEST_CASE_TAPE_MISSING when there is no such file, HARVEST_CASE_TAPE_LINK when it is a link
 */
export function requireTapeFile({ file, id, tape, lines }: Case): string {
  const tapeFile = join(dirname(file), tape)
  const stats = lstatSync(tapeFile, { throwIfNoEntry: false })
  const where = { case: `${file}:${lines.tape}:1`, tape: tapeFile }
  if (stats === undefined) {
    throw new HarvestError('HARVEST_CASE_TAPE_MISSING', {
      what: `The tape of the case ${id} is missing`,
      where,
      why: 'A case and its tape are in one folder and are committed together.',
      fix: [
        ...toRestore(tapeFile),
        ...(isInGit(tapeFile) ? ['if it was not committed: commit it where it was promoted'] : []),
        'if the tape was renamed: write its new name into the case',
        `if it is lost, to promote another one in its place: rm ${shellWord(file)}`,
      ],
    })
  }
  if (!stats.isFile()) {
    throw new HarvestError('HARVEST_CASE_TAPE_LINK', {
      what: `The tape of the case ${id} is ${stats.isSymbolicLink() ? 'a symbolic link' : 'not a file'}`,
      where,
      why: 'The target of a link was not reviewed.',
      fix: [`to see its target: ls -l ${shellWord(tapeFile)}`, 'replace the link with the tape itself'],
    })
  }
  return tapeFile
}

/**
 * The bytes of a file of cases; a link is not followed, and nothing is waited for.
 *
 * @throws what {@link loadCase} throws for what is no such file
 */
export function readBytes(file: string): Buffer {
  // Windows has neither flag: there the look before opening has to do. Without O_NONBLOCK a named pipe without a writer
  // would be waited for.
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>
  if (O_NOFOLLOW === 0 && lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true) throw isLink(file)
  let descriptor: number
  try {
    descriptor = openSync(file, constants.O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    throw cannotOpen(file, error)
  }
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) {
      throw new HarvestError('HARVEST_CASE_NOT_A_FILE', {
        what: 'The case is not a file',
        where: { case: file },
        fix: [`to see what it is: ls -ld ${shellWord(file)}`, 'to list the cases: npx vitest-harvest ls --golden'],
      })
    }
    refuseSize(stats.size, file)
    return readFileSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const small = Buffer.allocUnsafeSlow(32 * 1024)

/**
 * The bytes of a small file, until the next one is read: for thousands of cases, buffers and questions for their size take
 * longer than the rest. `undefined`: it is large, no file, or cannot be read.
 */
function readSmall(file: string): Buffer | undefined {
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>
  if (O_NOFOLLOW === 0) return undefined
  let descriptor: number | undefined
  try {
    descriptor = openSync(file, constants.O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    const length = readSync(descriptor, small, 0, small.length, 0)
    return length === 0 || length === small.length ? undefined : small.subarray(0, length)
  } catch {
    // Whoever reads it whole says why it cannot be read.
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

function isLink(file: string, cause?: unknown): HarvestError {
  return new HarvestError(
    'HARVEST_CASE_LINK',
    {
      what: 'The case file is a symbolic link',
      where: { case: file },
      why: 'The target of a link was not reviewed.',
      fix: [`to see its target: ls -l ${shellWord(file)}`, 'replace the link with the case file itself'],
    },
    { cause },
  )
}

function cannotOpen(file: string, cause: unknown): HarvestError {
  const { code } = cause as NodeJS.ErrnoException
  if (code === 'ELOOP') return isLink(file, cause)
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new HarvestError(
      'HARVEST_CASE_MISSING',
      {
        what: 'Unknown case file',
        where: { case: file },
        fix: ['to list them: npx vitest-harvest ls'],
      },
      { cause },
    )
  }
  return new HarvestError(
    'HARVEST_CASE_UNREADABLE',
    {
      what: 'The case file could not be opened',
      where: { case: file, system: code ?? String(cause) },
      fix: [`to see its permissions: ls -l ${shellWord(file)}`],
    },
    { cause },
  )
}
