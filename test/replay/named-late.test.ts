import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, afterEach, expect, test, vi } from 'vitest'
import { createRecorder, mark, type RecorderOptions, tool } from '../../src/record/index.ts'
import { replayTape } from '../../src/replay/index.ts'
import { readTape } from '../../src/tape/index.ts'

const value = 'cs_test_a1Hq8Zr9Xv4Tn8WbQm2'
const dir = mkdtempSync(join(tmpdir(), 'harvest-named-late-'))
let base = ''
const server = http.createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  request.resume().on('end', () => {
    response.setHeader('content-type', 'application/json')
    const answer = { '/list': [{ id: value }], '/get': { session_id: value, user: 'ada' } }[request.url?.split('?')[0] ?? ''] ?? { ok: true }
    if (request.headers['x-packed'] === undefined) return response.end(JSON.stringify(answer))
    response.setHeader('content-encoding', 'gzip')
    response.end(gzipSync(JSON.stringify(answer)))
  })
})
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(dir, { recursive: true, force: true })
})

afterEach(() => vi.unstubAllEnvs())

async function recorded(agent: () => Promise<unknown>, options: RecorderOptions = {}): Promise<string> {
  const recorder = createRecorder({ dir, ...options })
  await recorder.run({ agent: 'a' }, agent)
  recorder.flush()
  return recorder.lastTape!
}

async function expectSame(file: string, agent: () => Promise<unknown>): Promise<void> {
  const { problems, drift, notCompared } = await replayTape(readTape(file), agent)
  expect([problems, drift, notCompared]).toEqual([[], [], []])
}

const create = tool('create', async () => ({ id: value }))
const retrieve = tool('retrieve', async ({ id }: { id: string }) => ({ session: id, password: 'another1secret' }))
const login = tool('login', async (_: { password: string }) => 'in')
const finish = tool('finish', async (_: { job: string; password: string }) => ({ done: true }))

async function withTools(): Promise<unknown> {
  const { id } = await create()
  await login({ password: 'first1secret' })
  const { session } = await retrieve({ id })
  if (session !== id) throw new Error('another session')
  return finish({ job: id, password: 'second2secret' })
}

async function overHttp(headers: Record<string, string> = {}): Promise<unknown> {
  const [first] = (await (await fetch(`${base}/list`, { headers })).json()) as [{ id: string }]
  const found = (await (await fetch(`${base}/get?id=${first.id}`, { headers })).json()) as { user: string }
  const body = JSON.stringify({ id: first.id, user: found.user, note: `kept for ${first.id}.` })
  return (await fetch(`${base}/close`, { method: 'POST', headers: { authorization: `Bearer ${first.id}` }, body })).json()
}

test('a value that an answer names late stands nowhere on the closed tape, and the unchanged agent replays the same', async () => {
  for (const options of [{}, { sample: 1, decide: 'end' } as RecorderOptions])
    for (const agent of [withTools, () => overHttp(), () => overHttp({ 'x-packed': '1' })]) {
      const file = await recorded(agent, options)
      expect(readFileSync(file, 'utf8')).not.toContain(value)
      await expectSame(file, agent)
    }
})

const start = tool('start', async ({ job }: { job: string }) => ({ session_id: job, ok: true }))
const close = tool('close', async (_: { job: string; note: string }) => ({ done: true }))

function withConstant(job: string) {
  return async (): Promise<unknown> => {
    await start({ job })
    mark('started', { job })
    await fetch(`${base}/close?job=${job}`, { method: 'POST', body: JSON.stringify({ job }) })
    return close({ job, note: `closed ${job}.` })
  }
}

test('a constant of the agent that an answer names late is compared by its fingerprint, and without one that is said', async () => {
  const key = 'Zm9yLXRlc3RzLW9ubHktbm90LWEtc2VjcmV0LWtleQ=='
  for (const recordedWith of [key, undefined]) {
    vi.stubEnv('HARVEST_FINGERPRINT_KEY', recordedWith)
    const file = await recorded(withConstant('import2025q4batch7'))
    expect(readFileSync(file, 'utf8')).not.toContain('import2025q4batch7')
    const tape = readTape(file)
    const told = async (job: string) => {
      const { problems, drift, notCompared } = await replayTape(tape, withConstant(job))
      return [...problems, ...drift, ...notCompared].map((one) => ('path' in one ? `${'class' in one ? one.class : one.why} at ${one.path}` : one.code))
    }
    if (recordedWith === undefined) {
      expect(await told('import2025q4batch7')).toEqual(['recorded without HARVEST_FINGERPRINT_KEY at args.job'])
      continue
    }
    expect(await told('import2025q4batch7')).toEqual([])
    expect(await told('import2026q1batch9')).toEqual(['redacted at args.job'])
    vi.stubEnv('HARVEST_FINGERPRINT_KEY', undefined)
    expect(await told('import2025q4batch7')).toEqual([
      `no HARVEST_FINGERPRINT_KEY with the id ${tape.header.printed?.key} here at args.job`,
    ])
  }
})
