import { lstatSync, rmSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import { readTapeHeader } from '../tape/index.ts'
import { Branches } from './branches.ts'
import { type CaseSummary, findCase, listCases, removeCase } from './cases.ts'
import { filesBelow, makeFolder, readRegularFile, writeFileAtomic } from './files.ts'
import { sweepTemporaries } from '../tape/new-file.ts'
import { refuseLinks } from '../tape/links.ts'

/** What {@link demote} did. */
export interface Demoted {
  /** Where the tape lies in the inbox from now on. */
  readonly tapeFile: string
  /** Whether it was there already. */
  readonly wasThere: boolean
  /** Files that are gone from the golden set. */
  readonly removed: readonly string[]
}

/**
 * Takes a case out of the golden set and puts its tape back into the inbox.
 *
 * The tape is in the inbox before anything is removed; then the case goes, then its tape unless another case has the
 * same one. Killed in between, doing it again goes on where it stopped: a tape without a case is taken back too.
 *
 * @param word - as {@link findCase} takes it
 * @throws HARVEST_CASE_… when there is no such case, or it cannot be read, or its tape is not there;
 * HARVEST_RECORDINGS_BRANCHES when branches begin with it where it lies; HARVEST_RECORDINGS_EXISTS when the inbox has other tapes of its names; HARVEST_RECORDINGS_WRITE, HARVEST_RECORDINGS_REMOVE
 */
export function demote(recordings: string, word: string): Demoted {
  try {
    const found = findCaseOrTape(recordings, word)
    const branches = new Branches(recordings)
    if (typeof found === 'string') {
      branches.refuseNeeded(found)
      const back = putBack(recordings, found)
      rmSync(found)
      return { ...back, removed: [found] }
    }
    const { file, case: loaded, error } = found
    if (loaded === undefined || error !== undefined) throw error ?? new TypeError(`${file} is neither read nor refused`)
    const tape = join(dirname(file), loaded.tape)
    branches.refuseNeeded(tape)
    const back = putBack(recordings, tape)
    for (const { tape: former } of loaded.history ?? []) {
      const file = join(dirname(found.file), former)
      if (isThere(file)) putBack(recordings, file)
    }
    return { ...back, removed: removeCase(recordings, file) }
  } catch (error) {
    throw HarvestError.is(error) ? error : undone(word, error)
  }
}

function findCaseOrTape(recordings: string, word: string): CaseSummary | string {
  try {
    return findCase(recordings, word)
  } catch (error) {
    const tape = HarvestError.is(error, 'HARVEST_CASE_MISSING') ? tapeWithoutCase(recordings, word) : undefined
    if (tape === undefined) throw error
    return tape
  }
}

/** The only tape of this name outside of the inbox, when no case has it. */
function tapeWithoutCase(recordings: string, word: string): string | undefined {
  const stem = word
    .replace(/\.case\.ya?ml$/, '')
    .split(/[/\\]/)
    .join(sep)
  const name = `${basename(stem)}.tape.jsonl`
  const inbox = join(recordings, 'inbox') + sep
  const used = listCases(recordings).flatMap(({ file, case: loaded }) =>
    loaded === undefined ? [] : [join(dirname(file), loaded.tape)],
  )
  const [tape, ...others] = filesBelow(recordings, (each) => each === name).filter(
    (file) => !file.startsWith(inbox) && !used.includes(file) && `${sep}${file}`.endsWith(`${sep}${stem}.tape.jsonl`),
  )
  return others.length === 0 ? tape : undefined
}

function putBack(recordings: string, source: string): Pick<Demoted, 'tapeFile' | 'wasThere'> {
  const bytes = readRegularFile(source)
  const inbox = join(recordings, 'inbox')
  refuseLinks(recordings, inbox)
  makeFolder(inbox)
  sweepTemporaries(inbox)
  const places = namesOf(source).map((name) => join(inbox, name))
  const same = places.find((place) => isThere(place) && readRegularFile(place).equals(bytes))
  if (same !== undefined) return { tapeFile: same, wasThere: true }
  const free = places.find((place) => !isThere(place)) ?? places[0]!
  writeFileAtomic(free, bytes, { exclusive: true })
  return { tapeFile: free, wasThere: false }
}

/** Names a tape may have in the inbox: by the id it was recorded under, or as it is called. */
function namesOf(source: string): readonly string[] {
  const name = basename(source)
  try {
    const { id } = readTapeHeader(source)
    // An id is text from a tape: as a name it must not lead elsewhere, or hide.
    return /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/.test(id) ? [`${id}.tape.jsonl`, name] : [name]
  } catch (error) {
    // A damaged tape is taken back as it is; one the system does not let us read is not damaged.
    if (HarvestError.is(error) && error.code !== 'HARVEST_TAPE_UNREADABLE') return [name]
    throw error
  }
}

function isThere(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined
}

function undone(word: string, cause: unknown): HarvestError {
  return new HarvestError(
    'HARVEST_RECORDINGS_REMOVE',
    {
      what: 'Cannot remove the case from the golden set',
      where: { case: neutralLine(word), system: cause instanceof Error ? cause.message : String(cause) },
      why: 'The folder is not writable, or the disk failed. The tape is in the golden set, the inbox, or both.',
      fix: [`make the folder writable, then continue: npx vitest-harvest tapes demote ${shellWord(word)}`],
    },
    { cause },
  )
}
