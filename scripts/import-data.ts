import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HarvestError } from '../src/errors/index.ts'
import { type TapeDraft, importRecording } from '../src/importers/index.ts'
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
import { argue, type Compared, isStream, type Rule } from './disagreements.ts'
import { manifestRows } from './manifest.ts'

/**
 * Imports every HTTP recording of a collection that has a `MANIFEST.jsonl`, and compares what the tapes say of models,
 * statuses, streaming and tool calls with what the manifest says. Prints counts and every disagreement; exit code 1 when
 * something crashed.
 *
 * What the manifest says was guessed by another program. A disagreement that a rule of `disagreements.ts` explains is
 * counted apart, and printed below its rule, which says who is right and why.
 *
 * A file is *streaming* when a model call in it was answered in pieces, told by the bytes: server-sent events, lines of
 * JSON, parts of a JSON array, or frames of an AWS event stream. Answers of MCP and A2A servers are no model calls. The
 * *models* of a file are those that its model calls ask for, in the body or in the path, and those that answer.
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

const rows = manifestRows<Row>(folder).filter(({ kind, fmt }) => kinds.includes(kind) && fmt !== undefined)

const formatNames: Readonly<Record<string, string>> = {
  'polly-har': 'har',
  'polly-har-yaml': 'har',
  'nock-back': 'nock',
  'dd-testagent-json': 'dd-test-agent',
}

const counts = { absent: 0, imported: 0, refused: 0, crashed: 0 }
const replayed = { held: 0, failed: 0, calls: 0 }
const agreed: Record<Compared, [same: number, all: number]> = {
  format: [0, 0],
  n: [0, 0],
  models: [0, 0],
  statuses: [0, 0],
  streaming: [0, 0],
  tools: [0, 0],
}
const grades = new Map<string, number>()
const disagreements: string[] = []
const argued: { readonly about: string; readonly rule: Rule }[] = []
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
for (const [{ what, claim, verdict }, cases] of Map.groupBy(argued, ({ rule }) => rule)) {
  console.log(`\nargued, ${what}: ${claim}, in ${cases.length} files\n${verdict}`)
  for (const { about } of cases) console.log(`  ${about}`)
}
console.log(`\n${argued.length} disagreements are argued, ${disagreements.length} are not`)
console.log(counts)
if (words.includes('--replay')) console.log({ replayed })
for (const [grade, count] of [...grades].sort()) console.log(`${grade}: ${count}`)
for (const [what, [same, all]] of Object.entries(agreed)) {
  const more = argued.filter(({ rule }) => rule.what === what).length
  const share = (count: number): string => `${((100 * count) / all).toFixed(1)} %`
  const rest = more === 0 ? '' : `; with the ${more} argued ones ${share(same + more)}`
  console.log(`${what}: ${same} of ${all} agree (${share(same)})${rest}`)
}
const { user, system } = process.cpuUsage(started)
console.log(`CPU ${((user + system) / 1e6).toFixed(1)} s, peak ${(peak / 2 ** 20).toFixed(0)} MiB`)
process.exitCode = counts.crashed + replayed.failed > 0 ? 1 : 0

function compare(row: Row, { events, facts }: TapeDraft): void {
  const exchanges = events.filter((event): event is ExchangeEvent => event.kind === 'exchange')
  const check = (what: Compared, manifest: unknown, tape: unknown): void =>
    judge({ file: row.file, exchanges }, what, manifest, tape)
  const calls = exchanges.map((event) => ({ event, call: readModelCall(event) }))
  check('format', formatNames[row.fmt!] ?? row.fmt!, facts.format)
  if (row.n !== undefined) check('n', row.n, exchanges.length)
  if (row.models !== undefined) {
    const seen = new Set(calls.flatMap(({ call }) => modelsOf(call)))
    const missing = row.models.filter((model) => !seen.has(model))
    check('models', [], missing)
  }
  if (row.statuses !== undefined)
    check('statuses', sorted(row.statuses), sorted(exchanges.map(({ response }) => String(response?.status))))
  if (row.streaming !== undefined) check('streaming', row.streaming, exchanges.some(isStream))
  const expected = (row.tool_names_per_llm_call ?? []).flat()
  const named = calls.flatMap(({ call }) => call?.response?.toolCalls ?? [])
  if (row.tool_names_per_llm_call !== undefined) {
    const got = named.map(({ name }) => name)
    const own = named.filter(({ builtIn }) => !builtIn).map(({ name }) => name)
    // The manifest sometimes counts tools that the provider ran, and sometimes not.
    const isSame = [got, own].some((list) => String(sorted(list, false)) === String(sorted(expected, false)))
    check('tools', expected, isSame ? expected : got)
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
  // On Azure the deployment in the path decides; what the body names then is among the params.
  const inBody = call?.request.params['model']
  const named = [call?.request.model, typeof inBody === 'string' ? inBody : undefined, call?.response?.model]
  // Gemini is asked for `models/NAME` or for NAME.
  return named.flatMap((model) => (model === undefined ? [] : [model, `models/${model}`]))
}

function sorted(list: readonly string[], isSet = true): readonly string[] {
  return (isSet ? [...new Set(list)] : [...list]).sort()
}

interface Material {
  readonly file: string
  readonly exchanges: readonly ExchangeEvent[]
}

function judge({ file, exchanges }: Material, what: Compared, manifest: unknown, tape: unknown): void {
  const isSame = JSON.stringify(manifest) === JSON.stringify(tape)
  agreed[what][0] += isSame ? 1 : 0
  agreed[what][1]++
  if (isSame) return
  const rule = argue(what, manifest, tape, exchanges)
  const [says, has] = [manifest, tape].map((value) => JSON.stringify(value))
  // Of models, those the tape lacks are told.
  const about = what === 'models' ? `${file}: the tape lacks ${has}` : `${file}: manifest ${says}, tape ${has}`
  if (rule === undefined) disagreements.push(`${what} ${about}`)
  else argued.push({ about, rule })
}
