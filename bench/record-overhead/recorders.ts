import { join } from 'node:path'
import type { Bar, BenchContext, Table } from '../kit/contract.ts'
import { figure, inTurn, median, ratios, spread } from '../kit/measure.ts'
import { callCount, floor, shortfall, writing } from './agent.ts'
import type { Folders } from './bench.ts'
import type { CallFigures } from './calls.ts'
import { Child } from './children.ts'

/** Who else can record, and the adapter of it in bench/peers. */
const others: readonly (readonly [name: string, peers: string, adapter: string])[] = [
  ['undici SnapshotAgent', 'http', 'undici.mjs'],
  ['aimock', 'aimock', 'aimock.mjs'],
  ['agent-test-recorder', 'http', 'agent-test-recorder.mjs'],
  ['Polly.js', 'http', 'polly.mjs'],
  ['nock back', 'http', 'nock.mjs'],
]

const shown: Readonly<Record<string, string>> = {
  armed: `vitest-harvest, ${floor}`,
  lines: `vitest-harvest, ${writing}`,
  ours: 'vitest-harvest',
}

/** 300 calls of fetch, recorded by each recorder and by none, each in a process of its own, in turn. */
export async function measureRecorders(
  { isQuick, progress, peers }: BenchContext,
  folders: Folders,
  provider: string,
): Promise<{ readonly tables: readonly Table[]; readonly bars: readonly Bar[] }> {
  const children = new Map<string, Child>()
  const start = async (who: string, adapter: string): Promise<void> => {
    const dir = folders(`calls-${who.replaceAll(' ', '-')}`)
    children.set(who, (await Child.start<string>('calls.ts', [who, provider, dir, adapter])).child)
  }
  await start('bare', '')
  await start('armed', '')
  await start('lines', '')
  await start('ours', '')
  for (const [name, folder, adapter] of others) await start(name, join(await peers(folder), adapter))

  const cpu = new Map<string, number[]>()
  const bytes = new Map<string, number>()
  let rounds = 0
  const once = async (who: string, child: Child): Promise<number> => {
    progress(`${callCount} calls, ${who}`)
    const figures = await child.ask<CallFigures>(`round-${rounds++}`)
    cpu.set(who, [...(cpu.get(who) ?? []), figures.cpuMs])
    bytes.set(who, figures.bytes)
    return figures.wallMs
  }
  const contestants = Object.fromEntries([...children].map(([who, child]) => [who, () => once(who, child)]))
  const wall = await inTurn(contestants, isQuick ? 3 : 11)
  for (const child of children.values()) child.stop()
  // The first round, which warms up, is not counted.
  for (const figures of cpu.values()) figures.shift()

  const kilobytes = (who: string): string => `${((bytes.get(who) ?? 0) / 1_000).toFixed(0)} kB`
  const rows = [...children.keys()]
    .filter((who) => who !== 'bare')
    .map((who) => [
      shown[who] ?? who,
      figure(ratios(wall, who, 'bare')),
      figure(ratios(cpu, who, 'bare')),
      kilobytes(who),
    ])
  const rivals = [...children.keys()].filter((who) => who !== 'bare' && shown[who] === undefined)
  const barOf = (by: string, figures: ReadonlyMap<string, readonly number[]>, atMost: number): Bar => {
    const ours = ratios(figures, 'ours', 'bare')
    return {
      what: `${callCount} calls of fetch, recorded ÷ not${by}`,
      value: median(ours),
      spread: spread(ours),
      parts: {
        [floor]: median(ratios(figures, 'armed', 'bare')),
        [writing]: median(ratios(figures, 'lines', 'bare')),
      },
      limit: { atMost },
      others: Object.fromEntries(rivals.map((who) => [who, median(ratios(figures, who, 'bare'))])),
      shortfall,
    }
  }
  return {
    tables: [
      { title: `${callCount} calls of fetch, recorded ÷ not`, columns: ['recorder', 'clock', 'CPU', 'on disk'], rows },
    ],
    bars: [
      {
        ...barOf('', wall, 1.1),
        claim: `Recording ${callCount} calls one after another, as a multiple of making them`,
      },
      barOf(': processor time', cpu, 1.25),
      {
        what: `bytes on disk of ${callCount} calls ÷ nock's`,
        value: (bytes.get('ours') ?? Number.NaN) / (bytes.get('nock back') ?? Number.NaN),
        limit: { atMost: 1 },
      },
    ],
  }
}
