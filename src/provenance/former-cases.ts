import { spawnSync } from 'node:child_process'
import { quietEnvironment } from './git.ts'
import { readContents } from './staged.ts'

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
 */
export function readFormerCases(folder: string): FormerCases | undefined {
  const git = (args: readonly string[], input = ''): Buffer | undefined => {
    const { status, stdout } = spawnSync(
      'git',
      ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', ...args],
      {
        cwd: folder,
        input,
        env: { ...quietEnvironment(), GIT_NO_LAZY_FETCH: '1' },
        maxBuffer: 1024 * 1024 * 1024,
      },
    )
    return status === 0 ? stdout : undefined
  }
  const log = git(['log', '--raw', '--format=', '--no-abbrev', '--no-renames', '--no-ext-diff', '--', '.'])?.toString(
    'utf8',
  )
  if (log === undefined) return undefined
  const oids = [...log.matchAll(/^:\d+ \d+ [0-9a-f]+ ([0-9a-f]+) \w\t.*\.case\.ya?ml"?$/gm)].map(([, oid = '']) => oid)
  const known = [...new Set(oids)].filter((oid) => !/^0+$/.test(oid))
  const batch = known.length === 0 ? Buffer.of() : git(['cat-file', '--batch'], `${known.join('\n')}\n`)
  if (batch === undefined) return undefined
  return {
    texts: [...readContents(batch).values()].map((text) => text.toString('utf8')),
    isShallow: git(['rev-parse', '--is-shallow-repository'])?.toString('utf8').trim() === 'true',
  }
}
