import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runInChild } from '../../fixtures/child/index.ts'
import { createRecorder } from '../../src/record/index.ts'
import { confinedFlags } from '../../src/seam/intercept/confine.ts'
import type { Confinement } from '../../src/seam/intercept/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { readTape } from '../../src/tape/index.ts'
import type { WayReport, WaysJob } from './escapes/ways.child.ts'
import { type Fate, ways } from './escapes/ways.ts'

/** Another Node to try the ways on: a path. */
const node = process.env['HARVEST_WAYS_NODE']

const base = realpathSync(mkdtempSync(join(tmpdir(), 'harvest-ways-')))
const canaryProcess: ChildProcess = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
const arrived: string[] = []
const server = createServer((socket) => {
  arrived.push(`a connection from ${socket.remotePort}`)
  socket.destroy()
})
let tape = ''

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const recorder = createRecorder({ dir: join(base, 'inbox') })
  recorder.run({ agent: 'idle', id: 'idle' }, () => undefined)
  tape = recorder.lastTape ?? ''
})
afterAll(() => {
  server.close()
  canaryProcess.kill()
  rmSync(base, { recursive: true, force: true })
})

async function tryAll(confinement: Confinement): Promise<readonly WayReport[]> {
  const folder = join(base, confinement)
  mkdirSync(folder)
  mkdirSync(join(folder, 'node_modules', 'bcrypt'), { recursive: true })
  for (const parent of ['.', 'node_modules/bcrypt'])
    writeFileSync(join(folder, parent, 'add-on.node'), 'no machine code')
  const database = join(base, `${confinement}.db`)
  new DatabaseSync(database).exec('create table t(a)')
  const { port } = server.address() as AddressInfo
  const job: WaysJob = { tape, canary: { folder, database, port, pid: canaryProcess.pid! }, confinement }
  const answer: { isEnforced: boolean; reports: readonly WayReport[] } = await runInChild(
    new URL('./escapes/ways.child.ts', import.meta.url),
    job,
    { flags: confinedFlags(confinement), ...(node === undefined ? {} : { node }) },
  )
  expect(answer.isEnforced).toBe(true)
  return answer.reports
}

function fateOf({ escapes, listed, problems }: WayReport): Fate {
  if (escapes.length > 0) return 'refused'
  if (problems.length > 0) return 'served'
  return listed.length > 0 ? 'listed' : 'open'
}

describe.each<Confinement>(['seam', 'watch', 'strict'])(
  'every way out of a replay, confined by `%s`',
  (confinement) => {
    let reports: readonly WayReport[] = []
    beforeAll(async () => {
      reports = await tryAll(confinement)
    })

    const fates = (find: (report: WayReport) => Fate): Readonly<Record<string, Fate>> =>
      Object.fromEntries(reports.map((report) => [report.name, find(report)]))

    test('is refused, listed or harmless as the table says', () => {
      const expected = Object.entries(ways).map(([name, way]) => [
        name,
        confinement === 'strict' ? (way.strict ?? way.seam) : way.seam,
      ])
      expect(fates(fateOf)).toEqual(Object.fromEntries(expected))
    })

    test('touches no file but those that are listed, and under `strict` none', () => {
      const touched = reports.filter((report) => report.touched.length > 0)
      expect(touched.filter((report) => fateOf(report) !== 'listed')).toEqual([])
      if (confinement === 'strict') expect(touched).toEqual([])
      else expect(touched.length).toBeGreaterThan(5)
    })

    test('names the line of the agent', () => {
      const told = reports.flatMap(({ name, escapes, listed }) =>
        [...escapes, ...listed].map(({ site }) => [name, site]),
      )
      expect(told.filter(([, site]) => !/escapes\/ways\.ts:\d+/.test(site ?? ''))).toEqual([])
    })

    test('reaches neither the canary port nor the canary process', () => {
      expect(arrived).toEqual([])
      expect(canaryProcess.exitCode ?? canaryProcess.signalCode).toBeNull()
    })
  },
)

test('a database whose class was bound before the replay is told at its first statement', async () => {
  await installReplay()
  const file = join(base, 'early.db')
  const { listed } = await replayTape(readTape(tape), () => new DatabaseSync(file).exec('create table t(a)'))
  expect(listed).toMatchObject([{ kind: 'write', by: 'node:sqlite', target: file }])
})
