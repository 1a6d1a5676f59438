import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HarvestError } from '../src/errors/index.ts'
import { importRecordings } from '../src/importers/index.ts'
import { parseTape, serializeTape } from '../src/tape/index.ts'
import { traceOf } from '../src/trace/index.ts'

/**
 * Imports every log, history and trajectory of a collection that has a `MANIFEST.jsonl`, and prints for each kind how many
 * files and runs there are, which were refused, and why. Exit code 1 when something crashed, or a tape was not read as it
 * was written.
 *
 *     node scripts/import-runs.ts ../shared/data [--verbose]
 */
const [folder = '../shared/data', ...words] = process.argv.slice(2)

interface Row {
  readonly file: string
  readonly kind: string
}

interface Count {
  files: number
  imported: number
  refused: number
  runs: number
  calls: number
  grades: Set<string>
}

const kinds = [
  'trajectory',
  'trajectory-label',
  'trajectory-llmcalls',
  'agent-snapshot',
  'mcp-session',
  'temporal-history',
]
const counts = new Map<string, Count>()
const refusals: string[] = []
let crashed = 0

for (const line of readFileSync(join(folder, 'MANIFEST.jsonl'), 'utf8').split('\n')) {
  if (line === '') continue
  const { file, kind } = JSON.parse(line) as Row
  if (!kinds.includes(kind)) continue
  let bytes: Buffer
  try {
    bytes = readFileSync(join(folder, file))
  } catch {
    // Part of the collection is kept back for another check.
    continue
  }
  importFile(file, kind, bytes)
}

for (const line of refusals) console.log(line)
console.log(`${'kind and format'.padEnd(44)}  files  imported  refused  runs  tool calls  grades`)
for (const [name, { files, imported, refused, runs, calls, grades }] of [...counts].sort())
  console.log(
    `${name.padEnd(44)}  ${`${files}`.padStart(5)}  ${`${imported}`.padStart(8)}  ${`${refused}`.padStart(7)}  ` +
      `${`${runs}`.padStart(4)}  ${`${calls}`.padStart(10)}  ${[...grades].join(', ')}`,
  )
console.log(`crashed: ${crashed}`)
process.exitCode = crashed > 0 ? 1 : 0

function importFile(file: string, kind: string, bytes: Buffer): void {
  const source = file.split('/')[0] ?? ''
  try {
    const tapes = [...importRecordings({ file, bytes, id: (name) => name ?? 'run', agent: 'data' }).tapes]
    const { format, grade } = tapes[0]!.facts
    const count = countOf(`${kind} ${format}`)
    count.imported++
    count.runs += tapes.length
    count.grades.add(grade)
    for (const { header, events, close, facts } of tapes) {
      const read = parseTape(serializeTape({ ...header, id: 'data' }, events, close), file)
      const calls = traceOf(read.events).layers.flat().length
      count.calls += calls
      if (words.includes('--verbose'))
        console.log(`${file} ${header.id}: ${calls} of ${facts.tools.length} calls, ${facts.modelCalls} model calls`)
    }
  } catch (error) {
    if (HarvestError.is(error)) {
      countOf(`${kind} of ${source}`).refused++
      refusals.push(
        `refused ${file}: ${error.code} ${String(error.facts.where?.['at'] ?? '')} ${String(error.facts.where?.['problem'])}`,
      )
      return
    }
    crashed++
    console.log(`CRASHED ${file}\n${String((error as Error).stack)}\n`)
  }
}

function countOf(name: string): Count {
  const count = counts.get(name) ?? { files: 0, imported: 0, refused: 0, runs: 0, calls: 0, grades: new Set<string>() }
  counts.set(name, count)
  count.files++
  return count
}
