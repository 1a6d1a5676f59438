import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HarvestError } from '../src/errors/index.ts'
import { type ImportedTape, importRecording } from '../src/importers/index.ts'
import { readFrames } from '../src/providers/frames.ts'
import { type ModelCall, readModelCall } from '../src/providers/index.ts'
import { installReplay, replayTape } from '../src/replay/index.ts'
import {
  type ExchangeEvent,
  parseTape,
  requestBytes,
  responseBytes,
  serializeTape,
  type Tape,
} from '../src/tape/index.ts'

/**
 * Imports every HTTP recording of a collection that has a `MANIFEST.jsonl`, and compares what the tapes say of models,
 * statuses, streaming and tool calls with what the manifest says. Prints counts and every disagreement; exit code 1 when
 * something crashed.
 *
 * With `--replay` every call of every tape is made again in a replay, and has to get the bytes on the tape.
 *
 *     node scripts/import-data.ts ../shared/data [--replay]
 */
const [folder = '../shared/data', ...words] = process.argv.slice(2)

interface Row {
  readonly file: string
  readonly kind: string
  readonly fmt?: string
  readonly models?: readonly string[]
  readonly statuses?: readonly string[]
  readonly streaming?: boolean
  readonly n?: number
  readonly tool_names_per_llm_call?: readonly (readonly string[])[]
}

const kinds = ['http-recording', 'drift-pair', 'perf-large']
if (words.includes('--replay')) await installReplay()

const rows = readFileSync(join(folder, 'MANIFEST.jsonl'), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Row)
  .filter(({ kind, fmt }) => kinds.includes(kind) && fmt !== undefined)

const formatNames: Readonly<Record<string, string>> = {
  'polly-har': 'har',
  'polly-har-yaml': 'har',
  'nock-back': 'nock',
  'dd-testagent-json': 'dd-test-agent',
}

const counts = { absent: 0, imported: 0, refused: 0, crashed: 0 }
const replayed = { held: 0, failed: 0, calls: 0 }
const agreed = { format: [0, 0], n: [0, 0], models: [0, 0], statuses: [0, 0], streaming: [0, 0], tools: [0, 0] }
const grades = new Map<string, number>()
const disagreements: string[] = []
const started = process.cpuUsage()
let peak = 0

for (const row of rows) {
  let bytes: Buffer
  try {
    bytes = readFileSync(join(folder, row.file))
  } catch {
    // Part of the collection is kept back for another check.
    counts.absent++
    continue
  }
  try {
    const tape = importRecording({ file: row.file, bytes, id: 'data', agent: 'data' })
    counts.imported++
    const read = parseTape(serializeTape(tape.header, tape.events, tape.close), row.file)
    if (words.includes('--replay') && /^re/.test(tape.facts.grade)) await replay(read)
    const grade = `${row.fmt} ${tape.facts.grade}`
    grades.set(grade, (grades.get(grade) ?? 0) + 1)
    compare(row, tape)
  } catch (error) {
    const isRefused = HarvestError.is(error)
    counts[isRefused ? 'refused' : 'crashed']++
    console.log(
      `${isRefused ? 'refused' : 'CRASHED'} ${row.file}\n${String(isRefused ? error : (error as Error).stack)}\n`,
    )
  }
  peak = Math.max(peak, process.memoryUsage.rss())
}

for (const line of disagreements) console.log(line)
console.log(counts)
if (words.includes('--replay')) console.log({ replayed })
for (const [grade, count] of [...grades].sort()) console.log(`${grade}: ${count}`)
for (const [what, [same = 0, all = 0]] of Object.entries(agreed))
  console.log(`${what}: ${same} of ${all} agree (${((100 * same) / all).toFixed(1)} %)`)
const { user, system } = process.cpuUsage(started)
console.log(`CPU ${((user + system) / 1e6).toFixed(1)} s, peak ${(peak / 2 ** 20).toFixed(0)} MiB`)
process.exitCode = counts.crashed + replayed.failed > 0 ? 1 : 0

function compare(row: Row, { events, facts }: ImportedTape): void {
  const exchanges = events.filter((event): event is ExchangeEvent => event.kind === 'exchange')
  const calls = exchanges.map((event) => ({ event, call: readModelCall(event) }))
  check(row, 'format', formatNames[row.fmt!] ?? row.fmt!, facts.format)
  if (row.n !== undefined) check(row, 'n', row.n, exchanges.length)
  if (row.models !== undefined) {
    const seen = new Set(calls.flatMap(({ call }) => modelsOf(call)))
    const missing = row.models.filter((model) => !seen.has(model))
    check(row, 'models', [], missing, [...seen].join(', '))
  }
  if (row.statuses !== undefined)
    check(row, 'statuses', sorted(row.statuses), sorted(exchanges.map(({ response }) => String(response?.status))))
  if (row.streaming !== undefined) check(row, 'streaming', row.streaming, exchanges.some(isStream))
  const expected = (row.tool_names_per_llm_call ?? []).flat()
  const named = calls.flatMap(({ call }) => call?.response?.toolCalls ?? [])
  if (row.tool_names_per_llm_call !== undefined) {
    const got = named.map(({ name }) => name)
    const own = named.filter(({ builtIn }) => !builtIn).map(({ name }) => name)
    // The manifest sometimes counts tools that the provider ran, and sometimes not.
    const isSame = [got, own].some((list) => String(sorted(list, false)) === String(sorted(expected, false)))
    check(row, 'tools', true, isSame, `manifest ${expected.join(' ')}; tape ${got.join(' ')}`)
  }
}

async function replay(tape: Tape): Promise<void> {
  const exchanges = tape.events.filter((event): event is ExchangeEvent => event.kind === 'exchange')
  const differ: string[] = []
  const { problems } = await replayTape(tape, async () => {
    for (const event of exchanges) {
      const { status, bytes } = await ask(event)
      const isSame = status === event.response?.status && bytes.equals(responseBytes(event))
      if (!isSame) differ.push(`the answer to event ${event.n} is another one`)
    }
  })
  replayed.calls += exchanges.length
  const wrong = [...differ, ...problems.map(({ message }) => message)]
  replayed[wrong.length === 0 ? 'held' : 'failed']++
  if (wrong.length > 0) console.log(`NOT REPLAYED ${tape.source}\n${wrong.join('\n')}\n`)
}

async function ask(event: ExchangeEvent): Promise<{ readonly status: number; readonly bytes: Buffer }> {
  const { method, url, request } = event
  const headers = request.headers.filter(([name]) => /^(content-type|accept|anthropic|openai)/.test(name))
  const body = requestBytes(event)
  const init = { method, headers: headers.map(([name, value]): [string, string] => [name, value]) }
  const answer = await fetch(url, { ...init, redirect: 'manual', ...(body.length === 0 ? {} : { body }) })
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
}

function modelsOf(call: ModelCall | undefined): readonly string[] {
  // Gemini is asked for `models/NAME` or for NAME.
  return [call?.request.model, call?.response?.model].flatMap((model) =>
    model === undefined ? [] : [model, `models/${model}`],
  )
}

function isStream(event: ExchangeEvent): boolean {
  const type = event.response?.headers.find(([name]) => name === 'content-type')?.[1] ?? ''
  if (/event-stream|eventstream|x-ndjson/.test(type)) return true
  const bytes = responseBytes(event)
  if (/^\s*(data|event):/.test(bytes.toString('utf8', 0, 200))) return true
  return readModelCall(event) !== undefined && readFrames(bytes).values.length > 1
}

function sorted(list: readonly string[], isSet = true): readonly string[] {
  return (isSet ? [...new Set(list)] : [...list]).sort()
}

function check(row: Row, what: keyof typeof agreed, manifest: unknown, tape: unknown, more = ''): void {
  const isSame = JSON.stringify(manifest) === JSON.stringify(tape)
  agreed[what][0]! += isSame ? 1 : 0
  agreed[what][1]!++
  if (!isSame)
    disagreements.push(
      `${what} ${row.file}: manifest ${JSON.stringify(manifest)}, tape ${JSON.stringify(tape)} ${more}`,
    )
}
