import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createTapeWriter, readTape, streamTape } from '../../src/tape/index.ts'
import type { Bar, Bench, Table } from '../kit/contract.ts'
import { figure, inTurn, median, ratios, spread, timed } from '../kit/measure.ts'
import { closing, eventsOf, headerOf, makeTape } from './make.ts'
import { sizesOnDisk } from './size.ts'

const mega = 1_000_000
const door = 'readTape ÷ JSON.parse of the same lines'

const shortfall =
  'SHA-256 covers every byte and takes a sixth to a third of a `JSON.parse`, 1.9 GB a second where the processor has instructions for it; the rest goes into the shape of the events, their numbers, and bodies put together again. Of a small tape a fifth is opening its file, on both sides. Fewer calls out of JavaScript for a line, a cheaper look at its keys and a list in place of memory outside the heap took off 4 to 12 %. A digest over many lines at once would cost less, and a tape that was cut would no longer be readable to its last line.'

const bench: Bench = {
  question: 'What does it cost to read, check and write a tape?',
  async run({ isQuick, scratch, progress, peers }) {
    const largest = isQuick ? 10 : 100
    const tapes = new Map<string, readonly string[]>()
    for (const megabytes of [1, largest]) {
      progress(`a tape of ${megabytes} MB`)
      const path = join(scratch, `${megabytes}.tape.jsonl`)
      makeTape(path, megabytes * mega)
      tapes.set(`${megabytes} MB`, [path])
    }
    progress('1,000 tapes')
    const many = Array.from({ length: isQuick ? 300 : 1_000 }, (_, n) => join(scratch, `small-${n}.tape.jsonl`))
    for (const [n, path] of many.entries()) makeTape(path, 12_000, `small-${n}`)
    tapes.set(`${many.length} of 12 KB`, many)

    const bars: Bar[] = []
    const rows: string[][] = []
    for (const [name, paths] of tapes) {
      progress(`reading ${name}`)
      const { row, bar } = await reading(name, paths, isQuick)
      rows.push(row)
      bars.push(bar)
    }
    progress('writing')
    const columns = ['', 'readTape', 'streamTape, nothing kept', 'MB a second']
    const memory = memoryTable(largest, scratch)
    progress('what others write')
    const sizes = await sizesOnDisk(scratch, await peers('http'))
    return {
      tables: [
        { title: '÷ `JSON.parse` of the same lines, each read from its file', columns, rows },
        await writing(scratch, isQuick ? 3 : 9),
        memory.table,
        sizes.table,
      ],
      bars: [...bars, memory.bar, sizes.bar],
      remarks: [
        'Both sides read the file from the page cache, cut it into lines and parse each line; ours also checks the digest of every byte, the shape of every event, and that no number comes twice.',
      ],
    }
  },
}
export default bench

async function reading(name: string, paths: readonly string[], isQuick: boolean): Promise<{ row: string[]; bar: Bar }> {
  const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0)
  // A second of work for each contestant in a round; collected before, for no contestant pays for another one's garbage.
  const times = Math.max(1, Math.round(((isQuick ? 10 : 30) * mega) / bytes))
  const contest = (work: () => unknown) => async () => {
    globalThis.gc?.()
    const { cpuMs } = await timed(async () => {
      for (let n = 0; n < times; n++) await work()
    })
    return cpuMs / times
  }
  const figures = await inTurn(
    {
      read: contest(() => paths.map((path) => readTape(path))),
      parse: contest(() => paths.map((path) => parseLines(path))),
      stream: contest(async () => {
        for (const path of paths) for await (const _ of streamTape(path)) continue
      }),
      'parse and forget': contest(() => {
        for (const path of paths) parseLines(path, false)
      }),
    },
    isQuick ? 3 : bytes > 50 * mega ? 5 : 11,
  )
  const whole = ratios(figures, 'read', 'parse')
  const perSecond = bytes / mega / (median(figures.get('read') ?? []) / 1_000)
  return {
    row: [name, figure(whole), figure(ratios(figures, 'stream', 'parse and forget')), perSecond.toFixed(0)],
    bar: { what: `${door}, ${name}`, value: median(whole), spread: spread(whole), limit: { atMost: 1.5 }, shortfall },
  }
}

function parseLines(path: string, keep = true): unknown[] {
  const bytes = readFileSync(path)
  const lines: unknown[] = []
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(10, start)
    const value: unknown = JSON.parse(bytes.toString('utf8', start, end))
    if (keep) lines.push(value)
    start = end + 1
  }
  return lines
}

async function writing(scratch: string, rounds: number): Promise<Table> {
  const turns = 300
  const events = eventsOf(turns)
  const lines = 20
  const folder = join(scratch, 'written')
  const write = (work: (path: string) => void) => async () => {
    mkdirSync(folder)
    const { cpuMs } = await timed(() => {
      for (let n = 0; n < lines; n++) work(join(folder, `${n}.tape.jsonl`))
    })
    rmSync(folder, { recursive: true })
    return cpuMs
  }
  const figures = await inTurn(
    {
      writer: write((path) => {
        using writer = createTapeWriter({ path, header: headerOf('written') })
        for (const event of events) writer.append(event)
        writer.close(closing(turns))
      }),
      stringify: write((path) => {
        const file = openSync(path, 'wx')
        for (const event of events) writeSync(file, `${JSON.stringify(event)}\n`)
        closeSync(file)
      }),
    },
    rounds,
  )
  return {
    title: 'Writing a tape, an event at a time',
    columns: ['÷ `JSON.stringify` and a write per event'],
    rows: [[figure(ratios(figures, 'writer', 'stringify'))]],
  }
}

interface Memory {
  readonly live: number
  readonly rss: number
}

function memoryTable(largest: number, scratch: string): { table: Table; bar: Bar } {
  const measure = (mode: string, megabytes: number): Memory => {
    const child = resolve(import.meta.dirname, 'memory.child.ts')
    const args = ['--expose-gc', child, mode, join(scratch, `${megabytes}.tape.jsonl`)]
    return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Memory
  }
  const megabytes = ({ live, rss }: Memory) => [live, rss].map((bytes) => `${(bytes / mega).toFixed(1)} MB`)
  const [small, large] = [measure('stream', 1), measure('stream', largest)]
  return {
    table: {
      title: 'Memory of a process that reads one tape',
      columns: ['', 'live at most', 'of the process'],
      rows: [
        ['streamTape, 1 MB', ...megabytes(small)],
        [`streamTape, ${largest} MB`, ...megabytes(large)],
        [`readTape, ${largest} MB`, ...megabytes(measure('whole', largest))],
      ],
    },
    bar: {
      what: `live memory of streaming ${largest} MB ÷ 1 MB`,
      value: large.live / small.live,
      limit: { atMost: 1.2 },
    },
  }
}
