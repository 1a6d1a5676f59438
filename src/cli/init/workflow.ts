import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseJson, at, isMap } from '../../json/canonical.ts'
import { listFolder } from '../../recordings/files.ts'
import type { PlannedFile } from './plan.ts'

const folder = '.github/workflows'

/** Keeps the reports of red cases: hidden folders are left out unless asked for, and each job of a matrix needs a name. */
const step = [
  '- name: Keep the reports of red cases',
  '  if: ${{ failure() }}',
  '  uses: actions/upload-artifact@v5',
  '  with:',
  '    name: harvest-report-${{ github.job }}-${{ strategy.job-index }}',
  '    path: |',
  '      **/.harvest/report',
  '      !**/node_modules/**',
  '    include-hidden-files: true',
  '    if-no-files-found: ignore',
]

/** The workflows of GitHub Actions that run Vitest, each with a step that keeps the reports of red cases. */
export function planWorkflows(root: string): readonly PlannedFile[] {
  if (!existsSync(join(root, folder))) return []
  const scripts = vitestScripts(root)
  return listFolder(join(root, folder))
    .filter((entry) => entry.isFile() && /\.ya?ml$/.test(entry.name))
    .map(({ name }) => name)
    .sort()
    .flatMap((name): PlannedFile[] => {
      const file = `${folder}/${name}`
      const before = readFileSync(join(root, file), 'utf8')
      if (before.includes('.harvest/report')) return [{ file, state: 'already', before, after: before }]
      const after = withStep(before, scripts)
      return after === before ? [] : [{ file, state: 'changed', before, after }]
    })
}

/** Names of the scripts of the package that run Vitest. */
function vitestScripts(root: string): readonly string[] {
  const file = join(root, 'package.json')
  const scripts = existsSync(file) ? at(parseJson(readFileSync(file, 'utf8')), 'scripts') : undefined
  if (!isMap(scripts)) return []
  return Object.entries(scripts).flatMap(([name, text]) =>
    typeof text === 'string' && /\bvitest(?:-harvest)?\b/.test(text) ? [name] : [],
  )
}

function runsVitest(line: string, scripts: readonly string[]): boolean {
  const [, command = ''] =
    /^\s*(?:- )?run:\s*(.+)$/.exec(line) ?? /^\s+((?:npx|npm|pnpm|yarn|vitest)\b.+)$/.exec(line) ?? []
  if (/\bvitest(?: run\b|\s*$)|\bvitest-harvest test\b/.test(command)) return true
  const [, script] = /^(?:npm|pnpm|yarn)(?: run)? ([\w:.-]+)/.exec(command) ?? []
  return script !== undefined && scripts.includes(script)
}

/** Puts the step behind each step that runs Vitest, one a list of steps; a workflow of another form stays as it is. */
function withStep(text: string, scripts: readonly string[]): string {
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n'
  const lines = text.split(/\r?\n/)
  const indentOf = (line: string): number => line.search(/\S/)
  const steps = new Set<number>()
  for (let at = lines.length - 1; at >= 0; at--) {
    if (!runsVitest(lines[at] ?? '', scripts)) continue
    let start = at
    while (start >= 0 && !/^\s*- /.test(lines[start] ?? '')) start--
    const indent = indentOf(lines[start] ?? '')
    if (start < 0 || (start !== at && indentOf(lines[at] ?? '') <= indent)) continue
    // A step may run it twice.
    if (steps.has(start)) continue
    steps.add(start)
    let end = at + 1
    while (end < lines.length && ((lines[end] ?? '').trim() === '' || indentOf(lines[end] ?? '') > indent)) end++
    while ((lines[end - 1] ?? '').trim() === '') end--
    lines.splice(end, 0, ...step.map((line) => ' '.repeat(indent) + line))
  }
  return lines.join(lineEnd)
}
