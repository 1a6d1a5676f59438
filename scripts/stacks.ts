// npm run test:stacks [-- <part of a name> …]: installs each stack of fixtures/stacks/rows.ts from npm into a folder of its own
// outside of the repository, records it against a provider on loopback, promotes it, replays it with a canary in the provider's
// place, breaks it, and writes docs/stacks.md. `--newest` takes the newest versions, `--missing` tries the rows without a
// result alone, `--most-used` the twenty that most people have, `--page` only writes the page, `--check` only compares it.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { mostUsed, rowId, stackRows } from '../fixtures/stacks/rows.ts'
import { installPacked } from './install-packed.ts'
import type { StackOutcome } from './stacks/outcome.ts'
import { stacksPage } from './stacks/page.ts'
import { NotInstalled, RowFailure, tryRow } from './stacks/try-row.ts'

const repository = resolve(import.meta.dirname, '..')
const [resultsFile, page] = ['fixtures/stacks/results.json', 'docs/stacks.md'].map((path) =>
  join(repository, path),
) as [string, string]
const results: Record<string, StackOutcome> = existsSync(resultsFile)
  ? (JSON.parse(readFileSync(resultsFile, 'utf8')) as Record<string, StackOutcome>)
  : {}
const flags = process.argv.slice(2).filter((word) => word.startsWith('--'))
const names = process.argv.slice(2).filter((word) => !word.startsWith('--'))

if (flags.includes('--check')) {
  const isSame = existsSync(page) && readFileSync(page, 'utf8') === stacksPage(results)
  console.log(
    isSame ? 'docs/stacks.md says what the saved results say' : 'docs/stacks.md is not what the saved results say',
  )
  process.exit(isSame ? 0 : 1)
}

if (flags.includes('--page')) {
  save()
  process.exit(0)
}

const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'vitest-harvest-stacks')
mkdirSync(cache, { recursive: true })
for (const old of ['node_modules', 'package.json', 'package-lock.json'])
  rmSync(join(cache, old), { recursive: true, force: true })
installPacked(cache)
let failures = 0
for (const row of stackRows) {
  const id = rowId(row)
  if (names.length > 0 && !names.some((name) => id.includes(name))) continue
  if (flags.includes('--most-used') && !mostUsed.includes(id)) continue
  if (flags.includes('--missing') && results[id]) continue
  const began = performance.now()
  let said = 'ok'
  try {
    results[id] = await tryRow(row, cache, flags.includes('--newest') ? {} : (results[id]?.packages ?? {}))
  } catch (error) {
    if (!(error instanceof RowFailure) && !(error instanceof NotInstalled)) throw error
    failures += 1
    said = `${error instanceof RowFailure ? 'FAILED' : 'NOT TRIED'} ${error.message}`
    if (error instanceof RowFailure) delete results[id]
  }
  console.log(`${id.padEnd(60)} ${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${said}`)
  save()
}
process.exit(failures === 0 ? 0 : 1)

/** In the order of the table; a row that is not in it any more is dropped. */
function save(): void {
  const ids = stackRows.map(rowId).filter((id) => results[id])
  const ordered = Object.fromEntries(ids.map((id) => [id, results[id]!]))
  writeFileSync(resultsFile, `${JSON.stringify(ordered, undefined, 2)}\n`)
  writeFileSync(page, stacksPage(ordered))
}
