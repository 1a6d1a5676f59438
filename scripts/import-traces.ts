import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HarvestError } from '../src/errors/index.ts'
import { type TapeDraft, importRecordings } from '../src/importers/index.ts'
import { parseTape, serializeTape } from '../src/tape/index.ts'
import { traceOf } from '../src/trace/index.ts'
import { manifestRows } from './manifest.ts'

/**
 * Imports every trace of a collection that has a `MANIFEST.jsonl`, and prints for each file its format, and for each run in
 * it the grade, the models, and the tool calls in their causal order; or why it was refused. Exit code 1 when something
 * crashed.
 *
 *     node scripts/import-traces.ts ../shared/data [KIND …] [--full]
 */
const [folder = '../shared/data', ...words] = process.argv.slice(2)
const named = words.filter((word) => !word.startsWith('--'))
const kinds = named.length === 0 ? ['otel-trace'] : named

interface Row {
  readonly file: string
  readonly kind: string
}

const rows = manifestRows<Row>(folder).filter(({ kind }) => kinds.includes(kind))

const counts = { absent: 0, files: 0, runs: 0, refused: 0, crashed: 0 }
const grades = new Map<string, number>()
for (const { file } of rows) {
  let bytes: Buffer
  try {
    bytes = readFileSync(join(folder, file))
  } catch {
    // Part of the collection is kept back for another check.
    counts.absent++
    continue
  }
  try {
    const { tapes } = importRecordings({ file, bytes, id: 'data', agent: 'data' })
    const lines = Array.from(tapes, describe)
    counts.files++
    counts.runs += lines.length
    console.log(`${file}\n${lines.join('\n')}`)
  } catch (error) {
    const isRefused = HarvestError.is(error)
    counts[isRefused ? 'refused' : 'crashed']++
    const text = isRefused
      ? `refused ${error.code}: ${error.facts.where?.['problem'] ?? ''}`
      : `CRASHED ${(error as Error).stack}`
    console.log(`${file}\n  ${text}`)
  }
}
console.log(counts)
for (const [grade, count] of [...grades].sort()) console.log(`${grade}: ${count}`)
process.exitCode = counts.crashed > 0 ? 1 : 0

function describe({ header, events, close, facts }: TapeDraft): string {
  const tape = parseTape(serializeTape(header, events, close), 'data')
  const key = `${facts.format} ${facts.grade}`
  grades.set(key, (grades.get(key) ?? 0) + 1)
  const models = events.flatMap((event) => (event.kind === 'mark' ? [modelIn(event.data)] : []))
  const full = words.includes('--full')
  const layers = traceOf(tape.events).layers.map((layer) =>
    layer.map(({ name, args }) => (full ? `${name}(${JSON.stringify(args)})` : name)).join(' | '),
  )
  const messages = events.filter(({ kind }) => kind === 'message').length
  const open = events.filter((event) => event.kind === 'tool' && event.settled === undefined).length
  return `  ${key} · ${facts.modelCalls} model calls of ${[...new Set(models)].join(', ') || 'nobody'} · ${messages} messages · ${open} open · ${layers.join(' → ') || 'no tools'}`
}

function modelIn(data: unknown): string {
  const { asked, answered } = (data ?? {}) as { readonly asked?: string; readonly answered?: string }
  return answered ?? asked ?? '?'
}
