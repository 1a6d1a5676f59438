import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { forkTape } from '../../src/fork/index.ts'
import { openBudget, runLive } from '../../src/live/index.ts'
import { createRecorder } from '../../src/record/index.ts'
import { keepShared, refreshShared } from '../../src/recordings/index.ts'
import { inexactParts, installReplay, replayTape } from '../../src/replay/index.ts'
import { readTape } from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

let base = ''
let recordings = ''
let version = 1
const asked: string[] = []
const server = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`)
  response.setHeader('content-type', 'application/json')
  if (request.url === '/token')
    response.end(JSON.stringify({ access_token: 'tok-5e9f1c7a42d84b1e9c3f', expires_in: 3600 }))
  else if (request.url === '/js/r50k_base.json') return
  else if (request.url?.endsWith('_base.json'))
    response.end(JSON.stringify({ pat_str: '\\S', special_tokens: {}, bpe_ranks: '! 0 IQ== Ig== Iw==' }))
  else if (request.url === '/keys') response.end(JSON.stringify({ keys: [{ kid: version }], pad: 'x'.repeat(5_000) }))
  else response.end(JSON.stringify({ seen: request.headers['authorization'] !== undefined, path: request.url }))
})

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
beforeEach(() => {
  recordings = join(temporaryFolder('shared'), 'recordings')
  asked.length = 0
})
afterAll(() => {
  server.close()
})

const question = JSON.stringify({ client_secret: 'another-4f7c2b9a81', messages: [] })

/** A client as a process has one: it fetches keys and a token at its first use, and keeps them. */
function freshProcess() {
  let keys: Promise<unknown> | undefined
  let token: Promise<string> | undefined
  const json = async (path: string, init?: RequestInit) => (await fetch(base + path, init)).json() as Promise<never>
  return async (input: unknown) => {
    // Numbered before the secret of the client: placeholders of two runs differ.
    if (input === 0) await json('/model', { method: 'POST', body: question })
    keys ??= json('/keys')
    token ??= json('/token', {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: 'desk',
        client_secret: 'hunter2hunter2',
      }),
    }).then((answer: { access_token: string }) => answer.access_token)
    const known = (await keys) as { keys: readonly { kid: number }[] }
    const answer = await json(`/orders/${String(input)}`, { headers: { authorization: `Bearer ${await token}` } })
    return { answer, kid: known.keys[0]?.kid }
  }
}

async function recordedRuns(count: number): Promise<readonly string[]> {
  const recorder = createRecorder({ dir: join(recordings, 'inbox') })
  const agent = freshProcess()
  const tapes: string[] = []
  for (let i = 0; i < count; i++) {
    await recorder.run({ agent: 'desk', input: i }, () => agent(i))
    tapes.push(recorder.lastTape ?? '')
  }
  return tapes
}

test('a run whose process had fetched before replays in a fresh process, at any place in the life of its own, and lists that', async () => {
  const tapes = await recordedRuns(10)
  await installReplay()
  const before = asked.length
  for (const [at, file] of tapes.entries()) {
    const replayed = await replayTape(readTape(file), freshProcess())
    const { problems, shared = [], comparison, drift, notCompared } = replayed
    expect([at, problems, drift, comparison.outcomeEqual]).toEqual([at, [], [], true])
    expect(shared.map(({ method, url }) => `${method} ${new URL(url).pathname}`)).toEqual(
      at === 0 ? [] : ['GET /keys', 'POST /token'],
    )
    // Whether the run asks for them is compared with nothing.
    expect(notCompared.map(({ path }) => path.replace(base, ''))).toEqual(at === 0 ? [] : ['GET /keys', 'POST /token'])
    expect(inexactParts(replayed)).toHaveLength(at === 0 ? 0 : 2)
  }
  expect(asked.length).toBe(before)
})

test('the encoding that LangChain fetches once per process is there in a replay of a later run', async () => {
  const path = fileURLToPath(import.meta.resolve('@langchain/core/utils/tiktoken'))
  const load = async (process: string) => {
    const { getEncoding } = (await import(`${path}?${process}`)) as typeof import('@langchain/core/utils/tiktoken')
    return async () => (await getEncoding('p50k_base')).encode('!"#').length
  }
  // Its host is on the internet: here it is this machine.
  const { fetch: real } = globalThis
  globalThis.fetch = (url, init) => real(String(url).replace('https://tiktoken.pages.dev', base), init)
  try {
    const recorder = createRecorder({ dir: join(recordings, 'inbox') })
    const agent = await load('recorded')
    for (const input of [0, 1]) await recorder.run({ agent: 'desk', input }, agent)
    expect(asked).toEqual(['GET /js/p50k_base.json'])
    await installReplay()
    const hosts = { [base]: ['https://tiktoken.pages.dev'] }
    const replayed = await replayTape(readTape(recorder.lastTape!), await load('replayed'), { hosts })
    const { outcome, problems, shared = [] } = replayed
    expect([outcome, problems]).toEqual([{ status: 'returned', value: 3 }, []])
    expect(shared.map(({ url }) => new URL(url).pathname)).toEqual(['/js/p50k_base.json'])
    expect(asked).toHaveLength(1)
  } finally {
    globalThis.fetch = real
  }
})

test('an encoding whose host never answers holds up neither a recording nor its replay', async () => {
  const path = fileURLToPath(import.meta.resolve('@langchain/core/utils/tiktoken'))
  const load = async (process: string) => {
    const { getEncoding } = (await import(`${path}?${process}`)) as typeof import('@langchain/core/utils/tiktoken')
    return async () => {
      // LangChain counts tokens beside the answer.
      void getEncoding('r50k_base')
      return (await fetch(`${base}/model`, { method: 'POST', body: question })).json()
    }
  }
  const { fetch: real } = globalThis
  globalThis.fetch = (url, init) => real(String(url).replace('https://tiktoken.pages.dev', base), init)
  try {
    const recorder = createRecorder({ dir: join(recordings, 'inbox') })
    const answer = await recorder.run({ agent: 'desk' }, await load('recorded-hanging'))
    const tape = readTape(recorder.lastTape!)
    expect(tape.close).toMatchObject({ outcome: { status: 'returned' } })
    await installReplay()
    const hosts = { [base]: ['https://tiktoken.pages.dev'] }
    const { outcome, problems } = await replayTape(tape, await load('replayed-hanging'), { hosts })
    expect([outcome, problems]).toEqual([{ status: 'returned', value: answer }, []])
  } finally {
    globalThis.fetch = real
    server.closeAllConnections()
  }
})

test('what a promoted tape needed is kept once beside the golden set, serves any case, and a newer recording refreshes it', async () => {
  const [, second, third] = await recordedRuns(3)
  await installReplay()
  const { shared = [] } = await replayTape(readTape(second!), freshProcess())
  const written = keepShared(recordings, shared)
  expect(written.map((file) => basename(file))).toEqual([
    expect.stringMatching(/^127\.0\.0\.1-[0-9a-f]{12}\.tape\.jsonl$/),
    expect.stringMatching(/^127\.0\.0\.1-[0-9a-f]{12}\.tape\.jsonl$/),
  ])
  expect(keepShared(recordings, shared)).toEqual([])
  const golden = (from: string): string => {
    const file = join(recordings, 'golden', basename(from))
    mkdirSync(join(recordings, 'golden'), { recursive: true })
    copyFileSync(from, file)
    return file
  }
  const cases = [second!, third!].map(golden)
  for (const file of cases) {
    const { problems, notCompared } = await replayTape(readTape(file), freshProcess())
    expect([problems, notCompared]).toEqual([[], []])
  }
  rmSync(join(recordings, 'inbox'), { recursive: true })

  version = 2
  const [renewed] = await recordedRuns(1)
  expect(refreshShared(recordings, readTape(renewed!))).toEqual(written)
  const { outcome } = await replayTape(readTape(cases[1]!), freshProcess())
  expect(outcome).toMatchObject({ value: { kid: 2 } })
  version = 1
})

test('a fork and a live run are answered with what an earlier run fetched, but not where the run asked itself', async () => {
  const recorder = createRecorder({ dir: join(recordings, 'inbox') })
  const read = async (path: string) => (await fetch(base + path)).json()
  await recorder.run({ agent: 'desk', input: 0 }, async () => [await read('/kept'), await read('/list')])
  await recorder.run({ agent: 'desk', input: 1 }, async () => read('/list?page=2'))
  await installReplay()
  const tape = readTape(recorder.lastTape!)
  const before = asked.length
  for (const [path, code] of [['/kept'], ['/list', 'HARVEST_NOT_RECORDED']] as const) {
    const agent = async () => [await read(path), await read('/list?page=2')]
    const codes = code === undefined ? [] : [code]
    const fork = await forkTape(tape, agent, { keep: 0, tail: { from: 'live', budget: openBudget({}) } })
    expect([path, fork.problems.map((problem) => problem.code)]).toEqual([path, codes])
    const live = await runLive(tape, agent, { signal: new AbortController().signal, budget: openBudget({}) })
    expect([path, live.problems.map((problem) => problem.code)]).toEqual([path, codes])
  }
  expect(asked.length).toBe(before)
})

test('a step of the run that is asked otherwise, or once more, is not answered with what an earlier run fetched', async () => {
  const recorder = createRecorder({ dir: join(recordings, 'inbox') })
  await recorder.run({ agent: 'desk', input: 0 }, async () => (await fetch(`${base}/list`)).json())
  await recorder.run({ agent: 'desk', input: 1 }, async () => (await fetch(`${base}/list?page=2`)).json())
  await installReplay()
  const told = async (agent: () => Promise<unknown>) => {
    const { problems, shared } = await replayTape(readTape(recorder.lastTape!), agent)
    return [...problems.map(({ code }) => code), shared]
  }
  expect(await told(async () => (await fetch(`${base}/list`)).json())).toEqual(['HARVEST_DIVERGENCE', undefined])
  await recorder.run({ agent: 'desk', input: 2 }, async () => (await fetch(`${base}/list`)).json())
  const twice = async () => [await (await fetch(`${base}/list`)).json(), await (await fetch(`${base}/list`)).json()]
  expect(await told(twice)).toEqual(['HARVEST_TAPE_EXHAUSTED', undefined])
})

test('what an earlier run fetched for somebody else, or under a condition, is not shared', async () => {
  const recorder = createRecorder({ dir: join(recordings, 'inbox') })
  const asking = (headers: Record<string, string>) => async () => (await fetch(`${base}/users`, { headers })).json()
  const own = { authorization: 'Bearer usr-abcdefghijklmnop123456', 'x-tenant-id': 'acme' }
  await recorder.run({ agent: 'desk', input: 0 }, asking(own))
  await recorder.run({ agent: 'desk', input: 1 }, async () => Promise.resolve())
  await installReplay()
  const codes = async (headers: Record<string, string>) =>
    (await replayTape(readTape(recorder.lastTape!), asking(headers))).problems.map(({ code }) => code)
  expect(await codes({ ...own, authorization: 'Bearer usr-another-zyxwvutsr98765' })).toEqual([])
  const { authorization, 'x-tenant-id': tenant } = own
  const others: readonly Record<string, string>[] = [
    { authorization },
    { 'x-tenant-id': tenant },
    { ...own, 'x-tenant-id': 'globex' },
    { ...own, authorization: 'Basic dXNyOnBhc3N3b3JkMTIz' },
    { ...own, 'if-none-match': '"1"' },
    { ...own, 'accept-language': 'de' },
    { ...own, 'x-api-key': 'key-abcdefghijklmnop123456' },
  ]
  for (const other of others) expect([other, await codes(other)]).toEqual([other, ['HARVEST_DIVERGENCE']])
})

test('what no earlier run of its process fetched, and what is no mere read, is refused as before', async () => {
  const [, second] = await recordedRuns(2)
  await installReplay()
  const tape = readTape(second!)
  const others: readonly (() => Promise<unknown>)[] = [
    () => fetch(`${base}/orders/7`),
    // The run before asked just that.
    () => fetch(`${base}/model`, { method: 'POST', body: question }),
    () => fetch(`${base}/keys`, { method: 'DELETE' }),
    () => fetch(`${base}/token`, { method: 'POST', body: new URLSearchParams({ client_id: 'desk' }) }),
    () => fetch(`${base}/token`, { method: 'POST', body: new URLSearchParams({ grant_type: 'password' }) }),
  ]
  for (const other of others) {
    const agent = freshProcess()
    const { problems } = await replayTape(tape, async (input) => {
      await other()
      return agent(input)
    })
    expect(problems.map(({ code }) => code)).toContain('HARVEST_DIVERGENCE')
  }
  const stranger = { ...tape, header: { ...tape.header, process: 'another' } }
  const { problems } = await replayTape(stranger, () => fetch(`${base}/keys`))
  expect(problems.map(({ code }) => code)).toContain('HARVEST_DIVERGENCE')
})
