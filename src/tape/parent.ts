import { dirname, isAbsolute, join, resolve } from 'node:path'
import { HarvestError } from '../errors/index.ts'
import { printable, tapeFault } from './errors.ts'
import { branchFlag } from './flags.ts'
import type { Tape, TapeEvent, TapeHeader, TapeParent } from './types.ts'
import { serializeTape } from './writer.ts'

/** Branches of branches of branches: more than this is a ring, or damage. */
const deepest = 100

/**
 * Where the parent of a branch lies.
 *
 * @param depth - how many branches led here
 */
export function parentAt(source: string, { file }: TapeParent, depth: number): string {
  if (isAbsolute(file))
    throw unusable(source, file, 'Its path is absolute, and a branch names its parent from where it lies itself.')
  const parent = join(dirname(source), file)
  if (resolve(parent) === resolve(source)) throw unusable(source, parent, 'It names itself.')
  if (depth >= deepest)
    throw unusable(source, parent, `There are more than ${deepest} tapes before it, or they lead back to it.`)
  return parent
}

/**
 * A branch with the events of its parent before its own; any other tape as it is.
 *
 * @param read - reads the parent's file
 * @throws HarvestError `HARVEST_TAPE_PARENT` when the parent is missing, or is not the tape the run parted from
 */
export function withShared(tape: Tape, read: (file: string, depth: number) => Tape, depth: number): Tape {
  const { parent } = tape.header
  if (parent === undefined) return tape
  const file = parentAt(tape.source, parent, depth)
  const { events, digest } = orUnusable(tape.source, file, () => read(file, depth + 1))
  const shared = events.filter((event) => isShared(event, parent))
  checkParent(tape.source, file, parent, { digest, events: shared.length })
  const whole = [...shared, ...tape.events].sort((a, b) => a.n - b.n)
  return { ...tape, events: whole }
}

/** Whether an event of the parent is one of the branch as well. */
export function isShared({ n }: TapeEvent, { before = Number.POSITIVE_INFINITY }: TapeParent): boolean {
  return n < before
}

/** Refuses a parent that is not the tape the branch was made from. */
export function checkParent(
  source: string,
  file: string,
  { digest, events }: TapeParent,
  found: { readonly digest: string; readonly events: number },
): void {
  if (found.digest !== digest) throw unusable(source, file, 'It was changed since, or is another tape of this name.')
  if (found.events !== events)
    throw unusable(source, file, `The branch shares ${events} of its events, and it has ${found.events} of those.`)
}

/** Reads a parent; what is wrong with it is wrong with the branch. */
export function orUnusable<T>(source: string, file: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!HarvestError.is(error) || error.code === 'HARVEST_TAPE_PARENT') throw error
    throw unusable(source, file, [error.facts.what, error.facts.why].filter(Boolean).join(': '), error)
  }
}

function unusable(source: string, file: string, why: string, cause?: unknown): HarvestError {
  return tapeFault(
    'HARVEST_TAPE_PARENT',
    { source },
    {
      what: 'The tape is a branch, and its parent tape is unusable',
      where: { parent: printable(file) },
      why,
      fix: ['restore the parent at its original path', 'or fork again'],
    },
    { cause },
  )
}

/** A header that stands before a whole run, whoever it shares its beginning with. */
export function wholeHeader({ parent: _parent, flags, ...header }: TapeHeader): TapeHeader {
  return { ...header, flags: flags.filter((flag) => flag !== branchFlag) }
}

/** The text of a tape with all its events in it: that of a branch needs no parent any more. */
export function wholeTape({ header, events, close }: Tape): string {
  return serializeTape(wholeHeader(header), events, close)
}
