import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { built } from '../support/built.ts'
import { type Answered, run } from './harvest.ts'

/**
 * Runs the built `harvest` command many times in one process, without colours: a process for each line takes a quarter
 * of a second. Not for commands that start programs, whose output would not be heard.
 */
export function many(
  lines: readonly (readonly string[])[],
  cwd = process.cwd(),
  env: Readonly<Record<string, string>> = {},
): readonly Answered[] {
  using report = reportFile()
  execFileSync(process.execPath, programFor(report.file), {
    cwd,
    input: JSON.stringify(lines),
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, VITEST: undefined, ...env },
    stdio: ['pipe', 'ignore', 'inherit'],
    timeout: 840_000,
  })
  return report.read()
}

/** As {@link many}, for so many lines that this process would be held up for long. */
export async function thousands(lines: readonly (readonly string[])[], cwd: string): Promise<readonly Answered[]> {
  using report = reportFile()
  const input = JSON.stringify(lines)
  const { code, stderr } = await run(process.execPath, programFor(report.file), { cwd, input, env: { NO_COLOR: '1' } })
  if (code !== 0) throw new Error(`the commands ended with ${code}: ${stderr}`)
  return report.read()
}

function programFor(report: string): readonly string[] {
  return [join(import.meta.dirname, 'many.child.ts'), built('cli/main.js'), report]
}

function reportFile(): Disposable & { readonly file: string; read(): readonly Answered[] } {
  const folder = mkdtempSync(join(tmpdir(), 'harvest-many-'))
  const file = join(folder, 'report.json')
  return {
    file,
    read: () => JSON.parse(readFileSync(file, 'utf8')) as readonly Answered[],
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}
