import { spawn } from 'node:child_process'
import { on } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { HarvestError } from '../src/errors/index.ts'
import { importRecordings } from '../src/importers/index.ts'
import { installReplay, replayTape } from '../src/replay/index.ts'
import { parseTape, requestBytes, responseBytes, serializeTape, type Tape } from '../src/tape/index.ts'
import { traceOf } from '../src/trace/index.ts'
import { manifestRows } from './manifest.ts'

/**
 * Imports every log, history and trajectory of a collection that has a `MANIFEST.jsonl`, and prints for each kind how many
 * files and runs there are, which were refused, and why. Exit code 1 when something crashed, or a tape was not read as it
 * was written.
 *
 * With `--replay` each log of an MCP server is replayed: its requests are written to the scripted child once more, and
 * every line the child says has to be the one on the tape, in the same order.
 *
 *     node scripts/import-runs.ts ../shared/data [--verbose] [--replay]
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
const replayed = { held: 0, failed: 0, requests: 0 }
let crashed = 0
if (words.includes('--replay')) await installReplay()

for (const { file, kind } of manifestRows<Row>(folder)) {
  if (!kinds.includes(kind)) continue
  let bytes: Buffer
  try {
    bytes = readFileSync(join(folder, file))
  } catch {
    // Part of the collection is kept back for another check.
    continue
  }
  await importFile(file, kind, bytes)
}

for (const line of refusals) console.log(line)
console.log(`${'kind and format'.padEnd(44)}  files  imported  refused  runs  tool calls  grades`)
for (const [name, { files, imported, refused, runs, calls, grades }] of [...counts].sort())
  console.log(
    `${name.padEnd(44)}  ${`${files}`.padStart(5)}  ${`${imported}`.padStart(8)}  ${`${refused}`.padStart(7)}  ` +
      `${`${runs}`.padStart(4)}  ${`${calls}`.padStart(10)}  ${[...grades].join(', ')}`,
  )
console.log(`crashed: ${crashed}`)
if (words.includes('--replay')) console.log({ replayed })
process.exitCode = crashed + replayed.failed > 0 ? 1 : 0

async function importFile(file: string, kind: string, bytes: Buffer): Promise<void> {
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
      if (words.includes('--replay') && facts.format.startsWith('mcp-') && /^re/.test(facts.grade)) await replay(read)
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

async function replay(tape: Tape): Promise<void> {
  const asked = tape.events.flatMap((event) => (event.kind === 'exchange' ? [event] : []))
  const told = tape.events
    .flatMap((event): readonly (readonly [n: number, text: string])[] => {
      if (event.kind === 'push') return [[event.n, event.text]]
      if (event.kind !== 'exchange' || event.response === undefined) return []
      return [[event.response.moment[0], responseBytes(event).toString('utf8')]]
    })
    .sort(([a], [b]) => a - b)
    .map(([, text]) => text)
  const { outcome, problems } = await replayTape(tape, async () => {
    const child = spawn(process.execPath, [], { stdio: 'pipe' })
    const lines = on(createInterface(child.stdout), 'line') as AsyncIterableIterator<[string]>
    const heard: string[] = []
    for (const event of asked) {
      child.stdin.write(`${requestBytes(event).toString('utf8')}\n`)
      const { id } = JSON.parse(requestBytes(event).toString('utf8')) as { id?: unknown }
      if (event.response === undefined) continue
      replayed.requests++
      for (let isAnswered = false; !isAnswered; ) {
        const [line] = (await lines.next()).value as [string]
        heard.push(line)
        const said = JSON.parse(line) as { id?: unknown; method?: unknown }
        isAnswered = said.id === id && said.method === undefined
      }
    }
    return heard
  })
  const isSame = outcome.status === 'returned' && JSON.stringify(outcome.value) === JSON.stringify(told)
  replayed[isSame && problems.length === 0 ? 'held' : 'failed']++
  if (!isSame || problems.length > 0)
    console.log(`NOT REPLAYED ${tape.source}\n${problems.map(({ message }) => message).join('\n')}\n`)
}
