import { gitAsker } from './git-asker.ts'
import { contentsOf, lines } from './staged.ts'

/** What git remembers of the case files of a folder. */
export interface FormerCases {
  /** Texts of all committed versions, the newest first. */
  readonly texts: readonly string[]
  /** Whether the clone is shallow: older versions are then not here. */
  readonly isShallow: boolean
}

/**
 * Reads every committed version of the case files below a folder, moved ones too.
 *
 * @returns `undefined` outside a repository, in one without commits, and where git is not installed
 * @throws HarvestError `HARVEST_GIT_UNREADABLE` when there is a repository and git refuses to read it
 */
export async function readFormerCases(folder: string): Promise<FormerCases | undefined> {
  const ask = gitAsker(folder)
  const log = await ask((git) => git.raw(logArguments))
  if (log === undefined) return undefined
  const oids = [...log.matchAll(/^:\d+ \d+ [0-9a-f]+ ([0-9a-f]+) \w\t.*\.case\.ya?ml"?$/gm)].map(([, oid = '']) => oid)
  const known = [...new Set(oids)].filter((oid) => !/^0+$/.test(oid))
  const contents = known.length === 0 ? undefined : await ask(contentsOf, { input: lines(known) })
  return {
    texts: [...(contents?.values() ?? [])].map((text) => text.toString('utf8')),
    isShallow: (await ask((git) => git.revparse(['--is-shallow-repository']))) === 'true',
  }
}

const logArguments = ['log', '--raw', '--format=', '--no-abbrev', '--no-renames', '--no-ext-diff', '--', '.']
