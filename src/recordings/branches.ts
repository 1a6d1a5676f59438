import { realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { here } from '../errors/here.ts'
import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import { readTapeHeader } from '../tape/index.ts'
import { filesBelow } from './files.ts'

/**
 * The branches of the inbox by the tape they begin with. Damaged ones are no branches: they are of no use anyway.
 *
 * @throws HARVEST_RECORDINGS_REMOVE when the inbox cannot be looked through
 */
export class Branches {
  readonly #of = new Map<string, string[]>()
  /** What the system does not let us read may be a branch of any tape. */
  readonly #unread = new Map<string, HarvestError>()

  constructor(recordings: string) {
    const inbox = join(recordings, 'inbox')
    for (const file of looking(inbox, () => filesBelow(inbox, (name) => name.endsWith('.tape.jsonl')))) {
      const parent = looking(dirname(file), () => parentOf(file))
      if (typeof parent === 'string') this.#of.set(parent, [...(this.#of.get(parent) ?? []), file])
      else if (parent !== undefined) this.#unread.set(placeOf(file), parent)
    }
  }

  /** Branches that begin with a tape and are not among `gone`. */
  of(file: string, gone: Iterable<string> = []): readonly string[] {
    const without = new Set([...gone].map(placeOf))
    return (this.#of.get(placeOf(file)) ?? []).filter((branch) => !without.has(placeOf(branch)))
  }

  /** The same files, each after its branches: cut short in between, no branch is left without its beginning. */
  branchesFirst<T>(items: readonly T[], fileOf: (item: T) => string): readonly T[] {
    const left = new Map(items.map((item) => [placeOf(fileOf(item)), item]))
    const ordered: T[] = []
    const take = (place: string): void => {
      const item = left.get(place)
      if (item === undefined) return
      // Taken out first: a ring of branches would go round for ever.
      left.delete(place)
      for (const branch of this.#of.get(place) ?? []) take(placeOf(branch))
      ordered.push(item)
    }
    for (const place of [...left.keys()]) take(place)
    return ordered
  }

  /** @throws HARVEST_TAPE_UNREADABLE when a tape that is not among `gone` does not say whether it is a branch */
  refuseUnread(gone: Iterable<string> = []): void {
    const without = new Set([...gone].map(placeOf))
    for (const [place, error] of this.#unread) if (!without.has(place)) throw error
  }

  /**
   * Refuses to take a tape away that others begin with.
   *
   * @param gone - files that are taken away together with it
   * @throws HARVEST_RECORDINGS_BRANCHES, HARVEST_TAPE_UNREADABLE
   */
  refuseNeeded(file: string, gone: Iterable<string> = []): void {
    this.refuseUnread(gone)
    const branches = this.of(file, gone)
    if (branches.length === 0) return
    const named = branches.map((branch) => neutralLine(here(branch), 200))
    throw new HarvestError('HARVEST_RECORDINGS_BRANCHES', {
      what: 'The tape has branches, so it stays',
      where: { tape: file, branches: named.join(', ') },
      why: 'A branch stores only its own steps and is unreadable without this tape.',
      fix: [
        `to remove the branches first: npx vitest-harvest tapes rm ${branches.map((branch) => shellWord(here(branch))).join(' ')}`,
        `to keep one as a whole tape of the golden set: npx vitest-harvest promote ${shellWord(here(branches[0] ?? ''))} --as '<id>'`,
      ],
    })
  }
}

/** The place of a branch's parent; the error when the system does not let us see whether it is a branch. */
function parentOf(file: string): string | HarvestError | undefined {
  try {
    const { parent } = readTapeHeader(file)
    return parent === undefined || isAbsolute(parent.file) ? undefined : placeOf(join(dirname(file), parent.file))
  } catch (error) {
    if (!HarvestError.is(error)) throw error
    return error.code === 'HARVEST_TAPE_UNREADABLE' ? error : undefined
  }
}

/** One name for one place, by any links it was reached. */
function placeOf(file: string): string {
  const folder = dirname(file)
  return looking(folder, () => {
    try {
      return join(realpathSync(folder), basename(file))
    } catch (error) {
      // The folder of a parent that is gone: it is not asked for.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return join(folder, basename(file))
      throw error
    }
  })
}

function looking<T>(folder: string, look: () => T): T {
  try {
    return look()
  } catch (error) {
    if (HarvestError.is(error)) throw error
    throw new HarvestError(
      'HARVEST_RECORDINGS_REMOVE',
      {
        what: 'Cannot read all tapes, so branches are unknown and nothing is removed',
        where: { folder, system: (error as Error).message },
        fix: [`to see its permissions: ls -ld ${shellWord(folder)}`],
      },
      { cause: error },
    )
  }
}
