import { once } from 'node:events'
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadService, serverOfCaches, tokenByFetch } from '../../fixtures/service/with-caches.ts'
import { createRecorder } from '../../src/record/index.ts'
import { keepShared, promote } from '../../src/recordings/index.ts'
import { guardLoading, installReplay, replayTape } from '../../src/replay/index.ts'
import { readTape } from '../../src/tape/index.ts'

let base = ''
let recordings = ''
const asked = new Map<string, number>()
const server = serverOfCaches(asked)

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  recordings = join(realpathSync(mkdtempSync(join(tmpdir(), 'harvest-life-'))), 'recordings')
})
afterAll(() => {
  server.close()
  rmSync(join(recordings, '..'), { recursive: true, force: true })
})

/** The first and the last of a token, those that renew it in their middle, and those between. */
const count = 30

test('each run of a service with caches of its process replays in a fresh one and can be promoted, whatever its place', async () => {
  const recorder = createRecorder({ dir: join(recordings, 'inbox') })
  const service = await loadService(base)
  const tapes: string[] = []
  // Held, and written with the first tape: nothing that no run relies on.
  expect(readdirSync(join(recordings, '..'))).toEqual([])
  for (let i = 0; i < count; i++) {
    if (i % 7 === 3) await service.renew()
    await recorder.run({ agent: 'desk', id: `order-${i}`, input: i }, () => service.desk(i))
    tapes.push(recorder.lastTape ?? '')
  }
  const listed = readdirSync(join(recordings, 'inbox')).filter((name) => !name.startsWith('.'))
  expect(listed).toHaveLength(count)
  const before = new Map(asked)

  await installReplay()
  const replayFresh = async (file: string) => {
    const tape = readTape(file)
    const fresh = await guardLoading(() => loadService(base), [], tape)
    return replayTape(tape, (input) => fresh.desk(input))
  }
  const asks = new Set<string>()
  for (const [at, file] of tapes.entries()) {
    const run = await replayFresh(file)
    expect([at, run.problems.map(({ message }) => message), run.comparison.outcomeEqual]).toEqual([at, [], true])
    for (const { method, url } of run.shared ?? []) asks.add(`${method} ${new URL(url).pathname}`)
    promote({ recordings, tape: file, as: `order-${at}`, rescan: false })
    keepShared(recordings, run.shared ?? [])
  }
  expect([...asks].sort()).toEqual(['GET /keys', 'GET /ranks', 'POST /token'])

  rmSync(join(recordings, 'inbox'), { recursive: true })
  expect(readdirSync(join(recordings, 'shared'))).toHaveLength(3)
  for (let at = 0; at < count; at++) {
    const run = await replayFresh(join(recordings, `golden/order-${at}.tape.jsonl`))
    expect([at, run.problems.map(({ message }) => message), run.comparison.outcomeEqual]).toEqual([at, [], true])
  }
  expect(asked).toEqual(before)
})

test('a token that is still on its way when the run begins is the one the process has, and is kept with the case', async () => {
  const recordings = join(realpathSync(mkdtempSync(join(tmpdir(), 'harvest-life-'))), 'recordings')
  const recorder = createRecorder({ dir: join(recordings, 'inbox') })
  const service = await loadService(base, 2, tokenByFetch)
  for (const id of ['first', 'renews']) await recorder.run({ agent: 'desk', id, input: 1 }, () => service.desk(1))
  const before = new Map(asked)

  await installReplay()
  const replayFresh = async (file: string) => {
    const tape = readTape(file)
    const fresh = await guardLoading(() => loadService(base, 2, tokenByFetch), [], tape)
    return replayTape(tape, (input) => fresh.desk(input))
  }
  const file = recorder.lastTape ?? ''
  const run = await replayFresh(file)
  expect(run.problems.map(({ message }) => message)).toEqual([])
  expect((run.shared ?? []).map(({ url }) => new URL(url).pathname).sort()).toEqual(['/keys', '/ranks', '/token'])
  promote({ recordings, tape: file, as: 'renews', rescan: false })
  keepShared(recordings, run.shared ?? [])
  rmSync(join(recordings, 'inbox'), { recursive: true })
  const again = await replayFresh(join(recordings, 'golden/renews.tape.jsonl'))
  expect([again.problems.map(({ message }) => message), again.comparison.outcomeEqual]).toEqual([[], true])
  expect(asked).toEqual(before)
  rmSync(join(recordings, '..'), { recursive: true, force: true })
})

test('what was fetched outside of runs answers nothing else: other questions, other addresses and changes stay refused', async () => {
  const tape = readTape(join(recordings, 'golden/order-3.tape.jsonl'))
  const others: readonly (() => Promise<unknown>)[] = [
    () => fetch(`${base}/orders/7`),
    () => fetch(`${base}/keys`, { method: 'DELETE' }),
    () => fetch(`${base}/token`, { method: 'POST', body: new URLSearchParams({ grant_type: 'password' }) }),
    () => new Promise((resolve, reject) => http.get(`${base}/orders/7`, resolve).on('error', reject)),
  ]
  for (const other of others)
    await expect(guardLoading(other, [], tape)).rejects.toMatchObject({ code: 'HARVEST_ESCAPE' })
})
