import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { built } from '../support/built.ts'
import type { Answered } from './harvest.ts'

/**
 * Runs the built `harvest` command many times in one process, without colours: a process for each line takes a quarter
 * of a second. Not for commands that start programs, whose output would not be heard.
 */
export function many(
  lines: readonly (readonly string[])[],
  cwd = process.cwd(),
  env: Readonly<Record<string, string>> = {},
): readonly Answered[] {
  const folder = mkdtempSync(join(tmpdir(), 'harvest-many-'))
  const report = join(folder, 'report.json')
  try {
    execFileSync(process.execPath, [join(import.meta.dirname, 'many.child.ts'), built('cli/main.js'), report], {
      cwd,
      input: JSON.stringify(lines),
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, VITEST: undefined, ...env },
      stdio: ['pipe', 'ignore', 'inherit'],
      timeout: 840_000,
    })
    return JSON.parse(readFileSync(report, 'utf8')) as readonly Answered[]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
