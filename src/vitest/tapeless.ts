import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Vitest } from 'vitest/node'
import { readHead } from './case-head.ts'
import { goldenSets } from './project.ts'
import { surveyRecordings } from './survey.ts'

const followed = new WeakSet<object>()

/**
 * `--changed`: a case whose tape is gone is affected. Git names a tape that was deleted, of one that was renamed only the
 * new name, and no module leads from either to the case.
 */
export function followMissingTapes(vitest: Vitest): void {
  const { vcs } = vitest
  if (followed.has(vcs)) return
  followed.add(vcs)
  const find = vcs.findChangedFiles.bind(vcs)
  vcs.findChangedFiles = async (options) => [...(await find(options)), ...tapelessCases(vitest)]
}

/** Absolute paths, as Vitest spells them. */
function tapelessCases(vitest: Vitest): readonly string[] {
  const folders = new Set(goldenSets(vitest).map(({ recordings }) => recordings))
  return [...folders].flatMap((folder) =>
    surveyRecordings(folder)
      .cases.map((file) => path.posix.join(folder, file))
      .filter((file) => {
        const { tape } = readHead(readFileSync(file, 'utf8'))
        return tape.value !== undefined && !existsSync(path.resolve(path.dirname(file), tape.value))
      }),
  )
}
