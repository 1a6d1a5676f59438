import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'
import { importRecordings } from '../../src/importers/index.ts'
import { createRedactor } from '../../src/privacy/index.ts'
import type { Json } from '../../src/tape/index.ts'
import type { Bar, Bench, Table } from '../kit/contract.ts'
import { figure, inTurn, median, ratios, spread, timed } from '../kit/measure.ts'
import { collect, type Recording } from './collect.ts'
import { families, writeRecording } from './make.ts'

const mega = 1_000_000

const bench: Bench = {
  question: 'What does it cost to import recordings of other tools?',
  async run({ isQuick, scratch, progress }) {
    progress('looking for recordings')
    const { recordings: all, source } = collect(join(scratch, 'made'))
    const recordings = isQuick ? all.filter((_, index) => index % 3 === 0) : all
    const { table, bar } = await against(recordings, isQuick ? 3 : 7, progress)
    progress('memory of all of them')
    const list = join(scratch, 'files.list')
    writeFileSync(list, recordings.map(({ file }) => file).join('\n'))
    const rounds = isQuick ? 1 : 3
    const together = memoryOf(list, scratch, rounds)
    const megabytes = isQuick ? 20 : 100
    const large = largeFiles(megabytes, scratch, rounds, progress)
    return {
      tables: [
        table,
        {
          title: 'Memory of a process that imports, at its highest',
          columns: ['', 'calls', 'of the process'],
          rows: [
            [`all ${recordings.length} recordings`, String(together.calls), `${(together.rss / mega).toFixed(0)} MB`],
            ...large.rows,
          ],
        },
      ],
      bars: [
        bar,
        { what: 'memory of importing all recordings, MB', value: together.rss / mega, limit: { atMost: 400 } },
        large.bar,
      ],
      remarks: [source],
    }
  },
}
export default bench

async function against(
  recordings: readonly Recording[],
  rounds: number,
  progress: (line: string) => void,
): Promise<{ table: Table; bar: Bar }> {
  const rows: string[][] = []
  const sides = ['import', 'least', 'parse'] as const
  const sums = Object.fromEntries(sides.map((side) => [side, Array<number>(rounds).fill(0)]))
  for (const kind of ['JSON', 'YAML'] as const) {
    const some = recordings.filter((one) => one.kind === kind)
    if (some.length === 0) continue
    progress(`importing ${kind}`)
    const contest = (work: (one: Recording) => void) => async () => {
      globalThis.gc?.()
      return (await timed(() => some.forEach(work))).cpuMs
    }
    const figures = await inTurn(
      { import: contest(importOne), least: contest(redactOne), parse: contest(parseOne) },
      rounds,
    )
    for (const side of sides) for (const [round, ms] of (figures.get(side) ?? []).entries()) sums[side]![round]! += ms
    rows.push(rowOf(kind, some, figures))
  }
  const figures = new Map(Object.entries(sums))
  const whole = ratios(figures, 'import', 'parse')
  return {
    table: {
      title: '÷ `JSON.parse` or `yaml` of the same files',
      columns: ['', 'files', '', 'import', 'parsed and redacted, no more', 'MB a second'],
      rows: [rowOf('all', recordings, figures), ...rows],
    },
    bar: {
      what: 'importing all recordings ÷ parsing them',
      value: median(whole),
      spread: spread(whole),
      limit: { atMost: 2 },
      parts: { 'parsed and redacted, no more': median(ratios(figures, 'least', 'parse')) },
      shortfall,
    },
  }
}

const shortfall =
  '`JSON.parse` is compiled code, and more than half of these files are JSON: whatever is done with their values costs many times as much. To parse and to redact, with nothing else, is the floor behind the figure. Each text is looked through for secrets, each value is copied redacted, models and calls are read, and limits are counted before anything is built. With YAML, whose parser is most of the work on both sides, it is within the bar. Tried: counting limits and cutting large files by characters, before values are made; both are in, and the first call of a file, at which each format looks, is read once. To leave out the scan of a value where its line was found clean would miss secrets: a quote that is open in one value hides the next. Not tried: another parser of YAML, which could read a recording differently.'

function rowOf(name: string, some: readonly Recording[], figures: ReadonlyMap<string, readonly number[]>): string[] {
  const megabytes = some.reduce((sum, one) => sum + one.bytes.length, 0) / mega
  const perSecond = megabytes / (median(figures.get('import') ?? []) / 1000)
  const [found = '', least = ''] = ['import', 'least'].map((side) => figure(ratios(figures, side, 'parse')))
  return [name, String(some.length), `${megabytes.toFixed(1)} MB`, found, least, perSecond.toFixed(1)]
}

function importOne({ file, bytes }: Recording): void {
  for (const _ of importRecordings({ file, bytes, id: 'bench', agent: 'bench' }).tapes) continue
}

/** The floor: what every import has to do, whatever it makes of the values. */
function redactOne(recording: Recording): void {
  const redactor = createRedactor()
  for (const value of parseOne(recording)) redactor.json(value)
}

function parseOne({ bytes, kind, isLines }: Recording): readonly Json[] {
  const text = bytes.toString('utf8')
  if (kind === 'YAML') return [parse(text, { logLevel: 'silent' }) as Json]
  return (isLines ? text.split('\n').filter((line) => line.trim() !== '') : [text]).map(
    (one) => JSON.parse(one) as Json,
  )
}

interface Memory {
  readonly calls: number
  readonly rss: number
}

/** The middle one of several processes: when garbage is collected differs by up to 40 MB. */
function memoryOf(path: string, scratch: string, rounds: number): Memory {
  const folder = join(scratch, 'tapes')
  const child = resolve(import.meta.dirname, 'memory.child.ts')
  const found = Array.from({ length: rounds }, () => {
    mkdirSync(folder)
    const out = execFileSync(process.execPath, [child, path, folder], { encoding: 'utf8' })
    rmSync(folder, { recursive: true })
    return JSON.parse(out) as Memory
  })
  return { calls: found[0]!.calls, rss: median(found.map(({ rss }) => rss)) }
}

function largeFiles(
  megabytes: number,
  scratch: string,
  rounds: number,
  progress: (line: string) => void,
): { rows: string[][]; bar: Bar } {
  const found = Object.entries(families).map(([name, family]) => {
    progress(`${megabytes} MB of ${name}`)
    const path = join(scratch, `large.${family.ending}`)
    writeRecording(path, family, megabytes * mega)
    const memory = memoryOf(path, scratch, rounds)
    rmSync(path)
    return { name, memory }
  })
  const most = Math.max(...found.map(({ memory }) => memory.rss)) / mega
  return {
    rows: found.map(({ name, memory: { calls, rss } }) => [
      `${megabytes} MB of ${name}`,
      String(calls),
      `${(rss / mega).toFixed(0)} MB`,
    ]),
    bar: { what: `memory of importing one file of ${megabytes} MB, MB`, value: most, limit: { atMost: 800 } },
  }
}
