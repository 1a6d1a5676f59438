import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { aboveRecordings, programNamed, type Programs, readPrograms } from '../recordings/index.ts'
import { configFiles } from './config-files.ts'
import { outputOf, runProgram } from '../jobs/program.ts'
import { ownPath } from '../own-files.ts'

/** Whether the project lists a command; where it does not, `unread` says why the Vitest config could not be asked. */
export type ProgramListing = { readonly isListed: boolean; readonly unread?: string }

/** Whether the `package.json` of the current folder lists these words. */
export function isInManifest(argv: readonly string[]): boolean {
  return programNamed(readPrograms(process.cwd()), argv) !== undefined
}

/**
 * Whether the project lists these words, in its `package.json` or in `harvest({ programs })` of its Vitest config.
 *
 * @throws HarvestError `HARVEST_OPTION` when the list of `package.json` cannot be understood
 */
export async function isListed(argv: readonly string[]): Promise<ProgramListing> {
  if (isInManifest(argv)) return { isListed: true }
  const found = await programsOfConfig()
  if ('failed' in found) return { isListed: false, unread: found.failed }
  return { isListed: found.programs.some((programs) => programNamed(programs, argv) !== undefined) }
}

type Answer = { readonly programs: readonly Programs[] } | { readonly failed: string }

async function programsOfConfig(): Promise<Answer> {
  // One that lies among recordings is data, as they are: it is not loaded.
  const root = aboveRecordings(process.cwd())
  const [config] = configFiles(root)
  if (config === undefined) return { programs: [] }
  const folder = mkdtempSync(join(tmpdir(), 'harvest-programs-'))
  const file = join(folder, 'programs.json')
  const reader = ownPath('vitest/list-programs')
  try {
    const { code, stderr } = await runProgram(
      { argv: ['node', reader, config, file], cwd: root },
      { env: {}, output: 'capture' },
    )
    if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Answer
    const said = outputOf({ stderr })
      .split('\n')
      .find((line) => /\bError\b/.test(line))
    return { failed: said ?? `it ended with exit code ${code}` }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
