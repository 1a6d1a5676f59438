import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { compareRuns, type DiffClass } from '../src/report/diff/compare.ts'
import { neutralLine } from '../src/errors/index.ts'
import { importRecording } from '../src/importers/index.ts'
import { readModelCall } from '../src/providers/index.ts'
import { canonicalJson } from '../src/json/canonical.ts'
import { parseTape, responseBytes, serializeTape, type Tape } from '../src/tape/index.ts'
import { manifestRows } from './manifest.ts'

/**
 * Imports every pair of recordings of one test at two commits of a collection that has a `MANIFEST.jsonl`, and compares
 * the class that `harvest diff` gives the pair with the one in the manifest. Prints how often each class met each, every
 * disagreement with the calls of both sides, and the rule that says who is right; exit code 1 when there is a
 * disagreement that no rule explains, or a recording that is not imported.
 *
 *     node scripts/drift-pairs.ts ../shared/data
 */
const [folder = '../shared/data'] = process.argv.slice(2)

type Call = readonly [name: string, args: string]

interface Row {
  readonly file: string
  readonly kind: string
  readonly drift?: string
  /** Calls of each answer of a model, as the manifest's extractor read them. */
  readonly calls?: readonly (readonly Call[])[]
}

/** The classes of `harvest diff` that say the same as a word of the manifest, which looks at model calls alone. */
const sameAs: Readonly<Record<string, readonly DiffClass[]>> = {
  'tool-sequence-changed': ['tool sequence'],
  'args-changed': ['arguments'],
  'same-calls-step-count-changed': ['number of calls'],
  'same-signature': ['other requests', 'text only', 'same'],
  'no-tools:step-count-changed': ['number of calls'],
  'no-tools:model-changed': ['other requests', 'text only'],
  'no-tools:text-only': ['other requests', 'text only', 'same'],
}

const table = new Map<string, Map<string, number>>()
const sums = { pairs: 0, incomplete: 0, agree: 0, argued: 0, unexplained: 0, failed: 0 }

for (const [place, { old, young }] of pairsIn(folder)) {
  if (old === undefined || young === undefined) {
    sums.incomplete++
    continue
  }
  sums.pairs++
  try {
    judge(place, old, young)
  } catch (error) {
    sums.failed++
    console.log(`FAILED ${place}\n${String(error)}\n`)
  }
}

printTable()
console.log(sums)
process.exitCode = sums.unexplained + sums.failed > 0 ? 1 : 0

interface Pair {
  old?: Row
  young?: Row
}

/** The two sides stand in one folder, as `old` and `new`. */
function pairsIn(root: string): ReadonlyMap<string, Pair> {
  const pairs = new Map<string, Pair>()
  for (const row of manifestRows<Row>(root)) {
    if (row.kind !== 'drift-pair') continue
    const place = dirname(row.file)
    const pair = pairs.get(place) ?? {}
    pair[basename(row.file).startsWith('old') ? 'old' : 'young'] = row
    pairs.set(place, pair)
  }
  return pairs
}

function judge(place: string, old: Row, young: Row): void {
  const [a, b] = [tapeOf(old), tapeOf(young)]
  const found = compareRuns(a, b).class
  const wanted = old.drift ?? 'unknown'
  const row = table.get(wanted) ?? new Map<string, number>()
  table.set(wanted, row.set(found, (row.get(found) ?? 0) + 1))
  if (sameAs[wanted]?.includes(found) === true) {
    sums.agree++
    return
  }
  const rule = ruleFor(wanted, [old, a], [young, b])
  sums[rule === undefined ? 'unexplained' : 'argued']++
  console.log(`${rule === undefined ? 'UNEXPLAINED' : 'argued'} ${place}`)
  console.log(`  manifest ${wanted}, diff ${found}${rule === undefined ? '' : `: ${rule}`}`)
  for (const [side, manifest, tape] of [
    ['old', old, a],
    ['new', young, b],
  ] as const) {
    console.log(`  ${side}  manifest  ${textOf((manifest.calls ?? []).flat())}`)
    console.log(`       tape      ${textOf(callsOf(tape, false))}`)
    console.log(`       built in  ${textOf(callsOf(tape, true))}`)
  }
  console.log()
}

function tapeOf({ file }: Row): Tape {
  const made = importRecording({ file, bytes: readFileSync(join(folder, file)), id: 'data', agent: 'data' })
  return parseTape(serializeTape(made.header, made.events, made.close), file)
}

type Side = readonly [row: Row, tape: Tape]

/** Why the manifest is wrong about a pair, as far as the bytes of the recordings prove it. */
function ruleFor(wanted: string, a: Side, b: Side): string | undefined {
  const missed = [a, b].flatMap((side) => missedBy(side))
  if (missed.length > 0)
    return `its extractor did not read ${[...new Set(missed)].join(', ')}, which an answer on the tape asks for by name`
  const [all, other] = [a, b].map(([, tape]) => [...callsOf(tape, false), ...callsOf(tape, true)])
  const hasBuiltIn = [a, b].some(([, tape]) => callsOf(tape, true).length > 0)
  if (hasBuiltIn && wordOf(all!, other!) === wanted)
    return 'it counts tools that the provider ran itself; the agent was not asked to run them, so they are no tool calls of the run'
  return undefined
}

/** Names the tape has more often than the manifest, and that stand as names in the bytes of an answer. */
function missedBy([row, tape]: Side): readonly string[] {
  const known = (row.calls ?? []).flat().map(([name]) => name)
  const answers = tape.events
    .flatMap((event) => (event.kind === 'exchange' ? [responseBytes(event).toString('utf8')] : []))
    .join('\n')
  return callsOf(tape, false).flatMap(([name]) => {
    const index = known.indexOf(name)
    if (index === -1) return answers.includes(JSON.stringify(name).slice(1, -1)) ? [name] : []
    known.splice(index, 1)
    return []
  })
}

function callsOf(tape: Tape, isBuiltIn: boolean): readonly Call[] {
  return tape.events
    .flatMap((event) => (event.kind === 'exchange' ? (readModelCall(event)?.response?.toolCalls ?? []) : []))
    .filter(({ builtIn }) => (builtIn === true) === isBuiltIn)
    .map(({ name, args }) => [name, canonicalJson(args)])
}

function wordOf(a: readonly Call[], b: readonly Call[]): string {
  const names = (calls: readonly Call[]): string => JSON.stringify(calls.map(([name]) => name))
  if (names(a) !== names(b)) return 'tool-sequence-changed'
  return textOf(a) === textOf(b) ? 'same-signature' : 'args-changed'
}

function textOf(calls: readonly Call[]): string {
  return calls.length === 0 ? '–' : calls.map(([name, args]) => neutralLine(`${name} ${args}`, 160)).join(' ; ')
}

function printTable(): void {
  const columns = [...new Set([...table.values()].flatMap((row) => [...row.keys()]))].sort()
  const width = Math.max(...[...table.keys()].map(({ length }) => length), 0)
  console.log([' '.repeat(width), ...columns].join('  '))
  for (const [word, row] of [...table].sort())
    console.log(
      [word.padEnd(width), ...columns.map((name) => String(row.get(name) ?? 0).padStart(name.length))].join('  '),
    )
}
