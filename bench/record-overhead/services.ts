import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Bar, BenchContext, Table } from '../kit/contract.ts'
import { figure, inTurn, median, quantile, ratios, spread } from '../kit/measure.ts'
import { callsPerRun, floor, shortfall, writing } from './agent.ts'
import type { Folders } from './bench.ts'
import { Service } from './children.ts'
import type { How } from './production.ts'

const hows: readonly How[] = ['off', 'armed', 'lines', 'recorded', 'sampled']

interface Load {
  readonly concurrent: number
  readonly path: string
  readonly requests: number
}

interface Heard {
  readonly cpuMs: number[]
  readonly allocated: number[]
  readonly latencies: number[]
  written: number
  runs: number
}

/** A service with the recorder, with a recorder that samples, and without, all under the same load in turn. */
export async function measureServices(
  { isQuick, progress }: BenchContext,
  folders: Folders,
  provider: string,
): Promise<{ readonly tables: readonly Table[]; readonly bars: readonly Bar[] }> {
  const share = isQuick ? 1 : 3
  const loads: readonly Load[] = [
    { concurrent: 1, path: '/', requests: 20 * share },
    { concurrent: 50, path: '/', requests: 50 * share },
    { concurrent: 500, path: '/', requests: 500 },
    { concurrent: 1, path: '/50', requests: 6 },
    { concurrent: 50, path: '/50', requests: 100 },
    { concurrent: 500, path: '/50', requests: 500 },
  ]
  const rows: string[][] = []
  const bars: Bar[] = []
  for (const load of isQuick ? loads.filter(({ concurrent }) => concurrent < 500) : loads) {
    const { concurrent, path } = load
    progress(`a service, ${concurrent} at a time`)
    const name = `${concurrent} at a time${path === '/' ? '' : ', answers after 50 ms'}`
    const { wall, heard } = await underLoad(load, isQuick ? 5 : 25, folders, provider)
    for (const how of ['armed', 'lines', 'recorded', 'sampled'] as const) rows.push(rowOf(name, how, wall, heard))
    if (concurrent !== 50) continue
    if (path !== '/') {
      bars.push(barOf('a service at 50 in flight, answers after 50 ms, recorded ÷ not: by the clock', wall, 1.02), {
        what: 'the same: the 99th percentile',
        value: ratioOf(0.99, 'recorded', heard),
        parts: { [floor]: ratioOf(0.99, 'armed', heard), [writing]: ratioOf(0.99, 'lines', heard) },
        limit: { atMost: 1.02 },
        shortfall,
      })
      continue
    }
    const cpu = new Map(hows.map((how) => [how, heard[how].cpuMs]))
    bars.push(
      barOf('a service under load, recorded ÷ not: processor time', cpu, 1.1),
      barOf('a service under load, recorded ÷ not: by the clock', wall, 1.1),
    )
  }
  const columns = ['load', '', 'clock ÷ off', 'CPU ÷ off', 'p50 added', 'p99 added', 'allocated added', 'on disk']
  return { tables: [{ title: 'A service, per model call', columns, rows }], bars }
}

async function underLoad(
  load: Load,
  rounds: number,
  folders: Folders,
  provider: string,
): Promise<{ wall: ReadonlyMap<string, readonly number[]>; heard: Readonly<Record<How, Heard>> }> {
  const empty = (): Heard => ({ cpuMs: [], allocated: [], latencies: [], written: 0, runs: 0 })
  const heard: Record<How, Heard> = {
    off: empty(),
    armed: empty(),
    lines: empty(),
    recorded: empty(),
    sampled: empty(),
  }
  const dirs = hows.map((how) => folders(`service-${load.concurrent}${load.path.replaceAll('/', '-')}${how}`))
  const services = await Promise.all(hows.map((how, at) => Service.start(how, provider, dirs[at]!)))
  const contestants = Object.fromEntries(services.map((service) => [service.how, () => oneRound(service, load, heard)]))
  const wall = await inTurn(contestants, rounds)
  for (const [at, service] of services.entries()) {
    const { kept, dropped, failures } = await service.figures()
    const expected = service.how === 'recorded' || service.how === 'sampled' ? (rounds + 1) * load.requests : 0
    if (failures > 0 || kept + dropped !== expected)
      throw new Error(`${service.how}: ${kept} + ${dropped} runs recorded, not ${expected}`)
    heard[service.how].written = sizeOf(dirs[at]!)
    heard[service.how].runs = (rounds + 1) * load.requests
    service.stop()
  }
  // The first round, which warms up, is not counted.
  for (const { cpuMs, allocated, latencies } of Object.values(heard)) {
    cpuMs.shift()
    allocated.shift()
    latencies.splice(0, load.requests)
  }
  return { wall, heard }
}

async function oneRound(service: Service, load: Load, heard: Record<How, Heard>): Promise<number> {
  const before = await service.figures()
  const begin = performance.now()
  const latencies = await service.load(load.requests, load.concurrent, load.path)
  const wallMs = performance.now() - begin
  const after = await service.figures()
  const of = heard[service.how]
  of.cpuMs.push(after.cpuMs - before.cpuMs)
  of.allocated.push(after.allocated / load.requests / callsPerRun)
  of.latencies.push(...latencies)
  return wallMs
}

function rowOf(
  name: string,
  how: How,
  wall: ReadonlyMap<string, readonly number[]>,
  heard: Readonly<Record<How, Heard>>,
): string[] {
  const { off, [how]: on } = heard
  const cpu = new Map([
    ['off', off.cpuMs],
    [how, on.cpuMs],
  ])
  const added = (q: number): string => {
    const ms = (quantile(on.latencies, q) - quantile(off.latencies, q)) / callsPerRun
    return `${ms < 0 ? '−' : ''}${Math.abs(ms).toFixed(2)} ms`
  }
  const allocated = (median(on.allocated) - median(off.allocated)) / 1_000
  return [
    name,
    how,
    figure(ratios(wall, how, 'off')),
    figure(ratios(cpu, how, 'off')),
    added(0.5),
    added(0.99),
    `${allocated.toFixed(0)} kB`,
    `${(on.written / on.runs / callsPerRun / 1_000).toFixed(1)} kB`,
  ]
}

/** Of one request, all of its model calls in it. */
function ratioOf(q: number, how: How, heard: Readonly<Record<How, Heard>>): number {
  return quantile(heard[how].latencies, q) / quantile(heard.off.latencies, q)
}

function barOf(what: string, figures: ReadonlyMap<string, readonly number[]>, atMost: number): Bar {
  const values = ratios(figures, 'recorded', 'off')
  const parts = {
    [floor]: median(ratios(figures, 'armed', 'off')),
    [writing]: median(ratios(figures, 'lines', 'off')),
  }
  return { what, value: median(values), spread: spread(values), parts, limit: { atMost }, shortfall }
}

function sizeOf(folder: string): number {
  return readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0)
}
