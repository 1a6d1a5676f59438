import { basename } from 'node:path'
import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import { deletedFiles } from '../provenance/index.ts'

/** What git knows of a case or tape that is not here: the commit that took it away, and how to go on. */
export interface Deleted {
  /** The commit, in one line. */
  readonly in: string
  readonly step: string
}

/** @param word - as it was typed: an id, `group/id`, or a path */
export async function deletedCase(word: string): Promise<Deleted | undefined> {
  const name = nameOf(word)
  if (!/^[\w.-]+$/.test(name)) return undefined
  const found = await deletedFiles(process.cwd(), name, ['.case.yaml', '.case.yml', '.tape.jsonl'])
  if (found === undefined) return undefined
  const { files, commit, now } = found
  const paths = files.map((file) => shellWord(file)).join(' ')
  if (commit === undefined)
    return { in: 'a change that is not committed', step: `to get it back: git restore --staged --worktree ${paths}` }
  const renamed = now === undefined ? undefined : nameOf(now)
  return {
    in: neutralLine(`commit ${commit.hash.slice(0, 10)}, ${commit.subject}`, 120),
    step:
      renamed === undefined
        ? `to get it back: git checkout ${shellWord(`${commit.hash.slice(0, 10)}~1`)} -- ${paths}`
        : `did you mean: ${shellWord(renamed)} instead of ${shellWord(word)}`,
  }
}

/** What a case and its tape are called, by the path of one of them. */
function nameOf(path: string): string {
  return basename(path).replace(/\.(?:case\.ya?ml|tape\.jsonl)$/, '')
}

/** The error of a case or tape that is not there, with what git knows of it. */
export async function withDeleted(error: HarvestError, typed: readonly string[]): Promise<HarvestError> {
  const { what, where, fix = [] } = error.facts
  // The case is there, and its tape is not: no word that was typed has to be the name of that.
  const tape = error.code === 'HARVEST_CASE_TAPE_MISSING' ? where?.['tape'] : undefined
  const word = tape ?? typed.find((one) => what.includes(`'${one}'`))
  const deleted = word === undefined ? undefined : await deletedCase(word).catch(refused)
  if (deleted === undefined) return error
  const facts = {
    where: { ...where, 'deleted in': deleted.in },
    fix: [...new Set([deleted.step, ...fix.filter((line) => !line.includes(' git restore '))])],
  }
  return new HarvestError(error.code, { ...error.facts, ...facts }, { cause: error })
}

/** What is missing is the answer then: that git refused is said by commands that need it. */
function refused(error: unknown): undefined {
  if (!HarvestError.is(error, 'HARVEST_GIT_UNREADABLE')) throw error
  return undefined
}
